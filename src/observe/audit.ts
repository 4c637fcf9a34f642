import { Worker } from 'node:worker_threads';
import type { Audit, AuditEntry } from '../base/audit.js';
import { systemClock } from '../base/clock.js';
import { noTrace, type Trace } from '../base/trace.js';
import { within } from '../base/within.js';
import { AuditBatch, batchBodyBytes, type PackedBatch } from './audit-batch.js';
import type { FromWriter, WriterParts } from './audit-writer.js';

/** What may be on its way to the writer; when it cannot keep up, more is not recorded but counted. */
const bytesOutMax = 32 * 1024 * 1024;
/** Buffers kept for the next batches; buffers beyond that are released. */
const sparesMax = 16;
/** Longest time in milliseconds that an entry waits for a batch. */
const waitMsMax = 100;
/** A writer that died is started again no sooner than this. */
const restartMs = 1_000;
const closeMsMax = 5_000;

export interface AuditParts extends Omit<WriterParts, 'isCopied'> {
  /** Gets what is written, with the number of its entries; at once, and must not throw. */
  copyTo?: ((lines: string, count: number) => void) | undefined;
  trace?: Trace;
  /** The compiled writer, where it does not lie beside this file. */
  writer?: URL;
}

/**
 * The audit log: `record` copies its entry into a batch, and a thread of its own does the rest. The
 * bus is never slowed: entries that the disk or the thread cannot take are dropped, counted in `lost`, and marked as
 * a number in the log itself where it is missing.
 */
export class AuditLog implements Audit, AsyncDisposable {
  readonly #parts: AuditParts;
  readonly #trace: Trace;
  readonly #spare: { numbers: ArrayBuffer; bodies: ArrayBuffer }[] = [];
  #worker: Worker | undefined;
  #batch: AuditBatch | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Sizes and counts of what the writer has, oldest first. */
  #out: { bytes: number; count: number }[] = [];
  #bytesOut = 0;
  #taken = 0;
  #lost = 0;
  /** Of these, the ones that no message to the writer has mentioned yet. */
  #unmentioned = 0;
  #trouble = '';
  #restartAtMs = 0;
  #isClosed = false;

  constructor(parts: AuditParts) {
    this.#parts = parts;
    this.#trace = parts.trace ?? noTrace;
  }

  /** Entries that were written, or are on their way. */
  get recorded(): number {
    return this.#taken - this.#lost;
  }

  get lost(): number {
    return this.#lost;
  }

  record(entry: AuditEntry): void {
    if (this.#isClosed) return;
    this.#taken += 1;
    if (this.#batch?.add(entry) === true) return;
    this.#ship();
    this.#batch = this.#open(entry.body.length);
    if (this.#batch?.add(entry) !== true) this.#lose(1);
    this.#timer ??= setTimeout(() => this.#ship(), waitMsMax).unref();
  }

  /** Writes what is waiting, syncs the file and ends the thread; at most five seconds. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#ship();
    this.#isClosed = true;
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.postMessage('close');
    if (!(await within(systemClock, closeMsMax, ended))) await worker.terminate();
  }

  /** Undefined when the writer has as much as it may have. */
  #open(bodyBytes: number): AuditBatch | undefined {
    const bytes = Math.max(bodyBytes, batchBodyBytes);
    if (this.#bytesOut + bytes > bytesOutMax) return undefined;
    const spare = bytes > batchBodyBytes ? undefined : this.#spare.pop();
    return spare === undefined
      ? new AuditBatch(undefined, new ArrayBuffer(bytes))
      : new AuditBatch(spare.numbers, spare.bodies);
  }

  #ship(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#batch;
    this.#batch = undefined;
    // Only a count to report: wait until the writer is free.
    if (batch === undefined && (this.#unmentioned === 0 || this.#out.length > 0)) return;
    const worker = this.#running();
    if (worker === undefined) return this.#lose(batch?.count ?? 0);
    const { bytes, count } = batch ?? { bytes: 0, count: 0 };
    const packed = (batch ?? AuditBatch.empty()).packed(this.#unmentioned);
    this.#unmentioned = 0;
    this.#out.push({ bytes, count });
    this.#bytesOut += bytes;
    worker.postMessage(packed satisfies PackedBatch, [packed.numbers, packed.bodies]);
  }

  #lose(count: number): void {
    this.#lost += count;
    this.#unmentioned += count;
  }

  #running(): Worker | undefined {
    if (this.#worker !== undefined || performance.now() < this.#restartAtMs) return this.#worker;
    const { folder, form, bytesMax, filesMax, copyTo } = this.#parts;
    const isCopied = copyTo !== undefined;
    const workerData: WriterParts = { folder, form, bytesMax, filesMax, isCopied };
    const url = this.#parts.writer ?? new URL('./audit-writer.js', import.meta.url);
    const worker = new Worker(url, { workerData, name: 'audit' });
    worker.unref();
    worker.on('message', (message: FromWriter) => this.#onWritten(message));
    worker.on('error', (error) => this.#onTrouble(error.message));
    worker.on('exit', () => this.#onExit());
    this.#worker = worker;
    return worker;
  }

  #onWritten({ numbers, bodies, lost, trouble, copies }: FromWriter): void {
    for (const { lines, count } of copies) this.#parts.copyTo?.(lines, count);
    this.#bytesOut -= this.#out.shift()?.bytes ?? 0;
    // The writer mentions these itself.
    this.#lost += lost;
    this.#onTrouble(trouble);
    if (bodies.byteLength === batchBodyBytes && this.#spare.length < sparesMax)
      this.#spare.push({ numbers, bodies });
    if (this.#batch === undefined && this.#unmentioned > 0) this.#ship();
  }

  #onTrouble(trouble: string): void {
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    if (trouble === '') this.#trace('info', 'the audit log is written again', { lost: this.#lost });
    else this.#trace('error', 'the audit log cannot be written', { detail: trouble });
  }

  #onExit(): void {
    this.#worker = undefined;
    this.#restartAtMs = performance.now() + restartMs;
    this.#lose(this.#out.reduce((sum, each) => sum + each.count, 0));
    this.#out = [];
    this.#bytesOut = 0;
  }
}
