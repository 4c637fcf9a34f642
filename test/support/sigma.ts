import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const program = fileURLToPath(new URL('../../services/cli/sigma.mjs', import.meta.url));
const runMsMax = 60_000;

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
  /** The one document that `--json` prints. */
  json: any;
}

/** Runs the command line as a user would, to its end. */
export function sigma(
  home: string,
  args: string[],
  options: { input?: string | Buffer; cwd?: string } = {},
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      [program, ...args],
      { env: environment(home), cwd: options.cwd, timeout: runMsMax, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error !== null && typeof error.code !== 'number') {
          return reject(new Error(`sigma ${args.join(' ')} did not end`, { cause: error }));
        }
        const code = typeof error?.code === 'number' ? error.code : 0;
        resolve({ code, stdout, stderr, json: parsed(stdout) });
      },
    );
    child.stdin?.end(options.input ?? '');
  });
}

export interface Running {
  process: ChildProcess;
  output(): string;
  /** Resolves with the exit code, or the signal's name. */
  ended: Promise<number | string>;
}

/** Starts a command that stays, such as `up` or `bus`. */
export function startSigma(home: string, args: string[]): Running {
  const child = spawn(process.execPath, [program, ...args], {
    env: environment(home),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<number | string>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? signal ?? '')),
  );
  return { process: child, output: () => text, ended };
}

export function environment(home: string): NodeJS.ProcessEnv {
  const {
    SIGMA_BUS: _bus,
    SIGMA_LOG: _log,
    SIGMA_IDENTITY: _identity,
    NOTIFY_SOCKET: _notify,
    ...inherited
  } = process.env;
  // A table takes ten seconds in each new home; what is about vectors says so.
  return { SIGMA_EMBEDDING: 'off', ...inherited, SIGMA_HOME: home };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** In the order in which they lean on each other: what asks them, the processes from the last to the first, what is left. */
export async function ended(
  [asking, ...left]: [AsyncDisposable, ...AsyncDisposable[]],
  running: readonly Running[],
): Promise<void> {
  await asking[Symbol.asyncDispose]();
  for (const each of [...running].reverse()) {
    each.process.kill('SIGTERM');
    await each.ended;
  }
  for (const each of left) await each[Symbol.asyncDispose]();
}
