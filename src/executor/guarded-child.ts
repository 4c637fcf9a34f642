import { spawn } from 'node:child_process';
import type { Duplex, Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { parseJson } from '../delegation/task/json.js';
import { present, toolPath, walled, type Walls } from './sandbox.js';

/** Between asking a program to end and ending its group. */
const politeMs = 2_000;
/** Who left the group may hold a stream open for ever. */
const drainMs = 1_000;

export interface ChildOrder {
  argv: readonly string[];
  /** Absolute. */
  cwd: string;
  env: Record<string, string>;
  stdin: string;
  /** Bytes that are kept of each stream; what comes beyond is read and dropped. */
  stdoutMax: number;
  stderrMax: number;
  /** Called after each piece of output with the bytes so far. */
  onOutput?: (bytes: number) => void;
  /** A word that is looked for in what is dropped of stdout. */
  watch?: string;
  /** What it must not see. */
  walls?: Walls | undefined;
  /** SHA-256 of files by absolute path: where one is another by now, nothing is started. */
  unchanged?: Readonly<Record<string, string>> | undefined;
}

export interface ChildEnd {
  /** Why it could not be started; empty when it was. */
  error: string;
  code: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
  /** Bytes that were dropped. */
  stdoutCut: number;
  stderrCut: number;
  isStopped: boolean;
  /** The watched word stands in what was dropped. */
  isWatched: boolean;
  /** The walls could not be put up: nothing was started. Why, is on `stderr`. */
  isUnwalled: boolean;
  /** A file that had to be unchanged and was not: nothing was started. Empty: none. */
  changed: string;
}

const guard = fileURLToPath(new URL('./guard.js', import.meta.url));

/**
 * Runs a program in a process group of its own, behind a guard that kills the group when this process is gone. When the
 * signal is given the group is asked to end, and ended. Resolves when nothing of the group is left. Never throws.
 */
export async function runGuarded(order: ChildOrder, signal: AbortSignal): Promise<ChildEnd> {
  const { argv, cwd, env, stdin, stdoutMax, stderrMax, onOutput, watch, walls } = order;
  const { unchanged = {} } = order;
  const own = [process.execPath, guard];
  const [program = '', ...args] = walls === undefined ? own : walled(own, present(walls));
  const child = spawn(program, args, {
    detached: true,
    // A working folder leads to what lies below a wall.
    cwd: '/',
    env: { PATH: toolPath },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  });
  const started = child.pid;
  const failed = new Promise<string>((resolve) =>
    child.once('error', (error) => resolve(error.message)),
  );
  const [, , , control] = child.stdio as unknown as [unknown, unknown, unknown, Duplex];
  if (started === undefined) {
    const error = await failed;
    return { ...nothing, error, stderr: error, isUnwalled: walls !== undefined };
  }
  const out = new Kept(child.stdout, stdoutMax, watch);
  const err = new Kept(child.stderr, stderrMax);
  for (const each of [child.stdout, child.stderr])
    each.on('data', () => onOutput?.(out.bytes + err.bytes));
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const told = textOf(control);
  // A program that ends without reading is no failure of ours.
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin);
  control.write(`${JSON.stringify({ argv, cwd, env, unchanged })}\n`);
  using stopping = stopOn(signal, started);
  const end = await told;
  kill(started, 'SIGKILL');
  control.destroy();
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, drainMs).unref())]);
  child.stdout.destroy();
  child.stderr.destroy();
  return {
    ...{ error: end.error ?? '', code: end.code ?? null, signal: end.signal ?? null },
    ...{ stdout: out.text, stderr: err.text, stdoutCut: out.cut, stderrCut: err.cut },
    isStopped: stopping.isStopped,
    isWatched: out.isWatched,
    isUnwalled: walls !== undefined && !end.ready && !stopping.isStopped,
    changed: end.changed ?? '',
  };
}

interface Told {
  /** The guard stands. */
  ready: boolean;
  error?: string;
  code?: number | null;
  signal?: string | null;
  changed?: string;
}

const nothing: ChildEnd = {
  ...{ error: '', code: null, signal: null, stdout: '', stderr: '' },
  ...{
    stdoutCut: 0,
    stderrCut: 0,
    isStopped: false,
    isWatched: false,
    isUnwalled: false,
    changed: '',
  },
};

/** Of a guard that is none any more. */
const textBytesMax = 4_096;

/**
 * What the guard reports of the end of the program; nothing when the guard was killed, which ends the program, too. The
 * program has the rights of its guard, so that a report can only end it.
 */
function textOf(control: Duplex): Promise<Told> {
  return new Promise((resolve) => {
    let text = '';
    let ready = false;
    control.setEncoding('utf8');
    control.on('data', (chunk: string) => {
      text += chunk;
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
        const said = parseJson(text.slice(0, end)) as Partial<Told>;
        text = text.slice(end + 1);
        if (said.ready !== true) return resolve(checked(said));
        ready = true;
      }
      if (text.length > textBytesMax) resolve({ ready });
    });
    control.on('error', () => undefined);
    control.on('close', () => resolve({ ready }));
  });
}

function checked({ error, code, signal, changed }: Partial<Told>): Told {
  return {
    ready: true,
    ...(typeof error === 'string' ? { error: error.slice(0, textBytesMax) } : {}),
    ...(typeof code === 'number' ? { code } : {}),
    ...(typeof signal === 'string' ? { signal } : {}),
    ...(typeof changed === 'string' ? { changed } : {}),
  };
}

function stopOn(signal: AbortSignal, group: number): { isStopped: boolean } & Disposable {
  let last: NodeJS.Timeout | undefined;
  const stopping = {
    isStopped: false,
    [Symbol.dispose]: (): void => {
      signal.removeEventListener('abort', stop);
      clearTimeout(last);
    },
  };
  const stop = (): void => {
    stopping.isStopped = true;
    kill(group, 'SIGTERM');
    last = setTimeout(() => kill(group, 'SIGKILL'), politeMs);
  };
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  return stopping;
}

function kill(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // It is empty.
  }
}

/** The beginning of a stream. */
class Kept {
  bytes = 0;
  isWatched = false;
  readonly #chunks: Buffer[] = [];
  #kept = 0;
  /** The end of what came last: a word may be in two pieces. */
  #last = '';

  constructor(
    stream: Readable,
    readonly max: number,
    readonly watch = '',
  ) {
    stream.on('data', (chunk: Buffer) => {
      this.bytes += chunk.length;
      const part = chunk.subarray(0, this.max - this.#kept);
      this.#look(chunk, part.length < chunk.length);
      if (part.length === 0) return;
      this.#kept += part.length;
      this.#chunks.push(part);
    });
    stream.on('error', () => undefined);
  }

  #look(chunk: Buffer, isCut: boolean): void {
    if (this.watch === '' || this.isWatched) return;
    const text = this.#last + chunk.toString('latin1');
    this.isWatched = isCut && text.includes(this.watch);
    this.#last = text.slice(1 - this.watch.length);
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }

  get cut(): number {
    return this.bytes - this.#kept;
  }
}
