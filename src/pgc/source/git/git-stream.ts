import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import { gitEnvironment, safeGit } from './run-git.js';

/** `stopped`: whoever took the output wanted no more. `failed`: git is missing, broken, or says no. */
export type GitEnd = 'ended' | 'failed' | 'stopped' | 'bytes' | 'time' | 'aborted';

export interface GitLimits {
  bytesMax: number;
  msMax: number;
  signal?: AbortSignal | undefined;
}

/**
 * Goes behind `safeGit`: what a later revision or the work tree says of older commits is not asked, for
 * `--as-of` must see nothing newer; and settings of a repository do not change what is printed.
 */
const timelessGit = [
  '--no-replace-objects',
  ...['log.showRoot=true', 'log.mailmap=false', 'log.follow=false', 'diff.relative=false'].flatMap(
    (setting) => ['-c', setting],
  ),
];

/**
 * Runs git in a folder and hands its output on as it comes, never more than `bytesMax`; `take` gives
 * false to end it. Resolves with how it ended, when the process is gone; what was handed on is good.
 */
export async function streamGit(
  folder: string,
  args: readonly string[],
  limits: GitLimits,
  take: (chunk: Buffer) => boolean,
): Promise<GitEnd> {
  if (limits.signal?.aborted === true) return 'aborted';
  if (limits.msMax <= 0) return 'time';
  const child = startGit(folder, args);
  if (child === undefined) return 'failed';
  let end: GitEnd | undefined;
  const stop = (why: GitEnd): void => {
    end ??= why;
    child.kill('SIGKILL');
  };
  const timer = setTimeout(stop, limits.msMax, 'time');
  const abort = (): void => stop('aborted');
  limits.signal?.addEventListener('abort', abort, { once: true });
  const exit = exitOf(child);
  try {
    let bytes = 0;
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > limits.bytesMax) stop('bytes');
      else if (!take(chunk)) stop('stopped');
      if (end !== undefined) break;
    }
    const code = await exit;
    return end ?? (code === 0 ? 'ended' : 'failed');
  } finally {
    clearTimeout(timer);
    limits.signal?.removeEventListener('abort', abort);
    child.kill('SIGKILL');
  }
}

/** The whole output; of use only when `end` is `ended`. */
export async function collectGit(
  folder: string,
  args: readonly string[],
  limits: GitLimits,
): Promise<{ end: GitEnd; output: Buffer }> {
  const chunks: Buffer[] = [];
  const end = await streamGit(folder, args, limits, (chunk) => {
    chunks.push(chunk);
    return true;
  });
  return { end, output: Buffer.concat(chunks) };
}

/** As every git here is called: no shell, no program that the repository names, nothing fetched. */
export function gitArguments(args: readonly string[]): string[] {
  return [...safeGit, ...timelessGit, ...args];
}

function startGit(
  folder: string,
  args: readonly string[],
): ChildProcessByStdio<null, Readable, null> | undefined {
  try {
    return spawn('git', gitArguments(args), {
      cwd: folder,
      env: gitEnvironment(),
      stdio: ['ignore', 'pipe', 'ignore'],
      windowsHide: true,
    });
  } catch {
    // A zero byte in an argument, or more arguments than the system takes.
    return undefined;
  }
}

/** Null for a process that was killed or never was. */
function exitOf(child: ChildProcessByStdio<null, Readable, null>): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('exit', resolve);
    child.once('error', () => resolve(null));
  });
}
