import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { OpenFiles } from '../format/container/section-file.js';
import type { FileRow } from '../format/shard-index.js';
import { WordsFile, type Buckets } from '../format/word-lists/words-file.js';
import { filedOverlays } from '../overlay/generators.js';
import { openOverlay } from '../overlay/open-overlay.js';
import { failedState, reasonOf, stateOf } from '../overlay/overlay-state.js';
import type { IndexPlace, LanguageCount, ManifestShard } from '../plan/manifest.js';
import { openShard } from '../plan/open-shard.js';
import { linesOf } from '../plan/planned-shards.js';
import { renewCard } from '../search/card/card-file.js';
import { isBound } from './shard-key.js';
import type { ShardHead } from './shard-files.js';

/**
 * A shard is written as a whole when the lines that have changed since it was, old and new ones, are more than this share of
 * it: so its files take at most so much more on disk, and a refresh writes at most so much of a shard.
 */
const changedShareMax = 1 / 8;
/** A shard of fewer lines is written as fast as what has changed in it. */
const linesMin = 5_000;

/** What differs in a shard from the files that were written last as a whole. */
export interface Changes {
  /** The shard whose files stay. */
  before: ManifestShard;
  head: ShardHead;
  changed: readonly FileRow[];
  hides: string[];
  buckets: Buckets;
}

/** Undefined: the shard is to be written as a whole. */
export async function changesOf(
  place: IndexPlace,
  before: ManifestShard,
  shard: ShardHead,
  files: readonly FileRow[],
): Promise<Changes | undefined> {
  if (before.made_with !== shard.made_with || linesOf(files) < linesMin) return undefined;
  if (filedOverlays.some((name) => before.overlays[name]?.state !== 'ready')) return undefined;
  const words = await WordsFile.open(join(place.segments, before.words)).catch(() => undefined);
  if (words === undefined) return undefined;
  const known = new Map<string, FileRow>();
  for (let file = 0; file < words.fileCount; file += 1) {
    const row = words.file(file);
    known.set(row.path, row);
  }
  const changed = files.filter((file) => !isSame(file, known.get(file.path)));
  const now = new Map(files.map((file) => [file.path, file]));
  const hidden = [...known.values()].filter((row) => !isSame(row, now.get(row.path)));
  const lines = linesOf(changed) + linesOf(hidden);
  if (lines > linesOf(files) * changedShareMax) return undefined;
  const version = createHash('sha256')
    .update(`${before.base}\n${shard.version}`)
    .digest('hex')
    .slice(0, 20);
  const head = { ...shard, version, segment: `${shard.alias}-${version}.seg` };
  return {
    ...{ before, head, changed, hides: hidden.map(({ path }) => path) },
    buckets: words.buckets,
  };
}

function isSame(one: FileRow, other: FileRow | undefined): boolean {
  return one.blob === other?.blob && one.language === other.language;
}

/** The shard with what has changed. `built`: the files of the changes. Throws INDEX_*. */
export async function withDelta(
  place: IndexPlace,
  shard: ShardHead,
  files: readonly FileRow[],
  { before, hides, head }: Changes,
  built: ManifestShard,
): Promise<ManifestShard> {
  const written = filedOverlays.flatMap((name) => {
    const file = built.overlays[name]?.file ?? '';
    return file === '' ? [] : [[name, file] as const];
  });
  const { bound: _, ...kept } = before;
  const { base_languages } = before.delta ?? { base_languages: before.languages };
  const joined: ManifestShard = {
    ...kept,
    ...{ scope: shard.scope, version: shard.version },
    ...{ files: files.length, lines: linesOf(files) },
    languages: languagesOf(files, [base_languages, built.languages]),
    delta: {
      ...{ version: head.version, segment: built.segment, candidates: built.candidates },
      ...{ words: built.words, overlays: Object.fromEntries(written), hides, base_languages },
    },
  };
  return counted(place, joined, { states: built.overlays, before });
}

/** The shard as it was written last as a whole: what had changed since was taken back. Throws INDEX_*. */
export async function withoutDelta(
  place: IndexPlace,
  shard: ShardHead,
  files: readonly FileRow[],
  { before }: Changes,
): Promise<ManifestShard> {
  const { bound: _, delta, ...kept } = before;
  const whole: ManifestShard = {
    ...kept,
    ...{ scope: shard.scope, version: shard.version },
    ...{ files: files.length, lines: linesOf(files) },
    languages: delta?.base_languages ?? before.languages,
  };
  return counted(place, whole, { states: before.overlays, before });
}

/** A shard whose files are there, with what they hold. `states`: of its overlays; `before`: what it was. */
async function counted(
  place: IndexPlace,
  shard: ManifestShard,
  { states, before }: { states: ManifestShard['overlays']; before: ManifestShard },
): Promise<ManifestShard> {
  using opened = new OpenFiles();
  const index = await openShard(place, shard, {}, opened, '');
  // Of others it also depends on what their calls are bound to.
  if (!isBound(shard)) await renewCard(place, shard, before);
  const { items: counts } = index;
  const overlays: ManifestShard['overlays'] = {
    ...states,
    O1: stateOf('O1', counts.O1, ''),
    O3: stateOf('O3', counts.O3, ''),
  };
  for (const name of filedOverlays) {
    const its = states[name];
    if (its === undefined || its.state !== 'ready' || its.file === '') continue;
    // Its version depends on the languages of all files.
    const { file = '', version = '' } = shard.overlays[name] ?? {};
    overlays[name] = await openOverlay(place, shard, name).then(
      ({ itemCount }) => ({ ...its, version, items: itemCount, file }),
      (error: unknown) => failedState(name, reasonOf(error)),
    );
  }
  const items = Object.fromEntries(
    Object.entries(overlays).map(([name, { items: count }]) => [name, count]),
  );
  return { ...shard, items, calls: counts.O3, overlays };
}

/**
 * Of each language what there is now; of parse errors, all that was found in the files of both parts: those of replaced
 * files are still counted until the shard is written as a whole.
 */
function languagesOf(
  files: readonly FileRow[],
  parts: readonly ManifestShard['languages'][],
): ManifestShard['languages'] {
  const all: ManifestShard['languages'] = {};
  for (const { language, lines } of files) {
    const none: LanguageCount = { files: 0, lines: 0, bytes: 0, error_bytes: 0, scanned: 0 };
    const count = (all[language] ??= none);
    count.files += 1;
    count.lines += lines;
  }
  for (const [language, count] of Object.entries(all))
    for (const languages of parts)
      for (const key of ['bytes', 'error_bytes', 'scanned'] as const)
        count[key] += languages[language]?.[key] ?? 0;
  return all;
}
