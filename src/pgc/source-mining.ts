import { availableParallelism } from 'node:os';
import { BusError } from '../errors/bus-error.js';
import { ownerOf, type PlannedShard } from './shard-plan.js';
import type { FactStore } from './fact-store.js';
import { MinerPool } from './miners/pool.js';
import type { FileRow } from './shard-index.js';
import type { LeftOut, ReadableTree, SourceFile } from './source-tree.js';

/** More parsers than this wait for the one thread that reads and writes. */
export const jobsMax = 8;
/** Sources in memory at once, per miner: one that is mined and one that is ready. */
const sourcesPerJob = 2;
/** A broken worker must not become an index without files. */
const minerFailuresMax = 16;
/** Progress is told this often, in files. */
const progressStep = 64;

export interface IndexProgress {
  phase: 'list' | 'mine' | 'write';
  done: number;
  total: number;
  /** Lines read so far. */
  lines: number;
}

export interface MiningRequest {
  /** Worker threads; 0 mines in this thread. */
  jobs?: number;
  onProgress?: (progress: IndexProgress) => void;
  signal?: AbortSignal;
}

/** The part of one index run that lists, reads and mines. */
export class SourceMining {
  readonly leftOut: LeftOut[] = [];
  mined = 0;
  readonly #tree: ReadableTree;
  readonly #facts: FactStore;
  readonly #request: MiningRequest;
  #lines = 0;
  #failures = 0;

  constructor(tree: ReadableTree, facts: FactStore, request: MiningRequest) {
    this.#tree = tree;
    this.#facts = facts;
    this.#request = request;
  }

  async list(explicit: readonly PlannedShard[] | undefined): Promise<SourceFile[]> {
    this.progress('list', 0, 0);
    const { files, leftOut } = await this.#tree.list();
    for (const each of leftOut) this.leftOut.push(each);
    this.throwIfAborted();
    const owner = explicit === undefined ? undefined : ownerOf(explicit);
    const wanted: SourceFile[] = [];
    for (const file of files) {
      if (owner === undefined || owner(file.path) !== undefined) wanted.push(file);
      else this.leftOut.push({ path: file.path, reason: 'outside the plan' });
    }
    this.progress('list', wanted.length, wanted.length);
    return wanted;
  }

  /** In order of the paths. */
  async mine(files: readonly SourceFile[]): Promise<FileRow[]> {
    const jobs = Math.min(this.#request.jobs ?? availableParallelism(), jobsMax);
    await using pool = new MinerPool(jobs);
    const rows: FileRow[] = [];
    const queue = files.values();
    let done = 0;
    let isBroken = false;
    const work = async (): Promise<void> => {
      for (const file of queue) {
        if (isBroken) return;
        this.throwIfAborted();
        const row = await this.#mineOne(pool, file);
        if (row !== undefined) rows.push(row);
        done += 1;
        if (done % progressStep === 0) this.progress('mine', done, files.length);
      }
    };
    const readers = Array.from({ length: Math.max(jobs, 1) * sourcesPerJob }, () =>
      work().catch((error: unknown) => {
        isBroken = true;
        throw error;
      }),
    );
    const outcomes = await Promise.allSettled(readers);
    // What was mined is kept, also when the run was interrupted.
    await this.#facts.flush();
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    this.progress('mine', files.length, files.length);
    return rows.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  progress(phase: IndexProgress['phase'], done: number, total: number): void {
    this.#request.onProgress?.({ phase, done, total, lines: this.#lines });
  }

  throwIfAborted(): void {
    if (this.#request.signal?.aborted === true) throw new BusError('INTERRUPTED');
  }

  async #mineOne(pool: MinerPool, file: SourceFile): Promise<FileRow | undefined> {
    const source = await this.#tree.read(file);
    if ('reason' in source) {
      this.leftOut.push(source);
      return undefined;
    }
    const { path, language, blob, lines, bytes } = source;
    if (!this.#facts.has({ language, blob })) {
      let facts: Uint8Array;
      try {
        facts = await pool.mine(language, bytes);
      } catch (error) {
        this.#failures += 1;
        this.leftOut.push({ path, reason: 'miner failed' });
        // Some files kill a parser; only a worker that fails at most of them is itself broken.
        if (this.#failures < minerFailuresMax || this.#failures < this.mined) return undefined;
        const detail = error instanceof Error ? error.message : String(error);
        throw new BusError('MINER_FAILED', { path, detail }, { cause: error });
      }
      this.mined += 1;
      await this.#facts.put(
        { language, blob },
        Buffer.from(facts.buffer, facts.byteOffset, facts.byteLength),
      );
    }
    this.#lines += lines;
    return { path, language, blob, lines };
  }
}
