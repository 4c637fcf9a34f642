import { createHash } from 'node:crypto';
import { join, posix } from 'node:path';
import { bindPointers } from '../../bind/pointers/bind-pointers.js';
import { farHeaders } from '../../bind/pointers/far-headers.js';
import { bindProgram } from '../../bind/program/bind-program.js';
import { cppRules } from '../../bind/program/languages/cpp.js';
import { ecmascriptRules } from '../../bind/program/languages/ecmascript.js';
import { goRules } from '../../bind/program/languages/go.js';
import { javaRules } from '../../bind/program/languages/java.js';
import type { LanguageRules, Manifest as ModuleManifest } from '../../bind/program/rules.js';
import { pythonRules } from '../../bind/program/languages/python.js';
import { rustRules } from '../../bind/program/languages/rust.js';
import type { FactStore } from '../../mine/fact-store.js';
import { OpenFiles } from '../../format/container/section-file.js';
import {
  BoundCalls,
  boundFormat,
  writeBoundCalls,
  type BoundCallsWriter,
} from '../../format/bound-calls.js';
import { minerVersion } from '../../format/facts.js';
import { decodeFacts } from '../../format/packed-facts.js';
import type { FileRow } from '../../format/shard-index.js';
import { openShard } from '../../plan/open-shard.js';
import type { IndexPlace, Manifest, ManifestShard } from '../../plan/manifest.js';
import { TreeSymbols } from '../../scip/tree-symbols.js';
import { boundAfter } from './bind-change.js';
import { BindingWriter } from './binding-writer.js';
import { withinLessMemory } from '../run-budget.js';
import { openBuilders } from '../shard-builders.js';
import { isBound, keyOf } from '../shard-key.js';
import {
  hasLayer,
  isLayerWhole,
  openLayer,
  type LayerJob,
  type LayerReport,
} from './precise-layer.js';

/** For fewer, to collect garbage costs more time than it is worth: RocksDB has half a million, the kernel more than five. */
const manySites = 1_000_000;

interface BindJob extends LayerJob {
  facts: FactStore;
  /** What is kept of the run before is read, because it may be damaged. */
  isChecked: boolean;
  /** Sees to it that there are facts of these files. */
  complete: (files: readonly FileRow[]) => Promise<void>;
  /** Threads that write shards, and the heap of each. */
  writers: number;
  heapMegabytes: number;
}

export interface BoundShards {
  shards: ManifestShard[];
  scip: Manifest['scip'];
  /** See `Manifest`. */
  bound_by: string | undefined;
  /** Undefined: there is no layer, or nothing was bound anew. */
  layer: LayerReport | undefined;
  /** Calls and uses whose binding was worked out anew. */
  sites: number;
}

/**
 * Binds the calls of all shards, because what one means may be defined in another: after a change only those that may mean
 * something else. Where a SCIP index speaks of a site, it has the last word. A file whose content is as before keeps its name,
 * and its shard is served as before. Throws INDEX_*, SCIP_*, STORE_UNAVAILABLE.
 */
export async function bindShards(
  job: BindJob,
  shards: readonly ManifestShard[],
): Promise<BoundShards> {
  const { place, before } = job;
  const isLayered = hasLayer(job);
  const bound = isLayered ? [...shards] : shards.filter(isBound);
  if (bound.length === 0)
    return {
      ...{ shards: [...shards], scip: undefined, bound_by: undefined, layer: undefined },
      sites: 0,
    };
  const known = new Map(before?.shards.map((shard) => [keyOf(shard), shard.bound]));
  const manifests = await manifestsOf(job);
  const bound_by = binderOf(manifests);
  const isSame =
    bound_by === before?.bound_by &&
    (job.scip === undefined || (!isLayered && before.scip === undefined));
  const isKept = isSame && isAsBefore(shards, known);
  const isReadable = (!isKept && !job.isChecked) || (await areReadable(place, known.values()));
  if (isSame && isKept && isReadable && (await isLayerWhole(place, before.scip)))
    return {
      shards: shards.map((shard) => withBound(shard, known.get(keyOf(shard)))),
      ...{ scip: before.scip, bound_by, layer: undefined, sites: 0 },
    };
  const rules = languageRules(manifests);
  const update =
    isSame && !isLayered && isReadable
      ? await boundAfter({ place, before, shards: bound, rules })
      : undefined;
  const { writers, layer, sites } =
    update === undefined
      ? await boundBy(job, { shards: bound, rules, isLayered })
      : { writers: drained(update.writers), layer: undefined, sites: update.sites };
  const files = new Map<string, string | undefined>();
  const fresh: ManifestShard[] = [];
  const served = new Set(known.values());
  let at = 0;
  for (const writer of writers) {
    job.throwIfAborted();
    const shard = bound[at];
    if (shard === undefined) break;
    const isWritten = isBound(shard) || layer?.bindings.speaksOf(at) === true;
    if (writer === 'as before') files.set(shard.alias, known.get(keyOf(shard)));
    else if (isWritten) {
      const file = await written(place, shard, { writer, served });
      files.set(shard.alias, file);
      fresh.push({ ...shard, bound: file });
    }
    at += 1;
  }
  await writeCards(job, fresh, update === undefined ? [] : (before?.shards ?? []));
  return {
    shards: shards.map((shard) => withBound(shard, files.get(shard.alias))),
    ...{ scip: layer?.served, bound_by, layer: layer?.report(), sites },
  };
}

/** What all sites are bound to. Of the segments only that is read which binding needs, and nothing is kept. */
async function boundBy(
  job: BindJob,
  {
    shards,
    rules,
    isLayered,
  }: { shards: readonly ManifestShard[]; rules: readonly LanguageRules[]; isLayered: boolean },
): Promise<{
  writers: Iterable<BoundCallsWriter | 'as before'>;
  layer: Awaited<ReturnType<typeof openLayer>> | undefined;
  sites: number;
}> {
  using files = new OpenFiles();
  const segments = await Promise.all(
    shards.map((shard) => openShard(job.place, shard, {}, files, '')),
  );
  const layer = isLayered ? await openLayer(job, new TreeSymbols(segments)) : undefined;
  const sites = segments.reduce((sum, { siteCount }) => sum + siteCount, 0);
  const bind = (): (BoundCallsWriter | 'as before')[] => {
    const writing = new BindingWriter(segments, layer?.bindings);
    for (const each of rules) {
      job.throwIfAborted();
      const isNeeded = shards.some(({ languages }) =>
        each.languages.some((language) => language in languages),
      );
      if (isNeeded) writing.add(bindProgram(segments, each));
    }
    if (shards.some(({ languages }) => 'c' in languages)) writing.add(bindPointers(segments));
    for (const [shard, headers] of farHeaders(segments).entries()) writing.include(shard, headers);
    return [...writing.end()];
  };
  const writers = sites < manySites ? bind() : withinLessMemory(bind);
  return { writers: drained(writers), layer, sites };
}

/** Written, each is not needed any more. */
function* drained<Each>(all: (Each | undefined)[]): Generator<Each> {
  for (const [at, each] of all.entries()) {
    all[at] = undefined;
    if (each !== undefined) yield each;
  }
}

/** Digest of all that says what sites are bound to, besides the texts themselves. */
function binderOf(manifests: readonly ModuleManifest[]): string {
  const digest = createHash('sha256').update(`${minerVersion} ${boundFormat}\n`);
  for (const { path, types } of manifests) digest.update(`${path}\0${JSON.stringify(types)}\n`);
  return digest.digest('hex').slice(0, 20);
}

export function languageRules(manifests: readonly ModuleManifest[]): LanguageRules[] {
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
        known.has(keyOf(shard)) && (!isBound(shard) || known.get(keyOf(shard)) !== undefined),
    )
  );
}

async function areReadable(
  place: IndexPlace,
  files: Iterable<string | undefined>,
): Promise<boolean> {
  const opened = [...files].flatMap((file) =>
    file === undefined ? [] : [BoundCalls.open(join(place.segments, file))],
  );
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

/** What a card takes of which the one before is known, as a share of one that is made as a whole. */
const renewedShare = 1 / 8;

/** Cards say what shards want of others, so all are bound first. `known`: those of the run before, made alike. */
async function writeCards(
  { place, writers, heapMegabytes, throwIfAborted }: BindJob,
  shards: readonly ManifestShard[],
  known: readonly ManifestShard[],
): Promise<void> {
  const orders = shards.map((shard) => {
    const isBefore = ({ alias, made_with }: ManifestShard): boolean =>
      alias === shard.alias && made_with === shard.made_with;
    return { place, shard, before: known.find(isBefore) };
  });
  await using builders = openBuilders(
    Math.min(writers, shards.length),
    orders.reduce((sum, { shard, before }) => sum + shard.lines * (before ? renewedShare : 1), 0),
    heapMegabytes,
  );
  await builders.all(orders, async (builder, order) => {
    throwIfAborted();
    await builder.card(order);
  });
}

/** Named by its content. */
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
  return file;
}
