import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../../../src/config/config.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { argumentsOf, program } from '../../program.js';
import { printableText } from '../../../src/render/terminal.js';

const pollMs = 100;

/**
 * Starts `sigma up` in the background and waits for its `ready` line, for as long as it lives: the first
 * index of a large tree takes minutes. What it prints goes to a log. `started`: further options.
 */
export async function detach(
  repo: string,
  config: Config,
  started: readonly string[],
): Promise<void> {
  const folder = path.join(config.home, 'logs');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, 'up.log');
  const log = openSync(file, 'w', 0o600);
  const child = spawn(process.execPath, [program, 'up', repo, ...argumentsOf(config), ...started], {
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const pid = child.pid ?? 0;
  process.stderr.write(`sigma: starting as process ${pid}, log ${file}\n`);
  let code: number | null | undefined;
  child.once('exit', (its) => (code = its));
  while (!/^ready /m.test(readFileSync(file, 'utf8'))) {
    if (code !== undefined) {
      process.stderr.write(printableText(readFileSync(file, 'utf8')));
      throw new BusError('CHILD_FAILED', { name: 'up', code: code ?? 'signal' });
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  child.unref();
  process.stdout.write(
    `${printableText(readFileSync(file, 'utf8').trimEnd())}\nstop it with: kill ${pid}\n`,
  );
}
