import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import fs from 'node:fs';
import { main } from '../../services/cli/main.js';

/** The environment, streams and signals of one command. It sees them as its `process`. */
interface Surroundings {
  env: NodeJS.ProcessEnv;
  folder: string;
  stdin: PassThrough;
  stdout: Writable;
  stderr: Writable;
  /** Signals, and the other events of a process. */
  events: EventEmitter;
  exitCode: number | undefined;
  end: (code: number) => void;
}

export interface Command {
  /** Writes to standard input; undefined ends it. */
  write(text: string | Buffer | undefined): void;
  signal(name: NodeJS.Signals): void;
  /** Resolves with the exit code. */
  ended: Promise<number>;
}

const current = new AsyncLocalStorage<Surroundings>();
const real = process;

/** Starts a command inside this process. Passes its output to `onOutput`. */
export function startCommand(
  args: string[],
  { env, folder }: { env: NodeJS.ProcessEnv; folder?: string | undefined },
  onOutput: (stream: 'stdout' | 'stderr', text: Buffer) => void,
): Command {
  install();
  const writable = (stream: 'stdout' | 'stderr'): Writable =>
    new Writable({
      decodeStrings: true,
      write: (chunk: Buffer, _encoding, done) => {
        onOutput(stream, chunk);
        done();
      },
    });
  const events = new EventEmitter().setMaxListeners(0);
  const stdin = new PassThrough();
  const its: Surroundings = {
    ...{ env: { ...env }, folder: folder ?? real.cwd(), stdin, events, exitCode: undefined },
    ...{ stdout: writable('stdout'), stderr: writable('stderr'), end: () => undefined },
  };
  const ended = new Promise<number>((resolve, reject) => {
    its.end = resolve;
    current.run(its, () => {
      main(['node', 'sigma', ...args]).then(() => resolve(its.exitCode ?? 0), reject);
    });
  });
  return {
    // A listener runs in the context of its caller, which must be that of the command.
    write: (text) => current.run(its, () => (text === undefined ? stdin.end() : stdin.write(text))),
    signal: (name) => current.run(its, () => events.emit(name)),
    ended,
  };
}

/** Thrown by `process.exit`, which does not return. */
class Exit extends Error {}

let isInstalled = false;

/** Makes `process` that of the command inside a command, and the real one elsewhere. */
function install(): void {
  if (isInstalled) return;
  isInstalled = true;
  const { env } = real;
  const cwd = real.cwd.bind(real);
  // Node itself reads these two: for relative paths, and for the environment of children.
  Object.defineProperty(real, 'env', {
    configurable: true,
    get: () => current.getStore()?.env ?? env,
  });
  real.cwd = () => current.getStore()?.folder ?? cwd();
  const writeSync = fs.writeSync;
  // The log writes to the descriptor of stderr.
  fs.writeSync = ((fd: number, text: string | Buffer, ...rest: unknown[]) => {
    const its = current.getStore();
    if (its === undefined || fd !== 2)
      return (writeSync as (...all: unknown[]) => number)(fd, text, ...rest);
    its.stderr.write(text);
    return Buffer.byteLength(text);
  }) as typeof fs.writeSync;
  globalThis.process = new Proxy(real, {
    get: (_, name) => {
      const its = current.getStore();
      const own = its === undefined ? undefined : ownOf(its);
      return own !== undefined && name in own ? own[name as string] : Reflect.get(real, name);
    },
    set: (_, name, value) => {
      const its = current.getStore();
      if (its === undefined || name !== 'exitCode') return Reflect.set(real, name, value);
      its.exitCode = value as number;
      return true;
    },
  });
}

function ownOf(its: Surroundings): Record<string, unknown> {
  const { stdin, stdout, stderr, exitCode, events } = its;
  return {
    ...{ stdin, stdout, stderr, exitCode },
    ...{ channel: undefined, connected: false, send: undefined },
    ...{ on: events.on.bind(events), once: events.once.bind(events), off: events.off.bind(events) },
    removeAllListeners: events.removeAllListeners.bind(events),
    exit: (code = its.exitCode ?? 0) => {
      its.end(code);
      throw new Exit(`exit with ${code}`);
    },
  };
}
