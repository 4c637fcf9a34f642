import { join } from 'node:path';
import { systemClock } from '../../base/clock.js';
import { asBusError } from '../../errors/bus-error.js';
import type { Embedder } from '../../model/embedder.js';
import { TokenTable } from '../../model/token-table.js';
import type { IndexPlace, Manifest, ManifestShard } from '../manifest.js';
import { Segment } from '../segment.js';
import type { ShardIndex } from '../shard-index.js';
import { CodeCache } from './code-cache.js';
import { Engine, type EngineOptions } from './engine.js';
import { codeBytes, writeCode } from './sign-codes.js';
import { explains, symbolText } from './symbol-text.js';
import { tableFingerprint } from './table-file.js';
import { shortFingerprint, VectorFile, vectorFileName } from './vector-file.js';

/** Texts that are embedded at once; between two batches others have their turn. */
const batchSize = 256;

/** Texts of symbols that are gone are remembered too, for another branch may have them. */
const cachedShare = 2;
const cachedMin = 1_000;

export type VectorRequest = Pick<EngineOptions, 'settings' | 'env'>;

export interface VectorJob {
  place: IndexPlace;
  shards: readonly ManifestShard[];
  before: Manifest | undefined;
  /** SIGMA_HOME. */
  home: string;
  /** Undefined: nobody said what is wanted, and what is there stays. */
  embedding: VectorRequest | undefined;
  signal: AbortSignal;
  progress: (done: number, total: number) => void;
}

type Vectors = NonNullable<ManifestShard['vectors']>;

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
  const maker = new VectorMaker(job, engine, embedder, cache);
  const built: ManifestShard[] = [];
  for (const shard of shards) {
    job.progress(built.length, shards.length);
    built.push(withVectors(shard, await maker.vectorsOf(shard)));
  }
  const symbols = built.reduce((sum, { vectors }) => sum + (vectors?.symbols ?? 0), 0);
  await cache?.trim(cachedShare * symbols + cachedMin);
  return { shards: built, notes: maker.notes() };
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

/** Those that are served of the same shard, when their file is whole. */
async function keptVectors(
  { place, before }: VectorJob,
  { alias, version }: ManifestShard,
  fingerprint?: string,
): Promise<Vectors | undefined> {
  const known = before?.shards.find((each) => each.alias === alias && each.version === version);
  const { vectors } = known ?? {};
  if (vectors === undefined) return undefined;
  // Texts that were made in another way have another name.
  const wanted = vectorFileName({ alias, version }, fingerprint ?? vectors.fingerprint);
  if (vectors.file !== wanted) return undefined;
  const file = await VectorFile.open(join(place.segments, vectors.file)).catch(() => undefined);
  return file?.info.version === version ? vectors : undefined;
}

class VectorMaker {
  readonly #job: VectorJob;
  readonly #engine: Engine;
  readonly #embedder: Embedder;
  readonly #cache: CodeCache | undefined;
  #room: number;
  #leftOut = 0;
  #failure = '';

  constructor(job: VectorJob, engine: Engine, embedder: Embedder, cache: CodeCache | undefined) {
    this.#job = job;
    this.#engine = engine;
    this.#embedder = embedder;
    this.#cache = cache;
    this.#room = engine.symbolsMax;
  }

  async vectorsOf(shard: ManifestShard): Promise<Vectors | undefined> {
    const { fingerprint } = this.#embedder;
    const kept = await keptVectors(this.#job, shard, fingerprint);
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
      // One that does not answer is not asked again for each shard.
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
    const { alias, version, segment } = shard;
    const { place } = this.#job;
    const index = await Segment.open(join(place.segments, segment));
    const { wanted, leftOut } = chosen(index, this.#room);
    let codes = await this.#codesOf(index, wanted);
    // All may have come from the cache.
    const dims = this.#embedder.dims || (this.#cache?.dims ?? 0);
    // The endpoint has changed its dimensions: what the cache gave before it was asked does not fit.
    if (codes.length !== wanted.length * codeBytes(dims))
      codes = await this.#codesOf(index, wanted);
    this.#room -= wanted.length;
    this.#leftOut += leftOut;
    if (wanted.length === 0) return undefined;
    const { fingerprint } = this.#embedder;
    const file = vectorFileName(shard, fingerprint);
    const info = { alias, version, fingerprint, dims };
    await VectorFile.write(join(place.segments, file), info, wanted, codes);
    return { fingerprint, file, symbols: wanted.length, left_out: leftOut };
  }

  async #codesOf(index: ShardIndex, documents: Uint32Array): Promise<Uint8Array> {
    const codes: Uint8Array[] = [];
    for (let from = 0; from < documents.length; from += batchSize) {
      this.#job.signal.throwIfAborted();
      const texts = Array.from(documents.subarray(from, from + batchSize), (document) =>
        this.#engine.fit(symbolText(index, document)),
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

/** What explains, in the order of the documents; where there is no room for all, what is documented comes first. */
function chosen(index: ShardIndex, room: number): { wanted: Uint32Array; leftOut: number } {
  const documented: number[] = [];
  const others: number[] = [];
  for (let symbol = 0; symbol < index.symbolCount; symbol += 1) {
    const outline = index.outline(symbol);
    if (explains(outline)) (outline.documented ? documented : others).push(symbol);
  }
  const all = documented.concat(others);
  const wanted = Uint32Array.from(all.slice(0, Math.max(0, room))).sort();
  return { wanted, leftOut: all.length - wanted.length };
}
