// `npm test`: lint, format and types beside the tests, which wait part of their time. Arguments after `npm test --` go
// to vitest. Exits with 1 when either fails.
import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const bin = (name) => path.join(root, 'node_modules/.bin', name);

const lint = start('npm', ['run', 'lint', '--silent'], 'pipe');
// Low priority: a test that gets no processor time fails at its time limit.
setPriority(lint.child.pid, constants.priority.PRIORITY_LOW);
const tests = start(process.execPath, [bin('vitest'), 'run', ...process.argv.slice(2)], 'inherit');

const isTested = await tests.ended;
const isClean = await lint.ended;
process.stdout.write(`${lint.output()}\nlint: ${isClean ? 'clean' : 'FAILED, see above'}\n`);
process.exitCode = isTested && isClean ? 0 : 1;

/** Keeps the output of a piped command until it has ended. */
function start(command, args, output) {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', output, output] });
  const parts = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part) => parts.push(part));
  const ended = new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
  return { child, ended, output: () => Buffer.concat(parts).toString() };
}
