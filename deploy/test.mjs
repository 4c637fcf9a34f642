// `npm test`: lint, format and types beside the tests. With arguments after `npm test --` these go to one run of vitest.
// What failed is told again at the very end, for readers of a tail. Exits with 1 when any of it fails.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const bin = (name) => path.join(root, 'node_modules/.bin', name);
/** Gives a third of the weight, and not less: its tests have limits of time, too. */
const fillsGaps = 5;
/** A folder that is memory, and how much of it must be free. */
const memory = { folder: '/dev/shm', bytesMin: 4 * 1024 ** 3 };

/** Of a run that failed: vitest tells its failures last. */
const linesToldAgain = 200;

const asked = process.argv.slice(2);
const folder = folderInMemory();
const env = folder === undefined ? process.env : { ...process.env, TMPDIR: folder };
process.once('exit', () => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    for (const { child } of [lint, ...tests]) child.kill('SIGTERM');
    process.exitCode = 1;
  });

// Go collects its garbage four times as seldom, which costs a quarter less time and little more memory.
const lint = start('npm', ['run', 'lint', '--silent'], { env: { ...env, GOGC: '400' } });
// What waits for processes and timers goes first, and what computes fills its gaps: no test of time limits loses a processor.
const tests =
  asked.length > 0
    ? [vitest(asked, true)]
    : [
        vitest(['--project', 'processes'], true),
        vitest(['--project', 'trees', '--project', 'units']),
      ];
setPriority(lint.child.pid, constants.priority.PRIORITY_LOW);
if (tests[1] !== undefined) setPriority(tests[1].child.pid, getPriority() + fillsGaps);

const failures = [];
for (const each of tests) {
  if (!(await each.ended)) failures.push(each.output());
  if (!each.isLive) process.stdout.write(each.output());
}
const isClean = await lint.ended;
process.stdout.write(`${lint.output()}\nlint: ${isClean ? 'clean' : 'FAILED, see above'}\n`);
if (failures.length > 0) process.stdout.write(`\n${toldAgain(failures)}\n`);
process.exitCode = failures.length === 0 && isClean ? 0 : 1;

function vitest(args, isLive = false) {
  const colours = process.stdout.isTTY ? ['--color'] : [];
  return start(process.execPath, [bin('vitest'), 'run', ...colours, ...args], { env, isLive });
}

/** Keeps the output of a command. It is written at once, too, where `isLive`. */
function start(command, args, { env, isLive = false }) {
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const parts = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part) => {
      parts.push(part);
      if (isLive) process.stdout.write(part);
    });
  const ended = new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
  return { child, ended, isLive, output: () => Buffer.concat(parts).toString() };
}

/** The last lines of runs that failed, then the names of all that failed in them. */
function toldAgain(outputs) {
  const runs = outputs.map((output) => stripVTControlCharacters(output).trimEnd().split('\n'));
  const names = runs.flat().filter((line) => line.startsWith(' FAIL '));
  return [...runs.flatMap((lines) => lines.slice(-linesToldAgain)), '', ...new Set(names)].join(
    '\n',
  );
}

/** For the files of the tests, which are many, small and soon removed. Undefined where memory is no folder that programs can run in. */
function folderInMemory() {
  let folder;
  try {
    const { bavail, bsize } = statfsSync(memory.folder);
    if (bavail * bsize < memory.bytesMin) return undefined;
    folder = mkdtempSync(path.join(memory.folder, 'sigma-'));
    const program = path.join(folder, 'try');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
    if (spawnSync(program).status === 0) return folder;
  } catch {
    // No such folder here.
  }
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  return undefined;
}
