import type { RunGit } from '../attention/inspector.js';
import { runGuarded, type ChildEnd } from './guarded-child.js';
import type { Walls } from './sandbox.js';

const gitMs = 10_000;
const outputBytesMax = 1_024;

interface How {
  env?: Record<string, string>;
  ms: number;
  bytesMax: number;
}

/**
 * Git as programs are started: what a tree configures (filters, for one) is run by git, and is no more to be trusted than a
 * program of a task.
 */
function runGit(
  args: readonly string[],
  cwd: string,
  walls: Walls | undefined,
  { env, ms, bytesMax }: How,
): Promise<ChildEnd> {
  const { PATH = '', HOME = '/' } = process.env;
  return runGuarded(
    {
      ...{ argv: ['git', ...args], cwd, env: { PATH, HOME, ...env }, stdin: '', walls },
      ...{ stdoutMax: bytesMax, stderrMax: outputBytesMax },
    },
    AbortSignal.timeout(ms),
  );
}

/** Whether it goes well; what it says is of no interest. */
export function gitBehind(walls: Walls | undefined): RunGit {
  return async (args, cwd) => {
    const end = await runGit(args, cwd, walls, { ms: gitMs, bytesMax: outputBytesMax });
    return end.code === 0;
  };
}

/** What it says; undefined: it failed, took too long, or said more than is kept. */
export async function gitText(
  args: readonly string[],
  cwd: string,
  walls: Walls | undefined,
  how: How,
): Promise<string | undefined> {
  const end = await runGit(args, cwd, walls, how);
  return end.code === 0 && end.stdoutCut === 0 ? end.stdout : undefined;
}
