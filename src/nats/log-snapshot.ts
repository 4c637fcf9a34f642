import { randomBytes } from 'node:crypto';
import { BusError } from '../errors/bus-error.js';
import { Contents } from '../store/contents.js';
import { appliedKey, hex64 } from '../store/keys.js';
import type { Layout } from '../store/layout.js';
import { unavailable } from '../store/level-folder.js';
import type { LevelStore } from '../store/level-store.js';
import { stepsOf } from '../store/steps.js';
import { crcOf, decodeEntry, encodeEntry, encodeStep, start, StepReader } from './log-entry.js';
import type { LogStream } from './log-stream.js';
import { positionOf } from './replica.js';

/** Last entry of a snapshot; without it there is none. */
interface Manifest {
  layout: string;
  /** The entry of the log up to which it goes. */
  sequence: number;
  /** Of the snapshot, without this one. */
  messages: number;
  entries: number;
  /** Of keys and values. */
  bytes: number;
  sha256: string;
}

export interface Snapshot {
  subject: string;
  manifest: Manifest;
  /** Message of the manifest. */
  end: number;
}

/**
 * Copies of a replica at one place in the log, each under a subject of its own in a stream beside the log: steps as in the log,
 * then the manifest. Subjects sort by that place, so that the newest is the last one.
 */
export class Snapshots {
  readonly #stream: LogStream;
  readonly #subject: string;
  readonly #layout: string;

  constructor(stream: LogStream, subject: string, layout: Layout) {
    this.#stream = stream;
    this.#subject = subject;
    this.#layout = nameOf(layout);
  }

  /** Writes one of this store as it is now. Throws STORE_UNAVAILABLE; then nothing is left of it. */
  async write(level: LevelStore): Promise<void> {
    // Not later than what the walk below sees.
    const mark = await level.get(appliedKey);
    const least = mark === undefined ? 0 : positionOf(mark).sequence;
    const subject = `${this.#subject}.${hex64(least)}.${randomBytes(4).toString('hex')}`;
    // Of leaders that died; that of one that leads now is newer.
    await this.#remove(subject, await this.whole());
    try {
      await this.#write(level, subject);
    } catch (error) {
      await this.#stream.purge({ subject }).catch(() => undefined);
      throw error;
    }
  }

  async #write(level: LevelStore, subject: string): Promise<void> {
    const contents = new Contents();
    let sequence = 0;
    let messages = 0;
    let crc = start.crc;
    const publish = async (entry: Buffer): Promise<void> => {
      await this.#stream.publish(entry, subject);
      crc = crcOf(entry);
      messages += 1;
    };
    for await (const operations of stepsOf(level)) {
      for (const { key, value } of operations) {
        contents.add(key, value);
        if (key === appliedKey) sequence = positionOf(value).sequence;
      }
      for (const entry of encodeStep(operations, crc, this.#stream.entryBytesMax))
        await publish(entry);
    }
    const { entries, bytes } = contents;
    const manifest: Manifest = {
      ...{ layout: this.#layout, sequence, messages, entries, bytes, sha256: contents.digest() },
    };
    await publish(encodeEntry('end', crc, Buffer.from(JSON.stringify(manifest))));
  }

  /** Those that are whole, newest first. Throws STORE_UNAVAILABLE, STORE_SCHEMA. */
  async whole(): Promise<Snapshot[]> {
    const subjects = [...(await this.#stream.subjects())].sort(([a], [b]) => (a < b ? 1 : -1));
    const found = await Promise.all(subjects.map(([each, count]) => this.#find(each, count)));
    return found.filter((each) => each !== undefined);
  }

  /** Fills an empty store. Throws LOG_CORRUPT, STORE_SCHEMA, STORE_UNAVAILABLE. */
  async restore(
    { subject, manifest, end }: Snapshot,
    level: LevelStore,
    signal: AbortSignal,
  ): Promise<void> {
    const { layout: got, sha256, entries } = manifest;
    const path = this.#stream.name;
    if (got !== this.#layout)
      throw new BusError('STORE_SCHEMA', { path, got, wanted: this.#layout });
    const corrupt = (detail: string): BusError =>
      new BusError('LOG_CORRUPT', { log: path, sequence: manifest.sequence, detail });
    const contents = new Contents();
    const reader = new StepReader(path, start);
    const messages = this.#stream.messages({ from: 1, to: end, subject, signal });
    for await (const { sequence, bytes } of messages) {
      const taken = reader.take(sequence, bytes);
      if (taken === undefined) continue;
      if (taken.kind === 'step') {
        for (const each of taken.operations)
          if (each.type === 'put') contents.add(each.key, each.value);
        await level.write(taken.operations);
        continue;
      }
      if (contents.entries === entries && contents.digest() === sha256) return;
      throw corrupt('the digest or number of entries of the snapshot differs');
    }
    if (signal.aborted) throw unavailable(path, 'it is closed');
    throw corrupt('the snapshot has no end');
  }

  /** Removes all older ones but these, also what was never finished. */
  async keep(kept: readonly Snapshot[]): Promise<void> {
    await this.#remove(kept[0]?.subject ?? '', kept);
  }

  async #remove(before: string, kept: readonly Snapshot[]): Promise<void> {
    const subjects = new Set(kept.map((each) => each.subject));
    for (const subject of (await this.#stream.subjects()).keys())
      if (subject < before && !subjects.has(subject)) await this.#stream.purge({ subject });
  }

  /** Undefined: it is not whole. */
  async #find(subject: string, count: number): Promise<Snapshot | undefined> {
    const last = await this.#stream.read({ last_by_subj: subject });
    if (last === undefined) return undefined;
    try {
      const { kind, body } = decodeEntry(last.bytes, this.#stream.name, last.sequence);
      if (kind !== 'end') return undefined;
      const manifest = JSON.parse(body.toString()) as Manifest;
      return manifest.messages + 1 === count
        ? { subject, manifest, end: last.sequence }
        : undefined;
    } catch (error) {
      if (error instanceof BusError && error.code === 'LOG_CORRUPT') return undefined;
      throw error;
    }
  }
}

export const nameOf = (layout: Layout): string => `${layout.name} ${layout.version}`;
