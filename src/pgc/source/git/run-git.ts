import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** The listing of a kernel takes about 8 MiB. */
const outputBytesMax = 256 * 1024 * 1024;
const deadlineMs = 120_000;

/** Goes before every subcommand: disables settings of a repository that would run a program. */
export const safeGit = [
  // Services read trees that other users own. That is safe here because nothing of the repository is executed.
  '-c',
  'safe.directory=*',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'log.showSignature=false',
  // If something asks for a signature all the same: a program that only fails.
  ...['gpg', 'gpg.openpgp', 'gpg.x509', 'gpg.ssh'].flatMap((kind) => [
    '-c',
    `${kind}.program=false`,
  ]),
  '--no-pager',
] as const;

/**
 * Runs git in a folder and returns its output; undefined when git is missing, broken, exits with an error or prints
 * more than `bytesMax`. The repository is not trusted: nothing its configuration names is run, and nothing is fetched.
 */
export async function runGit(
  folder: string,
  args: readonly string[],
  timeoutMs = deadlineMs,
  bytesMax = outputBytesMax,
): Promise<Buffer | undefined> {
  try {
    const { stdout } = await run('git', [...safeGit, ...args], {
      cwd: folder,
      encoding: 'buffer',
      env: gitEnvironment(),
      maxBuffer: bytesMax,
      timeout: timeoutMs,
      windowsHide: true,
    });
    return stdout;
  } catch {
    return undefined;
  }
}

/** Without GIT_DIR and similar variables: a hook that calls us must not redirect us to its own repository. */
export function gitEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  return {
    ...Object.fromEntries(kept),
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
  };
}
