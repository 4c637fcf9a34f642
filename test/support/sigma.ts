import { execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startCommand } from './in-process.js';

export const program = fileURLToPath(new URL('../../services/cli/sigma.mjs', import.meta.url));
const runMsMax = 60_000;

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
  /** The document that `--json` prints. */
  json: any;
}

export interface RunOptions {
  input?: string | Buffer;
  cwd?: string;
}

/** Runs a command inside this process, to its end. */
export async function sigma(home: string, args: string[], options: RunOptions = {}): Promise<Ran> {
  const printed = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const command = startCommand(
    args,
    { env: environment(home), folder: options.cwd },
    (stream, text) => printed[stream].push(text),
  );
  if (options.input !== undefined) command.write(options.input);
  command.write(undefined);
  const code = await command.ended;
  const stdout = Buffer.concat(printed.stdout).toString();
  return { code, stdout, stderr: Buffer.concat(printed.stderr).toString(), json: parsed(stdout) };
}

/** Runs a command in a child process. */
export function sigmaProcess(home: string, args: string[], options: RunOptions = {}): Promise<Ran> {
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
  process: {
    pid?: number | undefined;
    exitCode: number | null;
    kill(signal: NodeJS.Signals): void;
  };
  output(): string;
  /** Resolves with the exit code, or the signal's name. */
  ended: Promise<number | string>;
}

/** Starts a command that keeps running, such as `bus` or `agent manager`, inside this process. */
export function startSigma(
  home: string,
  args: string[],
  env: Record<string, string> = {},
): Running {
  let text = '';
  const command = startCommand(args, { env: { ...environment(home), ...env } }, (_, more) => {
    text += more.toString();
  });
  const its: Running['process'] = {
    exitCode: null,
    kill: (signal) => {
      if (its.exitCode !== null) return;
      if (signal === 'SIGKILL') throw new Error('only a process of its own can be killed');
      command.signal(signal);
    },
  };
  const ended = command.ended.then((code) => (its.exitCode = code));
  return { process: its, output: () => text, ended };
}

/** Starts a command in a child process, which can be killed. */
export function startProcess(
  home: string,
  args: string[],
  env: Record<string, string> = {},
): Running {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...environment(home), ...env },
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
  return { ...inherited, SIGMA_HOME: home };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
