import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, readdirSync, readFileSync } from 'node:fs';
import { Socket } from 'node:net';

/**
 * Stands between an executor and one program: it starts the program in its own process group, and kills the group when the
 * pipe to the executor closes, however that ended. It says that it stands; then a line of JSON comes in (argv, cwd, env),
 * one goes out (code and signal, the error of starting it, or a script that changed). It reads and writes nothing of the program's own streams.
 */
interface Order {
  argv: string[];
  cwd: string;
  env: Record<string, string>;
  /** SHA-256 of the text of scripts, by their absolute path: as they were when the action was judged. */
  unchanged: Record<string, string>;
}

const controlFd = 3;
const control = new Socket({ fd: controlFd, readable: true, writable: true });

/** As `/proc/self/fdinfo` writes it. */
const closesOnExec = 0o2000000;

/**
 * Libraries of the executor leave files open across the start of a program, those of its store among them. What this
 * process opened itself is marked to be closed; what is not was inherited.
 */
function closeInherited(): void {
  for (const fd of openFiles()) {
    if (fd <= controlFd) continue;
    try {
      const [, flags = ''] =
        /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? [];
      if ((Number.parseInt(flags, 8) & closesOnExec) === 0) closeSync(fd);
    } catch {
      // It was the one of the listing.
    }
  }
}

function openFiles(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch {
    // Another system: there are no walls either.
    return [];
  }
}

function killAll(): void {
  // The group, this process included; within walls, process 1 takes all the others with it.
  process.kill(0, 'SIGKILL');
}

const report = (what: object): void => void control.write(`${JSON.stringify(what)}\n`);

/** The last look before the program looks itself; undefined: they are what was judged. */
function changedOf(unchanged: Order['unchanged']): string | undefined {
  return Object.keys(unchanged).find((file) => {
    try {
      const text = new TextDecoder().decode(readFileSync(file));
      return createHash('sha256').update(text).digest('hex') !== unchanged[file];
    } catch {
      return true;
    }
  });
}

function start({ argv: [program = '', ...args], cwd, env, unchanged }: Order): void {
  const changed = changedOf(unchanged);
  if (changed !== undefined) return report({ changed });
  const failed = ({ code = 'UNKNOWN' }: NodeJS.ErrnoException): void => report({ error: code });
  try {
    const child = spawn(program, args, { cwd, env, stdio: 'inherit' });
    child.once('error', failed);
    child.once('exit', (code, signal) => report({ code, signal }));
  } catch (error) {
    // Too many arguments, and what is no argument at all, are thrown.
    failed(error as NodeJS.ErrnoException);
  }
}

// A polite end is for the program; the guard stays until the executor has heard of it.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
control.on('error', killAll);
control.on('close', killAll);
control.on('end', killAll);

closeInherited();
report({ ready: true });
let order = '';
let isStarted = false;
control.setEncoding('utf8');
control.on('data', (chunk: string) => {
  if (isStarted) return;
  order += chunk;
  if (!order.includes('\n')) return;
  isStarted = true;
  start(JSON.parse(order) as Order);
});
