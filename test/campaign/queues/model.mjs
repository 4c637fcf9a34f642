import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { temporaryFolder } from '../../bench/kernel/process.mjs';

const program = path.resolve(import.meta.dirname, '../../support/model-server/main.mjs');

/**
 * A process whose answers stand in the prompts, unless one of `rules` fits; `config` is what a home says of it, `requests` what it
 * was asked. Ends with this process.
 */
export async function modelServer(rules = []) {
  const script = path.join(temporaryFolder('sigma-model-script'), 'script.json');
  writeFileSync(script, JSON.stringify([...rules, { answer: { follows: true } }]));
  const args = [program, '--until-stdin-ends', '--script', script];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await once(createInterface(child.stdout), 'line');
  const { url } = JSON.parse(line);
  return {
    config: { url, model: 'scripted' },
    requests: async () => (await fetch(new URL('/requests', url))).json(),
    end: () => child.kill(),
  };
}
