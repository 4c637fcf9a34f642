import { readFile } from 'node:fs/promises';
import { BusError } from '../../errors/bus-error.js';
import { placeOf, type IndexPlace } from '../plan/manifest.js';
import { writeAtomically } from '../format/segment-file.js';
import { SourceTree, type LeftOut } from '../source/source-tree.js';

/** All files that the last run left out, with reasons. Throws REPO_UNREADABLE or INDEX_MISSING. */
export async function readLeftOut(folder: string, home: string): Promise<LeftOut[]> {
  const { root } = await SourceTree.open(folder);
  try {
    const text = await readFile(placeOf(root, home).leftOut, 'utf8');
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as LeftOut);
  } catch (error) {
    throw new BusError('INDEX_MISSING', { path: root }, { cause: error });
  }
}

/** Throws STORE_UNAVAILABLE. */
export async function writeLeftOut(place: IndexPlace, leftOut: readonly LeftOut[]): Promise<void> {
  const lines = leftOut.map((each) => `${JSON.stringify(each)}\n`).join('');
  await writeAtomically(place.leftOut, [Buffer.from(lines)]);
}

/** Number of files for each reason. */
export function countReasons(leftOut: readonly LeftOut[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { reason } of leftOut) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}
