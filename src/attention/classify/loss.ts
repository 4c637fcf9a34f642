import type { Word } from '../policy/command-pattern.js';
import type { Examination, Site } from './examination.js';

/**
 * Whether what is removed can be had back: files, no folders, that git has as they lie there; caches that tools make again, below
 * the root and not under version control. A folder may hold anything else.
 */
export async function isTakenBack(
  paths: readonly Word[],
  exam: Examination,
  site: Site,
): Promise<boolean> {
  if (paths.length === 0) return false;
  for (const each of paths) {
    const place = exam.place(each.text, site);
    if (!each.isStatic || place.kind !== 'inside' || place.path === '') return false;
    if (await isKept(each, place.path, exam)) continue;
    const real = await exam.realPlace(each.text, site);
    // A package of a workspace is a link to what nothing makes again.
    if (real.kind !== 'inside' || real.path !== place.path) return false;
    if (!(await isRebuildable(place.path, exam))) return false;
  }
  return true;
}

async function isKept({ text, isGlob }: Word, path: string, exam: Examination): Promise<boolean> {
  if (exam.inspector === undefined || isGlob === true || /[*?[]/.test(text)) return false;
  return (await exam.inspector.read(path)) !== undefined && (await exam.isTracked(path));
}

async function isRebuildable(path: string, exam: Examination): Promise<boolean> {
  if (!exam.paths.isRebuildable(path)) return false;
  // Who has the files judges it again.
  if (exam.inspector === undefined) return exam.isLookedAtLater;
  return !(await exam.isTracked(path));
}
