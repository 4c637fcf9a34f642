import { readFile } from 'node:fs/promises';
import { lazily } from '../../base/lazy-schema.js';
import { BusError } from '../../errors/bus-error.js';
import { placeOf, type IndexPlace } from '../plan/manifest.js';
import { writeAtomically } from '../format/container/segment-file.js';
import { leftOutReasons, SourceTree, type LeftOut } from '../source/source-tree.js';

const leftOutSchema = lazily((z) => z.object({ path: z.string(), reason: z.enum(leftOutReasons) }));

/** All files that the last run left out, with reasons. Throws REPO_UNREADABLE or INDEX_MISSING. */
export async function readLeftOut(folder: string, home: string): Promise<LeftOut[]> {
  const { root } = await SourceTree.open(folder);
  try {
    return parseLeftOut(await readFile(placeOf(root, home).leftOut, 'utf8'));
  } catch (error) {
    throw new BusError('INDEX_MISSING', { path: root }, { cause: error });
  }
}

/** Throws for anything but the text of `writeLeftOut`. */
export function parseLeftOut(text: string): LeftOut[] {
  const lines = text.split('\n').filter(Boolean);
  return lines.map((line) => leftOutSchema().parse(JSON.parse(line)));
}

/** Throws STORE_UNAVAILABLE. */
export async function writeLeftOut(place: IndexPlace, leftOut: readonly LeftOut[]): Promise<void> {
  await writeAtomically(place.leftOut, [Buffer.from(leftOutText(leftOut))]);
}

export function leftOutText(leftOut: readonly LeftOut[]): string {
  return leftOut.map((each) => `${JSON.stringify(each)}\n`).join('');
}

/** Number of files for each reason. */
export function countReasons(leftOut: readonly LeftOut[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { reason } of leftOut) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}
