import { join } from 'node:path';
import { systemClock } from '../../../base/clock.js';
import { asBusError } from '../../../errors/bus-error.js';
import type { Embedder } from '../../../model/embedder.js';
import { TokenTable } from '../../../model/token-table.js';
import type { IndexPlace, Manifest, ManifestShard } from '../../plan/manifest.js';
import type { ShardIndex } from '../../format/shard-index.js';
import { generators } from '../../overlay/generators.js';
import { CodeCache } from './code-cache.js';
import type { EarlierFiles } from './earlier-codes.js';
import { Engine, type EngineOptions } from './engine.js';
import {
  batchSize,
  codesByTable,
  writeVectors,
  type CodesOf,
  type Vectors,
} from './shard-vectors.js';
import { codeBytes, writeCode } from './sign-codes.js';
import { symbolText } from './symbol-text.js';
import { tableFingerprint } from './table-file.js';
import { shortFingerprint, VectorFile, vectorFileName } from './vector-file.js';
import { VectorThreads } from './vector-threads.js';

/** With less to do, a thread has hardly started when all is done. */
const itemsPerThreadMin = 50_000;

/** Texts of symbols that are gone are remembered too, for another branch may have them. */
const cachedShare = 2;
const cachedMin = 1_000;

export type VectorRequest = Pick<EngineOptions, 'settings' | 'env' | 'model'>;

interface VectorJob {
  place: IndexPlace;
  shards: readonly ManifestShard[];
  before: Manifest | undefined;
  /** SIGMA_HOME. */
  home: string;
  /** Undefined: the run has no settings for vectors, and those of the index stay. */
  embedding: VectorRequest | undefined;
  signal: AbortSignal;
  progress: (done: number, total: number) => void;
  /** Threads that make vectors with a table, at most; below 2: this thread does. */
  threads: number;
  /** Symbols that a thread is started for, and its module: tests set both. */
  itemsPerThread?: number;
  worker?: URL;
}

interface Refreshed {
  shards: ManifestShard[];
  /** Why there are none, or not of all, in sentences. */
  notes: string[];
}

/**
 * Vectors of what explains in each shard, made anew where the shard or the embedder is another one. Without
 * an embedder, and where it fails, the index is whole without them: the notes say so.
 * Throws STORE_UNAVAILABLE, INDEX_CORRUPT, the reason of the signal.
 */
export async function refreshVectors(job: VectorJob): Promise<Refreshed> {
  const { embedding, home, signal } = job;
  if (embedding === undefined) return { shards: await keptIn(job), notes: [] };
  if (embedding.settings === 'auto') {
    const kept = await keptIn(job, tableFingerprint);
    // The table is read when something is to be made.
    if (kept.every(({ vectors }) => vectors !== undefined)) return { shards: kept, notes: [] };
  }
  await using engine = await Engine.open({ ...embedding, home, derives: true, signal });
  const { embedder, lack } = engine;
  if (embedder !== undefined) return await builtBy(job, engine, embedder);
  if (lack === '') return { shards: job.shards.map((shard) => withVectors(shard)), notes: [] };
  return { shards: await keptIn(job), notes: [lackNote(lack)] };
}

async function builtBy(job: VectorJob, engine: Engine, embedder: Embedder): Promise<Refreshed> {
  const { place, shards } = job;
  const cache = await cacheOf(place, embedder);
  const kept = new Map<ManifestShard, Vectors | undefined>();
  for (const shard of shards) kept.set(shard, await keptVectors(job, shard, embedder.fingerprint));
  const ahead =
    embedder instanceof TokenTable ? await madeAhead(job, kept, engine.symbolsMax) : undefined;
  const maker = new VectorMaker(job, engine, embedder, cache, { kept, ahead });
  const built: ManifestShard[] = [];
  for (const shard of shards) {
    job.progress(built.length, shards.length);
    built.push(withVectors(shard, await maker.vectorsOf(shard)));
  }
  const symbols = built.reduce((sum, { vectors }) => sum + (vectors?.symbols ?? 0), 0);
  await cache?.trim(cachedShare * symbols + cachedMin);
  return { shards: built, notes: maker.notes() };
}

/**
 * Makes missing vectors with several threads. Each shard is made as if it had all the room alone, which is true but
 * for the largest trees. Undefined where one thread is enough.
 */
async function madeAhead(
  job: VectorJob,
  kept: ReadonlyMap<ManifestShard, Vectors | undefined>,
  room: number,
): Promise<ReadonlyMap<string, Vectors> | undefined> {
  const { place, shards, home, signal, progress, threads } = job;
  const { itemsPerThread = itemsPerThreadMin, worker } = job;
  const missing = shards.filter((shard) => (kept.get(shard)?.left_out ?? 1) > 0);
  // A shard with codes of an earlier version has little left to make.
  const anew = missing.filter((shard) => earlierOf(job, shard) === undefined);
  const items = anew.reduce((sum, { items: its }) => sum + (its.O1 ?? 0), 0);
  const worth = Math.min(threads, anew.length, Math.floor(items / itemsPerThread));
  if (worth < 2) return undefined;
  await using workers = new VectorThreads(worth, home, worker);
  const made = new Map<string, Vectors>();
  const orders = anew.map(({ alias, version, segment }) => ({
    ...{ segments: place.segments, shard: { alias, version, segment }, room },
  }));
  try {
    await workers.all(orders, signal, ({ shard }, vectors) => {
      progress(made.size, shards.length);
      made.set(shard.alias, vectors);
    });
  } catch {
    // This thread makes the rest, and reports the error if it meets it as well.
    signal.throwIfAborted();
  }
  return made;
}

/** Files of the shard that was served before, if a table of today would make the same vectors of it. */
function earlierOf({ before }: VectorJob, { alias }: ManifestShard): EarlierFiles | undefined {
  const known = before?.shards.find((each) => each.alias === alias);
  const { vectors, segment, overlays } = known ?? {};
  if (known === undefined || segment === undefined || vectors === undefined) return undefined;
  const isAsToday =
    overlays?.O1?.version === generators.O1.version &&
    vectors.file === vectorFileName(known, tableFingerprint);
  return isAsToday ? { segment, vectors: vectors.file } : undefined;
}

async function keptIn(job: VectorJob, fingerprint?: string): Promise<ManifestShard[]> {
  const kept: ManifestShard[] = [];
  for (const shard of job.shards)
    kept.push(withVectors(shard, await keptVectors(job, shard, fingerprint)));
  return kept;
}

/** A table makes them again faster than they are read. */
async function cacheOf(place: IndexPlace, embedder: Embedder): Promise<CodeCache | undefined> {
  if (embedder instanceof TokenTable) return undefined;
  return CodeCache.open(join(place.folder, `${shortFingerprint(embedder.fingerprint)}.codes`));
}

function lackNote(lack: string): string {
  return `search by meaning: ${lack}; sigma doctor tells more`;
}

function withVectors(shard: ManifestShard, vectors?: Vectors): ManifestShard {
  const { vectors: _, ...rest } = shard;
  return vectors === undefined ? rest : { ...rest, vectors };
}

/** Vectors that are served of the same shard, when their file is whole. */
async function keptVectors(
  { place, before }: VectorJob,
  { alias, version }: ManifestShard,
  fingerprint?: string,
): Promise<Vectors | undefined> {
  const known = before?.shards.find((each) => each.alias === alias && each.version === version);
  const { vectors } = known ?? {};
  if (vectors === undefined) return undefined;
  // The name of the file changes with the recipe of the texts.
  const wanted = vectorFileName({ alias, version }, fingerprint ?? vectors.fingerprint);
  if (vectors.file !== wanted) return undefined;
  const file = await VectorFile.open(join(place.segments, vectors.file)).catch(() => undefined);
  return file?.info.version === version ? vectors : undefined;
}

/** Vectors that exist: of the run before, and of threads, by the alias of the shard. */
interface Present {
  kept: ReadonlyMap<ManifestShard, Vectors | undefined>;
  ahead: ReadonlyMap<string, Vectors> | undefined;
}

class VectorMaker {
  readonly #present: Present;
  readonly #job: VectorJob;
  readonly #engine: Engine;
  readonly #embedder: Embedder;
  readonly #cache: CodeCache | undefined;
  #room: number;
  #leftOut = 0;
  #failure = '';

  constructor(
    job: VectorJob,
    engine: Engine,
    embedder: Embedder,
    cache: CodeCache | undefined,
    present: Present,
  ) {
    this.#present = present;
    this.#job = job;
    this.#engine = engine;
    this.#embedder = embedder;
    this.#cache = cache;
    this.#room = engine.symbolsMax;
  }

  async vectorsOf(shard: ManifestShard): Promise<Vectors | undefined> {
    const kept = this.#present.kept.get(shard);
    if (kept !== undefined && (kept.left_out === 0 || this.#room <= kept.symbols)) {
      this.#room = Math.max(0, this.#room - kept.symbols);
      this.#leftOut += kept.left_out;
      return kept;
    }
    if (this.#failure !== '') return kept;
    try {
      return await this.#made(shard);
    } catch (error) {
      this.#job.signal.throwIfAborted();
      const { code, message } = asBusError(error);
      if (!code.startsWith('EMBEDDING_')) throw error;
      // An endpoint that does not answer is not asked again for each shard.
      this.#failure = message;
      return kept;
    }
  }

  notes(): string[] {
    const { symbolsMax } = this.#engine;
    return [
      ...(this.#failure === '' ? [] : [lackNote(`${this.#failure}; the next run tries again`)]),
      ...(this.#leftOut === 0
        ? []
        : [`${this.#leftOut} symbols have no vector: symbolsMax of embedding is ${symbolsMax}`]),
    ];
  }

  async #made(shard: ManifestShard): Promise<Vectors | undefined> {
    const made =
      this.#embedder instanceof TokenTable
        ? await this.#byTable(shard, this.#embedder)
        : await this.#byTexts(shard);
    this.#room -= made.symbols;
    this.#leftOut += made.left_out;
    return made.symbols === 0 ? undefined : made;
  }

  async #byTable(shard: ManifestShard, table: TokenTable): Promise<Vectors> {
    const made = this.#present.ahead?.get(shard.alias);
    if (made !== undefined && made.symbols <= this.#room) return made;
    const pause = async (): Promise<void> => {
      this.#job.signal.throwIfAborted();
      await systemClock.turn();
    };
    return this.#write(shard, codesByTable(table, pause));
  }

  #byTexts(shard: ManifestShard): Promise<Vectors> {
    return this.#write(shard, async (index, symbols) => {
      const codes = await this.#codesOf(index, symbols);
      // All may have come from the cache.
      const dims = this.#embedder.dims || (this.#cache?.dims ?? 0);
      const isFitting = codes.length === symbols.length * codeBytes(dims);
      // The endpoint has changed its dimensions: what the cache gave before it was asked does not fit.
      return { codes: isFitting ? codes : await this.#codesOf(index, symbols), dims };
    });
  }

  #write(shard: ManifestShard, codesOf: CodesOf): Promise<Vectors> {
    const { segments } = this.#job.place;
    const isByTable = this.#embedder.fingerprint === tableFingerprint;
    const earlier = isByTable ? earlierOf(this.#job, shard) : undefined;
    const order = { segments, shard, room: this.#room, earlier };
    return writeVectors(order, this.#embedder.fingerprint, codesOf);
  }

  async #codesOf(index: ShardIndex, documents: Uint32Array): Promise<Uint8Array> {
    const codes: Uint8Array[] = [];
    for (let from = 0; from < documents.length; from += batchSize) {
      this.#job.signal.throwIfAborted();
      const texts = Array.from(documents.subarray(from, from + batchSize), (document) =>
        symbolText(index, document, (text) => this.#engine.fit(text)),
      );
      codes.push(...(await this.#codesOfTexts(texts)));
      await systemClock.turn();
    }
    return Buffer.concat(codes);
  }

  async #codesOfTexts(texts: readonly string[]): Promise<Uint8Array[]> {
    const known = texts.map((text) => this.#cache?.get(text));
    const missing = [...new Set(texts.filter((_, at) => known[at] === undefined))];
    const vectors = await this.#embedder.embed(missing, this.#job.signal);
    const made = new Map(
      missing.map((text, at) => {
        const vector = vectors[at] ?? new Float32Array();
        const code = new Uint8Array(codeBytes(vector.length));
        writeCode(vector, code, 0);
        return [text, code] as const;
      }),
    );
    const entries = [...made].map(([text, code]) => ({ text, code }));
    await this.#cache?.add(entries, this.#embedder.dims);
    return texts.map((text, at) => known[at] ?? made.get(text) ?? new Uint8Array());
  }
}
