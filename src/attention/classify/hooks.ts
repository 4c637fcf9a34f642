import type { Examination } from './examination.js';

/** Of one folder of hooks. */
const hooksMax = 100;

/**
 * Why a command of git may run code: hooks that the repository has, or that cannot be seen. Without a look at files nothing is
 * said: it is judged again where the files are.
 */
export async function hooksRisk(
  isOutside: boolean,
  /** Paths below the root that the command works in. */
  below: readonly string[],
  { inspector, policy }: Examination,
): Promise<string | undefined> {
  if (inspector === undefined) return undefined;
  for (const folder of below.flatMap(upwards))
    if ((await inspector.exists?.(`${folder}/.git`)) !== false)
      return `git may run hooks of a repository of its own at ${folder}`;
  const { folders, files, settings, head } = policy.hooks;
  const isSeen = !isOutside && (await inspector.read(head)) !== undefined;
  if (!isSeen) return 'git may run hooks of a repository that cannot be seen from here';
  for (const folder of folders) {
    const listed = await inspector.list?.(folder, false, hooksMax);
    if (listed === undefined && (await inspector.exists?.(folder)) !== false)
      return `git may run hooks of ${folder}, which cannot be read`;
    const hook = listed?.find((file) => !file.endsWith('.sample'));
    if (hook !== undefined) return `git runs ${hook}`;
  }
  for (const file of files)
    if ((await inspector.read(file)) !== undefined) return `git runs hooks by ${file}`;
  const isMoved = /hookspath/i.test((await inspector.read(settings)) ?? '');
  return isMoved ? `git runs hooks of the folder that ${settings} names` : undefined;
}

/** A folder below the root and those above it, without the root. */
function upwards(folder: string): string[] {
  const parts = folder.split('/').filter((part) => part !== '');
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}
