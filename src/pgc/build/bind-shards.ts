import { createHash } from 'node:crypto';
import { join, posix } from 'node:path';
import { bindPointers } from '../bind/pointers/bind-pointers.js';
import { farHeaders } from '../bind/pointers/far-headers.js';
import { bindProgram } from '../bind/program/bind-program.js';
import { cppRules } from '../bind/program/languages/cpp.js';
import { ecmascriptRules } from '../bind/program/languages/ecmascript.js';
import { goRules } from '../bind/program/languages/go.js';
import { javaRules } from '../bind/program/languages/java.js';
import type { LanguageRules, Manifest as ModuleManifest } from '../bind/program/rules.js';
import { pythonRules } from '../bind/program/languages/python.js';
import { rustRules } from '../bind/program/languages/rust.js';
import type { FactStore } from '../mine/fact-store.js';
import { BoundCalls, writeBoundCalls, type BoundCallsWriter } from '../format/bound-calls.js';
import { decodeFacts } from '../format/packed-facts.js';
import { Segment } from '../format/segment.js';
import type { FileRow } from '../format/shard-index.js';
import type { IndexPlace, Manifest, ManifestShard } from '../plan/manifest.js';
import { TreeSymbols } from '../scip/tree-symbols.js';
import { cardPath, makeCard, writeCard } from '../search/card/card-file.js';
import { BindingWriter } from './binding-writer.js';
import {
  hasLayer,
  isLayerWhole,
  openLayer,
  type LayerJob,
  type LayerReport,
} from './precise-layer.js';

/** Languages whose calls are bound over all shards. */
const boundLanguages = [
  ...(['c', 'cpp', 'go', 'java', 'python', 'rust'] as const),
  ...(['typescript', 'tsx', 'javascript'] as const),
];

export function isBound({ languages }: Pick<ManifestShard, 'languages'>): boolean {
  return boundLanguages.some((language) => language in languages);
}

interface BindJob extends LayerJob {
  facts: FactStore;
  /** Sees to it that there are facts of these files. */
  complete: (files: readonly FileRow[]) => Promise<void>;
}

export interface BoundShards {
  shards: ManifestShard[];
  scip: Manifest['scip'];
  /** Undefined: there is no layer, or nothing was bound anew. */
  layer: LayerReport | undefined;
}

/**
 * Binds the calls of all shards, because what one means may be defined in another. Where a SCIP index speaks of a site, it
 * has the last word. A file whose content is as before keeps its name, and its shard is served as before. Throws INDEX_*,
 * SCIP_*, STORE_UNAVAILABLE.
 */
export async function bindShards(
  job: BindJob,
  shards: readonly ManifestShard[],
): Promise<BoundShards> {
  const { place, before } = job;
  const isLayered = hasLayer(job);
  const bound = isLayered ? [...shards] : shards.filter(isBound);
  if (bound.length === 0) return { shards: [...shards], scip: undefined, layer: undefined };
  const known = new Map(before?.shards.map(({ segment, bound: file }) => [segment, file]));
  const isSameLayer = job.scip === undefined || (!isLayered && before?.scip === undefined);
  if (
    isSameLayer &&
    isAsBefore(shards, known) &&
    (await areReadable(place, shards, known)) &&
    (await isLayerWhole(place, before?.scip))
  )
    return {
      shards: shards.map((shard) => withBound(shard, known.get(shard.segment))),
      ...{ scip: before?.scip, layer: undefined },
    };
  const { writers, layer } = await boundBy(job, bound, isLayered);
  const files = new Map<string, string>();
  const served = new Set(known.values());
  for (const [at, shard] of bound.entries()) {
    job.throwIfAborted();
    const writer = writers[at];
    // Written, it is not needed any more.
    writers[at] = undefined;
    const isWritten = isBound(shard) || layer?.bindings.speaksOf(at) === true;
    if (writer !== undefined && isWritten)
      files.set(shard.alias, await written(place, shard, { writer, served }));
  }
  return {
    shards: shards.map((shard) => withBound(shard, files.get(shard.alias))),
    ...{ scip: layer?.served, layer: layer?.report() },
  };
}

/** What all sites are bound to. Of the segments only that is read which binding needs, and nothing is kept. */
async function boundBy(
  job: BindJob,
  shards: readonly ManifestShard[],
  isLayered: boolean,
): Promise<{
  writers: (BoundCallsWriter | undefined)[];
  layer: Awaited<ReturnType<typeof openLayer>> | undefined;
}> {
  const segments = await Promise.all(
    shards.map(({ segment }) => Segment.open(join(job.place.segments, segment), {}, '', 'lazy')),
  );
  const layer = isLayered ? await openLayer(job, new TreeSymbols(segments)) : undefined;
  const writing = new BindingWriter(segments, layer?.bindings);
  const manifests = await manifestsOf(job);
  for (const rules of rulesOf(manifests)) {
    job.throwIfAborted();
    const isNeeded = shards.some(({ languages }) =>
      rules.languages.some((language) => language in languages),
    );
    if (isNeeded) writing.add(bindProgram(segments, rules));
  }
  if (shards.some(({ languages }) => 'c' in languages)) writing.add(bindPointers(segments));
  for (const [shard, headers] of farHeaders(segments).entries()) writing.include(shard, headers);
  return { writers: [...writing.end()], layer };
}

function rulesOf(manifests: readonly ModuleManifest[]): LanguageRules[] {
  return [
    goRules(manifests),
    rustRules(manifests),
    ecmascriptRules(manifests),
    pythonRules(manifests),
    javaRules,
    cppRules,
  ];
}

/** Always last: the order of fields counts for the digest of a manifest. */
function withBound(shard: ManifestShard, file: string | undefined): ManifestShard {
  const { bound: _, ...others } = shard;
  return file === undefined ? others : { ...others, bound: file };
}

/** The same segments as before are bound to the same. */
function isAsBefore(
  shards: readonly ManifestShard[],
  known: ReadonlyMap<string, string | undefined>,
): boolean {
  return (
    shards.length === known.size &&
    shards.every(
      (shard) =>
        known.has(shard.segment) && (!isBound(shard) || known.get(shard.segment) !== undefined),
    )
  );
}

async function areReadable(
  place: IndexPlace,
  shards: readonly ManifestShard[],
  known: ReadonlyMap<string, string | undefined>,
): Promise<boolean> {
  const opened = shards.flatMap(({ segment }) => {
    const file = known.get(segment);
    return file === undefined ? [] : [BoundCalls.open(join(place.segments, file))];
  });
  return Promise.all(opened).then(
    () => true,
    () => false,
  );
}

/** Files that give modules their names. */
const manifestName =
  /^(?:go\.mod|pyproject\.toml|setup\.cfg|Cargo\.toml|package\.json|[jt]sconfig(?:\..+)?\.json)$/;

/** What the tree says of its modules. */
async function manifestsOf({ files, facts, complete }: BindJob): Promise<ModuleManifest[]> {
  const manifests = files.filter(({ path }) => manifestName.test(posix.basename(path)));
  await complete(manifests);
  const found = await facts.getMany(manifests);
  return manifests.flatMap(({ path }, at) => {
    const its = found[at];
    return its === undefined ? [] : [{ path, types: decodeFacts(its).types }];
  });
}

/** Named by its content. Also the card of the shard, which says what it wants of others. */
async function written(
  place: IndexPlace,
  shard: ManifestShard,
  { writer, served }: { writer: BoundCallsWriter; served: ReadonlySet<string | undefined> },
): Promise<string> {
  const sections = writer.sections();
  const digest = createHash('sha256');
  for (const bytes of Object.values(sections)) digest.update(bytes);
  const file = `${shard.alias}-${shard.version}.${digest.digest('hex').slice(0, 12)}.bound`;
  const path = join(place.segments, file);
  // What a killed run has left may not have reached the disk.
  const isThere =
    served.has(file) &&
    (await BoundCalls.open(path).then(
      () => true,
      () => false,
    ));
  if (!isThere) await writeBoundCalls(path, sections);
  const index = await Segment.open(join(place.segments, shard.segment), {}, path, 'lazy');
  await writeCard(cardPath(place, { ...shard, bound: file }), makeCard(index));
  return file;
}
