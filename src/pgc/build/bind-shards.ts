import { createHash } from 'node:crypto';
import { access } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { bindPointers, type PointerCall } from '../bind/pointers/bind-pointers.js';
import type { Place } from '../bind/pointers/c-program.js';
import { bindProgram } from '../bind/program/bind-program.js';
import { ecmascriptRules } from '../bind/program/ecmascript.js';
import { goRules } from '../bind/program/go.js';
import type { LanguageRules, Manifest as ModuleManifest } from '../bind/program/rules.js';
import { pythonRules } from '../bind/program/python.js';
import { rustRules } from '../bind/program/rust.js';
import type { FactStore } from '../mine/fact-store.js';
import { BoundCalls, BoundCallsWriter, writeBoundCalls } from '../format/bound-calls.js';
import type { BoundTarget } from '../format/bound-calls.js';
import { decodeFacts } from '../format/packed-facts.js';
import { Segment } from '../format/segment.js';
import type { FileRow } from '../format/shard-index.js';
import type { IndexPlace, Manifest, ManifestShard } from '../plan/manifest.js';
import { cardPath, makeCard, writeCard } from '../search/card/card-file.js';

/** Languages whose calls are bound over all shards. */
const boundLanguages = ['c', 'go', 'python', 'rust', 'typescript', 'tsx', 'javascript'] as const;

export function isBound({ languages }: Pick<ManifestShard, 'languages'>): boolean {
  return boundLanguages.some((language) => language in languages);
}

interface BindJob {
  place: IndexPlace;
  files: readonly FileRow[];
  facts: FactStore;
  before: Manifest | undefined;
  throwIfAborted: () => void;
}

/**
 * Binds the calls of all shards, because what one means may be defined in another. A file whose content is as before
 * keeps its name, and its shard is served as before. Throws INDEX_*, STORE_UNAVAILABLE.
 */
export async function bindShards(
  job: BindJob,
  shards: readonly ManifestShard[],
): Promise<ManifestShard[]> {
  const { place, before } = job;
  const bound = shards.filter(isBound);
  if (bound.length === 0) return [...shards];
  const known = new Map(before?.shards.map(({ segment, bound: file }) => [segment, file]));
  if (isAsBefore(shards, known) && (await areReadable(place, bound, known)))
    return shards.map((shard) => ({ ...shard, ...boundFile(known.get(shard.segment)) }));
  const segments = await Promise.all(
    bound.map(({ segment }) => Segment.open(join(place.segments, segment))),
  );
  const writers = segments.map(({ siteCount }) => new BoundCallsWriter(siteCount));
  const manifests = await manifestsOf(job);
  for (const rules of rulesOf(manifests)) {
    job.throwIfAborted();
    const isNeeded = bound.some(({ languages }) =>
      rules.languages.some((language) => language in languages),
    );
    if (isNeeded) writeProgram(bindProgram(segments, rules), writers);
  }
  if (bound.some(({ languages }) => 'c' in languages))
    writeProgram(bindPointers(segments), writers);
  const files = new Map<string, string>();
  for (const [at, shard] of bound.entries()) {
    job.throwIfAborted();
    const writer = writers[at];
    if (writer !== undefined) files.set(shard.alias, await written(place, shard, writer));
  }
  return shards.map((shard) => ({ ...shard, ...boundFile(files.get(shard.alias)) }));
}

function rulesOf(manifests: readonly ModuleManifest[]): LanguageRules[] {
  return [
    goRules(manifests),
    rustRules(manifests),
    ecmascriptRules(manifests),
    pythonRules(manifests),
  ];
}

/** What calls are bound to, and what may run in place of what. */
interface Bound {
  calls: Iterable<PointerCall>;
  implementations: ReadonlyMap<Place, readonly Place[]>;
}

function writeProgram(
  { calls, implementations }: Bound,
  writers: readonly BoundCallsWriter[],
): void {
  const called = writers.map(() => new Set<Place>());
  for (const { shard, call, binding, targets } of calls) {
    writers[shard]?.add(
      call,
      binding,
      targets.map((each) => targetIn(shard, each)),
    );
    for (const each of targets) called[shard]?.add(each);
  }
  // Known where the one is called, and where either is defined.
  for (const [definition, all] of implementations)
    for (const by of all)
      for (const [shard, writer] of writers.entries())
        if (
          definition.shard === shard ||
          by.shard === shard ||
          called[shard]?.has(definition) === true
        )
          writer.implement(targetIn(shard, definition), targetIn(shard, by));
}

function boundFile(file: string | undefined): Pick<ManifestShard, 'bound'> {
  return file === undefined ? {} : { bound: file };
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
  bound: readonly ManifestShard[],
  known: ReadonlyMap<string, string | undefined>,
): Promise<boolean> {
  const opened = bound.map(({ segment }) =>
    BoundCalls.open(join(place.segments, known.get(segment) ?? '')),
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
async function manifestsOf({ files, facts }: BindJob): Promise<ModuleManifest[]> {
  const manifests = files.filter(({ path }) => manifestName.test(posix.basename(path)));
  const found = await facts.getMany(manifests);
  return manifests.flatMap(({ path }, at) => {
    const its = found[at];
    return its === undefined ? [] : [{ path, types: decodeFacts(its).types }];
  });
}

function targetIn(
  shard: number,
  { file, symbol, container, name, kind, shard: its }: Place,
): BoundTarget {
  return { symbol: its === shard ? symbol : -1, path: file.path, container, name, kind };
}

/** Named by its content. Also the card of the shard, which says what it wants of others. */
async function written(
  place: IndexPlace,
  shard: ManifestShard,
  writer: BoundCallsWriter,
): Promise<string> {
  const sections = writer.sections();
  const digest = createHash('sha256');
  for (const bytes of Object.values(sections)) digest.update(bytes);
  const file = `${shard.alias}-${shard.version}.${digest.digest('hex').slice(0, 12)}.bound`;
  const path = join(place.segments, file);
  const isThere = await access(path).then(
    () =>
      BoundCalls.open(path).then(
        () => true,
        () => false,
      ),
    () => false,
  );
  if (!isThere) await writeBoundCalls(path, sections);
  const index = await Segment.open(join(place.segments, shard.segment), {}, path);
  await writeCard(cardPath(place, { ...shard, bound: file }), makeCard(index));
  return file;
}
