import type { RunGit } from '../attention/inspector.js';
import { runGuarded } from './guarded-child.js';
import type { Walls } from './sandbox.js';

const gitMs = 10_000;
const outputBytesMax = 1_024;

/**
 * Git as programs are started: what a tree configures (filters, for one) is run by git, and is no more to be trusted than a
 * program of a task.
 */
export function gitBehind(walls: Walls | undefined): RunGit {
  return async (args, cwd) => {
    const { PATH = '', HOME = '/' } = process.env;
    const end = await runGuarded(
      {
        ...{ argv: ['git', ...args], cwd, env: { PATH, HOME }, stdin: '', walls },
        ...{ stdoutMax: outputBytesMax, stderrMax: outputBytesMax },
      },
      AbortSignal.timeout(gitMs),
    );
    return end.code === 0;
  };
}
