import { spawn } from 'node:child_process';
import { Socket } from 'node:net';

/**
 * Stands between an executor and one program: it starts the program in its own process group, and kills the group when the
 * pipe to the executor closes, however that ended. It says that it stands; then a line of JSON comes in (argv, cwd, env),
 * one goes out (code and signal, or the error of starting it). It reads and writes nothing of the program's own streams.
 */
interface Order {
  argv: string[];
  cwd: string;
  env: Record<string, string>;
}

const controlFd = 3;
const control = new Socket({ fd: controlFd, readable: true, writable: true });

function killAll(): void {
  // The group, this process included; within walls, process 1 takes all the others with it.
  process.kill(0, 'SIGKILL');
}

const report = (what: object): void => void control.write(`${JSON.stringify(what)}\n`);

function start({ argv: [program = '', ...args], cwd, env }: Order): void {
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
