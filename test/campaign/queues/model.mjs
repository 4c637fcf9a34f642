import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { temporaryFolder } from '../../bench/kernel/process.mjs';

const program = path.resolve(import.meta.dirname, '../../support/model-server/main.mjs');

/** A process whose answers stand in the prompts; `config` is what a home says of it. Ends with this process. */
export async function modelServer() {
  const script = path.join(temporaryFolder('sigma-model-script'), 'script.json');
  writeFileSync(script, JSON.stringify([{ answer: { follows: true } }]));
  const args = [program, '--until-stdin-ends', '--script', script];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await once(createInterface(child.stdout), 'line');
  const { url } = JSON.parse(line);
  return { config: { url, model: 'scripted' }, end: () => child.kill() };
}
