import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { IndexPlace, Manifest, ManifestShard } from '../manifest.js';
import { Segment } from '../segment.js';
import { stateOf } from '../shard-build.js';
import { generators } from './generators.js';
import { OverlayFile, OverlayWriter, type OverlayItem } from './overlay-file.js';

/**
 * O7 of every shard: what one file shows by itself, and of what names something else only where no shard
 * answers to the name. It is made anew whenever any shard has changed, out of what the miners noted; no
 * source is read. Throws INDEX_CORRUPT, STORE_UNAVAILABLE.
 */
export async function buildCoherence(
  place: IndexPlace,
  shards: readonly ManifestShard[],
  before: Manifest | undefined,
  isForced: boolean,
): Promise<ManifestShard[]> {
  const version = versionOf(shards);
  const kept = isForced ? undefined : await keptFiles(place, version, before);
  const files = kept ?? (await written(place, shards, version));
  return shards.map((shard) => {
    const { file, items } = files.get(shard.alias) ?? { file: '', items: 0 };
    const overlays = { ...shard.overlays, O7: stateOf('O7', items, file) };
    return { ...shard, items: { ...shard.items, O7: items }, overlays };
  });
}

type Files = Map<string, { file: string; items: number }>;

/** Of everything that any O7 depends on. */
function versionOf(shards: readonly ManifestShard[]): string {
  const digest = createHash('sha256').update(`${generators.O7.version}\n`);
  for (const { alias, version } of shards) digest.update(`${alias}\0${version}\n`);
  return digest.digest('hex').slice(0, 12);
}

async function keptFiles(
  place: IndexPlace,
  version: string,
  before: Manifest | undefined,
): Promise<Files | undefined> {
  const files: Files = new Map();
  for (const { alias, overlays } of before?.shards ?? []) {
    const { file = '', items = 0 } = overlays.O7 ?? {};
    if (!file.endsWith(`.${version}.O7.ovl`)) return undefined;
    try {
      await OverlayFile.open(join(place.segments, file));
    } catch {
      return undefined;
    }
    files.set(alias, { file, items });
  }
  return files.size === 0 ? undefined : files;
}

async function written(
  place: IndexPlace,
  shards: readonly ManifestShard[],
  version: string,
): Promise<Files> {
  const wanted = new Set<string>();
  for (const { candidates } of shards) {
    const file = await OverlayFile.open(join(place.segments, candidates));
    for (const { rule, subject } of file.items())
      if (rule === 'mention' || rule === 'option') wanted.add(subject);
  }
  const known = await namesAmong(place, shards, wanted);
  const hasKconfig = [...known].some((name) => name.startsWith('CONFIG_'));
  const files: Files = new Map();
  for (const { alias, version: ofShard, candidates } of shards) {
    const found = await OverlayFile.open(join(place.segments, candidates));
    const writer = new OverlayWriter();
    let items: (OverlayItem & { overlay: 'O7' })[] = [];
    const flush = (): void => {
      const [first] = items;
      if (first !== undefined)
        writer.add(
          first.file_path,
          first.blob,
          items.map((item) => ({ ...item, overlay: 7 })),
        );
      items = [];
    };
    for (const item of found.items()) {
      if (items[0] !== undefined && items[0].file_path !== item.file_path) flush();
      const told = judged(item, known, hasKconfig);
      if (told !== undefined) items.push({ ...told, overlay: 'O7' });
    }
    flush();
    const file = `${alias}-${ofShard}.${version}.O7.ovl`;
    const { name: generator, version: made } = generators.O7;
    await writer.write(join(place.segments, file), {
      overlay: 'O7',
      alias,
      generator,
      version: made,
    });
    files.set(alias, { file, items: writer.items });
  }
  return files;
}

/** Which of these names some shard has a symbol of. */
async function namesAmong(
  place: IndexPlace,
  shards: readonly ManifestShard[],
  wanted: ReadonlySet<string>,
): Promise<Set<string>> {
  const known = new Set<string>();
  for (const { segment, overlays } of shards) {
    const index = await Segment.open(join(place.segments, segment));
    for (const name of index.symbolNames()) if (wanted.has(name)) known.add(name);
    index.close();
    // Entries of Kconfig are no code, and stand in O5.
    const options = overlays.O5?.file ?? '';
    if (options === '') continue;
    const file = await OverlayFile.open(join(place.segments, options));
    for (const { rule, subject } of file.items()) if (rule === 'option') known.add(subject);
  }
  return known;
}

/** The item as O7 says it; undefined where something answers to the name. */
function judged(
  item: OverlayItem,
  known: ReadonlySet<string>,
  hasKconfig: boolean,
): OverlayItem | undefined {
  const { rule, subject } = item;
  if (rule !== 'mention' && rule !== 'option') return item;
  if (known.has(subject)) return undefined;
  if (rule === 'mention')
    return { ...item, rule: 'unknown-name', text: `speaks of ${subject}(), which nothing defines` };
  // Without any Kconfig the names mean something else.
  if (!hasKconfig) return undefined;
  return { ...item, rule: 'unknown-option', text: `uses ${subject}, which no Kconfig defines` };
}
