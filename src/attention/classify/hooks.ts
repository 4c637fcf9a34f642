import type { HarmlessRow } from '../policy/policy.js';
import type { Examination } from './examination.js';
import { placeOf } from './paths.js';

/** Of one folder of hooks. */
const hooksMax = 100;

/**
 * Why a command of git may run code: settings of its repository that start programs, hooks that it runs, or a repository that
 * cannot be seen. What is judged again where the files are is left to that.
 */
export async function hooksRisk(
  { hooks, changes }: HarmlessRow,
  isOutside: boolean,
  /** Paths below the root that the command works in. */
  below: readonly string[],
  exam: Examination,
): Promise<string | undefined> {
  const { inspector, policy } = exam;
  if (exam.isLookedAtLater) return undefined;
  if (inspector === undefined)
    return 'git may run what its repository sets up, which is not looked at';
  if (isOutside) return 'git may run what a repository outside of the root sets up';
  // A folder with HEAD may be a repository without a work tree, with settings of its own.
  for (const folder of below.flatMap(upwards))
    for (const sign of ['.git', 'HEAD'])
      if ((await inspector.exists?.(`${folder}/${sign}`)) !== false)
        return `git may run what a repository of its own at ${folder} sets up`;
  const { folders, files, settings, head } = policy.hooks;
  const text = await inspector.read(settings);
  if ((await inspector.read(head)) === undefined) {
    // A repository above the root is not the tree's.
    const isBare = (await inspector.exists?.('HEAD')) === true;
    const isHarmed = text !== undefined || isBare || hooks === 'any' || changes === true;
    return isHarmed ? 'git may run hooks of a repository that cannot be seen from here' : undefined;
  }
  const set = settingsIn(text ?? '');
  const special = set.find(({ key }) => !exam.book.plainSetting.test(key));
  if (special !== undefined) return `git may run what ${settings} sets up by ${special.key}`;
  if (hooks === undefined) return undefined;
  const moved = set.filter(({ key }) => key === hooksPath).map(({ value }) => value);
  for (const folder of [...folders, ...moved]) {
    const place = placeOf(folder, '', exam.root);
    if (place.kind !== 'inside') return `git runs hooks of ${folder}`;
    const listed = await inspector.list?.(place.path, false, hooksMax);
    if (listed === undefined && (await inspector.exists?.(place.path)) !== false)
      return `git may run hooks of ${folder}, which cannot be read`;
    const hook = listed?.find((file) => runs(hooks, file));
    if (hook !== undefined || listed?.length === hooksMax) return `git runs ${hook ?? folder}`;
  }
  for (const file of hooks === 'any' ? files : [])
    if ((await inspector.read(file)) !== undefined) return `git runs hooks by ${file}`;
  return undefined;
}

const hooksPath = 'core.hookspath';

function runs(hooks: NonNullable<HarmlessRow['hooks']>, file: string): boolean {
  if (hooks === 'any') return !file.endsWith('.sample');
  return hooks.includes(file.slice(file.lastIndexOf('/') + 1));
}

/** `section.key`, without the name of a subsection, in lower case. What is read otherwise is in no list, and asked about. */
function settingsIn(text: string): { key: string; value: string }[] {
  const found: { key: string; value: string }[] = [];
  let section = '';
  for (const line of text.split('\n')) {
    const head = /^\s*\[\s*([\w.-]+)(?:\s+"(?:\\.|[^"\\])*")?\s*\](.*)$/s.exec(line);
    if (head !== null) section = (head[1] ?? '').split('.')[0] ?? '';
    const rest = (head === null ? line : (head[2] ?? '')).trim();
    if (rest === '' || /^[#;]/.test(rest)) continue;
    const [name = '', ...value] = rest.split('=');
    const text = value
      .join('=')
      .trim()
      .replace(/^"(.*)"$/, '$1');
    // Continued lines, comments and quotes within are read by git in another way.
    const unread = /["#;\\]/.test(text) ? 'unread ' : '';
    found.push({ key: `${unread}${section}.${name.trim()}`.toLowerCase(), value: text });
  }
  return found;
}

/** A folder below the root and those above it, without the root. */
function upwards(folder: string): string[] {
  const parts = folder.split('/').filter((part) => part !== '');
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}
