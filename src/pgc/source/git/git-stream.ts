import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import { gitEnvironment, safeGit } from './run-git.js';

/** `stopped`: the consumer ended it. `failed`: git is missing, broken, or exited with an error. */
export type GitEnd = 'ended' | 'failed' | 'stopped' | 'bytes' | 'time' | 'aborted';

interface GitLimits {
  bytesMax: number;
  msMax: number;
  signal?: AbortSignal | undefined;
}

/**
 * Used after `safeGit`. `--as-of` must not see anything newer, so replace objects and the mailmap are ignored; the
 * other settings keep the output format independent of the repository's configuration.
 */
const timelessGit = [
  '--no-replace-objects',
  ...['log.showRoot=true', 'log.mailmap=false', 'log.follow=false', 'diff.relative=false'].flatMap(
    (setting) => ['-c', setting],
  ),
];

/**
 * Runs git in a folder and passes on its output in chunks, at most `bytesMax` in all. `take` returns false to stop.
 * Resolves with the reason of the end after the process has exited; all chunks passed on are valid.
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

/** The whole output; valid only when `end` is `ended`. */
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

/** Arguments for every git process: no pager, no program named by the repository, no replaced history. */
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
    // A zero byte in an argument, or more arguments than the system allows.
    return undefined;
  }
}

/** Null for a process that was killed or did not start. */
function exitOf(child: ChildProcessByStdio<null, Readable, null>): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('exit', resolve);
    child.once('error', () => resolve(null));
  });
}
