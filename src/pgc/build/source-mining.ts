import { availableParallelism } from 'node:os';
import { BusError } from '../../errors/bus-error.js';
import { ownerOf, type PlannedShard } from '../plan/planned-shards.js';
import type { FactStore } from '../mine/fact-store.js';
import type { SeenTree } from './seen-tree.js';
import type { RulesInForce } from '../mine/items/rules-in-force.js';
import { MinerPool } from '../mine/pool.js';
import { SpreadMiners, type FarMiners } from '../mine/spread.js';
import type { RunBudget } from './run-budget.js';
import type { FileRow } from '../format/shard-index.js';
import type { LeftOut, ReadableTree, SourceFile } from '../source/source-tree.js';

/** More parsers would wait for the one thread that reads and writes. */
export const jobsMax = 8;
/** Sources in memory per miner: one being mined and one ready. */
const sourcesPerJob = 2;
/** Above this many failures, the worker is broken rather than the files. */
const minerFailuresMax = 16;
/** Files between two progress reports. */
const progressStep = 64;

export interface IndexProgress {
  phase: 'list' | 'mine' | 'write' | 'history' | 'publish' | 'pull';
  done: number;
  total: number;
  /** Lines read so far. */
  lines: number;
}

export interface MiningRequest {
  /** Worker threads; 0: mine in this thread. */
  jobs?: number;
  onProgress?: (progress: IndexProgress) => void;
  signal?: AbortSignal;
  /** Others that mine for this run. */
  far?: FarMiners | undefined;
  budget: RunBudget;
}

type Miners = Pick<MinerPool, 'mine'>;

/** The part of an index run that lists, reads and mines. */
export class SourceMining implements AsyncDisposable {
  readonly leftOut: LeftOut[] = [];
  /** What the user should know about the run. */
  readonly notes: string[] = [];
  mined = 0;
  readonly #tree: ReadableTree;
  readonly #facts: FactStore;
  readonly #request: MiningRequest;
  readonly #rules: RulesInForce;
  readonly #seen: SeenTree | undefined;
  #lines = 0;
  #failures = 0;
  /** Files with facts, old or new. */
  #read = 0;
  /** The miners for facts that must be mined a second time. */
  #again: MinerPool | undefined;

  /** `seen`: by the last run, so that it need not be read again; undefined for a revision, which has no files on disk. */
  constructor(
    tree: ReadableTree,
    facts: FactStore,
    request: MiningRequest,
    rules: RulesInForce,
    seen: SeenTree | undefined,
  ) {
    this.#tree = tree;
    this.#facts = facts;
    this.#request = request;
    this.#rules = rules;
    this.#seen = seen;
  }

  /** Threads that mine: as requested, or one per processor, if memory suffices; 0: this one. */
  get jobs(): number {
    const wanted = Math.min(this.#request.jobs ?? availableParallelism(), jobsMax);
    return this.#request.budget.jobs(wanted);
  }

  /** Threads that write shards; 0: this one. */
  get writers(): number {
    return this.#request.budget.writers(this.jobs);
  }

  /** JavaScript heap for each thread that writes shards. */
  get writerHeapMegabytes(): number {
    return this.#request.budget.writerHeapMegabytes(this.writers);
  }

  async list(explicit: readonly PlannedShard[] | undefined): Promise<SourceFile[]> {
    this.progress('list', 0, 0);
    const { files, leftOut, note } = await (this.#seen ?? this.#tree).list();
    if (note !== '') this.notes.push(note);
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

  /** In their order, which is that of the paths. */
  async mine(files: readonly SourceFile[]): Promise<FileRow[]> {
    const { jobs } = this;
    const { budget, far } = this.#request;
    const heapMegabytes = budget.heapMegabytes(jobs);
    await using pool = new MinerPool(jobs, { rules: this.#rules, heapMegabytes });
    const { digests } = this.#rules;
    const spread = far && new SpreadMiners({ own: pool, jobs, far, digests });
    const miners: Miners = spread ?? pool;
    const rows: (FileRow | undefined)[] = [];
    const queue = files.entries();
    let done = 0;
    let isBroken = false;
    const work = async (): Promise<void> => {
      for (const [at, file] of queue) {
        if (isBroken) return;
        this.throwIfAborted();
        // Before asking for memory, which takes longer than finding out that a file is unchanged.
        const known = this.#recalled(file.path);
        if (known === undefined) await budget.admit(pool);
        rows[at] = known === undefined ? await this.#mineOne(miners, file) : this.#settled(known);
        done += 1;
        if (done % progressStep === 0) this.progress('mine', done, files.length);
      }
    };
    const lanes = Math.max(jobs, 1) * sourcesPerJob + (far?.places ?? 0);
    const readers = Array.from({ length: lanes }, () =>
      work().catch((error: unknown) => {
        isBroken = true;
        throw error;
      }),
    );
    const outcomes = await Promise.allSettled(readers);
    // Mined facts are kept, even after an interrupt.
    await this.#facts.flush();
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    this.progress('mine', files.length, files.length);
    for (const [by, count] of spread?.shares ?? []) this.notes.push(`${by} mined ${count} files`);
    return rows.filter((row) => row !== undefined);
  }

  /** The text of a file as it was mined; undefined: it has changed since, or is not there. */
  async textOf({ path, language, blob }: FileRow): Promise<string | undefined> {
    const source = await this.#tree.read({ path, language });
    return 'reason' in source || source.blob !== blob
      ? undefined
      : Buffer.from(source.bytes).toString();
  }

  /**
   * Mines those of which no facts are stored: lost ones, and those of an index that was pulled without them. Throws as
   * `mineAgain`.
   */
  async complete(files: readonly FileRow[]): Promise<void> {
    const lost: FileRow[] = [];
    for (const file of files) if (!(await this.#facts.has(file))) lost.push(file);
    if (lost.length === 0) return;
    const jobs = Math.min(this.jobs, lost.length);
    const { budget } = this.#request;
    const heapMegabytes = budget.heapMegabytes(jobs);
    await using pool = new MinerPool(jobs, { rules: this.#rules, heapMegabytes });
    const queue = lost.values();
    const readers = Array.from({ length: Math.max(jobs, 1) * sourcesPerJob }, async () => {
      for (const file of queue) {
        this.throwIfAborted();
        await budget.admit(pool);
        await this.#mineKnown(pool, file);
      }
    });
    const outcomes = await Promise.allSettled(readers);
    await this.#facts.flush();
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  /** Mines a file again whose facts were damaged. Throws MINER_FAILED when the file has changed since. */
  async mineAgain(file: FileRow): Promise<Buffer> {
    const jobs = Math.min(this.#request.jobs ?? 1, 1);
    this.#again ??= new MinerPool(jobs, { rules: this.#rules });
    const facts = await this.#mineKnown(this.#again, file);
    await this.#facts.flush();
    return facts;
  }

  async #mineKnown(pool: MinerPool, file: FileRow): Promise<Buffer> {
    const { path, language, blob } = file;
    const source = await this.#tree.read(file);
    if ('reason' in source || source.blob !== blob) {
      const detail = 'its facts are lost, and the file has changed since';
      throw new BusError('MINER_FAILED', { path, detail });
    }
    const facts = Buffer.from(await pool.mine(language, source.bytes));
    await this.#facts.put({ language, blob }, facts);
    this.mined += 1;
    return facts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#again?.close();
  }

  progress(phase: IndexProgress['phase'], done: number, total: number): void {
    this.#request.onProgress?.({ phase, done, total, lines: this.#lines });
  }

  /** Throws INTERRUPTED, or the error of a spent budget. */
  throwIfAborted(): void {
    const { signal } = this.#request;
    if (signal?.aborted !== true) return;
    throw signal.reason instanceof BusError ? signal.reason : new BusError('INTERRUPTED');
  }

  /** The last result for an unchanged file whose facts are still stored. */
  #recalled(path: string): FileRow | LeftOut | undefined {
    const known = this.#seen?.recall(path);
    return known !== undefined && ('reason' in known || this.#trustsSeen) ? known : undefined;
  }

  async #mineOne(miners: Miners, file: SourceFile): Promise<FileRow | undefined> {
    const source = await this.#tree.read(file);
    if ('reason' in source) return this.#settled(source);
    const { path, language, blob, lines, bytes } = source;
    if (!(await this.#hasFacts({ language, blob }))) {
      let facts: Uint8Array;
      try {
        facts = await miners.mine(language, bytes);
      } catch (error) {
        this.#failures += 1;
        this.leftOut.push({ path, reason: 'miner failed' });
        // Some files crash a parser. Only when most files fail is the worker itself broken.
        if (this.#failures < minerFailuresMax || this.#failures < this.#read) return undefined;
        const detail = error instanceof Error ? error.message : String(error);
        throw new BusError('MINER_FAILED', { path, detail }, { cause: error });
      }
      this.mined += 1;
      await this.#facts.put(
        { language, blob },
        Buffer.from(facts.buffer, facts.byteOffset, facts.byteLength),
      );
    }
    return this.#settled({ path, language, blob, lines });
  }

  /** What was seen has facts, or does not need any. */
  get #trustsSeen(): boolean {
    return !this.#facts.isNew || this.#seen?.lacksFacts === true;
  }

  /** Facts that are lost all the same are mined again where they are needed. */
  async #hasFacts(of: Pick<FileRow, 'language' | 'blob'>): Promise<boolean> {
    return (this.#trustsSeen && this.#seen?.hasSeen(of) === true) || this.#facts.has(of);
  }

  #settled(known: FileRow | LeftOut): FileRow | undefined {
    this.#seen?.note(known);
    if ('reason' in known) {
      this.leftOut.push(known);
      return undefined;
    }
    this.#lines += known.lines;
    this.#read += 1;
    return known;
  }
}
