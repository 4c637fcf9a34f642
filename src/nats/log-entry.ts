import { BusError } from '../errors/bus-error.js';
import type { Operation } from '../store/port.js';
import { crc32 } from '../wire/crc.js';

/**
 * One message of the stream. A step is one entry, or several whose last one is marked. Each entry names the checksum of the entry
 * before it, so that a replica finds out at once when the log is not the one that it has followed.
 *
 *     version 1 · kind 1 · checksum of the entry before 4 · body · checksum of all this 4
 */
const version = 1;
const headBytes = 6;
const crcBytes = 4;
export const entryOverheadBytes = headBytes + crcBytes;

export type EntryKind = keyof typeof kinds;
const kinds = {
  /** More of the same step follows. */
  part: 0,
  last: 1,
  /** Another process writes from here on; a step before it that has no end is void. */
  lead: 2,
  /** Closes a snapshot. */
  end: 3,
} as const;
const kindNames = Object.keys(kinds) as EntryKind[];

/** Where a reader or writer of a log is. */
export interface Position {
  sequence: number;
  /** Checksum of that entry; 0: there is none. */
  crc: number;
}
export const start: Position = { sequence: 0, crc: 0 };

export interface Entry {
  kind: EntryKind;
  previous: number;
  body: Buffer;
  crc: number;
}

export function encodeEntry(kind: EntryKind, previous: number, body: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(entryOverheadBytes + body.length);
  bytes[0] = version;
  bytes[1] = kinds[kind];
  bytes.writeUInt32BE(previous, 2);
  bytes.set(body, headBytes);
  const end = headBytes + body.length;
  bytes.writeUInt32BE(crc32(bytes.subarray(0, end)), end);
  return bytes;
}

/** Checksum of an encoded entry. */
export const crcOf = (entry: Buffer): number => entry.readUInt32BE(entry.length - crcBytes);

/** Throws LOG_CORRUPT, and STORE_SCHEMA for an entry of a newer program. `sequence` is for the message. */
export function decodeEntry(bytes: Buffer, log: string, sequence: number): Entry {
  const corrupt = (detail: string): BusError =>
    new BusError('LOG_CORRUPT', { log, sequence, detail });
  if (bytes.length < entryOverheadBytes) throw corrupt('it is too short');
  const end = bytes.length - crcBytes;
  const crc = bytes.readUInt32BE(end);
  if (crc32(bytes.subarray(0, end)) !== crc) throw corrupt('its checksum differs');
  const its = bytes[0] as number;
  if (its !== version)
    throw new BusError('STORE_SCHEMA', { path: log, got: `log ${its}`, wanted: `log ${version}` });
  const kind = kindNames[bytes[1] as number];
  if (kind === undefined) throw corrupt(`its kind ${bytes[1]} is unknown`);
  return { kind, previous: bytes.readUInt32BE(2), body: bytes.subarray(headBytes, end), crc };
}

export const writerBytes = 8;

/** Who writes from here on, and what kind of store. */
export interface Lead {
  writer: Buffer;
  layout: string;
}

export const encodeLead = ({ writer, layout }: Lead): Buffer =>
  Buffer.concat([writer, Buffer.from(layout)]);

export const decodeLead = (body: Buffer): Lead => ({
  writer: body.subarray(0, writerBytes),
  layout: body.subarray(writerBytes).toString(),
});

/** The entries of one step, in order, each of at most `bytesMax`. */
export function* encodeStep(
  operations: readonly Operation[],
  previous: number,
  bytesMax: number,
): Generator<Buffer, void> {
  const step = encodeOperations(operations);
  const partBytes = bytesMax - entryOverheadBytes;
  let crc = previous;
  for (let at = 0; at < step.length; at += partBytes) {
    const kind = at + partBytes < step.length ? 'part' : 'last';
    const entry = encodeEntry(kind, crc, step.subarray(at, at + partBytes));
    crc = crcOf(entry);
    yield entry;
  }
}

/** Each: 0 or 1 for a value · length of the key 4 · key · length of the value 4 · value. */
function encodeOperations(operations: readonly Operation[]): Buffer {
  let bytes = 0;
  for (const each of operations)
    bytes += 5 + Buffer.byteLength(each.key) + (each.type === 'put' ? 4 + each.value.length : 0);
  const step = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const each of operations) {
    step[at] = each.type === 'put' ? 1 : 0;
    const keyBytes = step.write(each.key, at + 5);
    step.writeUInt32BE(keyBytes, at + 1);
    at += 5 + keyBytes;
    if (each.type === 'del') continue;
    step.writeUInt32BE(each.value.length, at);
    step.set(each.value, at + 4);
    at += 4 + each.value.length;
  }
  return step;
}

/** Throws a RangeError for bytes that are no operations. */
function decodeOperations(step: Buffer): Operation[] {
  const operations: Operation[] = [];
  let at = 0;
  const take = (): Buffer => {
    const begin = at + 4;
    at = begin + step.readUInt32BE(at);
    if (at > step.length) throw new RangeError('a length points behind its end');
    return step.subarray(begin, at);
  };
  while (at < step.length) {
    const hasValue = step.readUInt8(at);
    at += 1;
    if (hasValue > 1) throw new RangeError(`its operation ${hasValue} is unknown`);
    const key = take().toString();
    operations.push(hasValue === 1 ? { type: 'put', key, value: take() } : { type: 'del', key });
  }
  return operations;
}

/** What an entry means, when all of it is there. */
export type Taken =
  | { kind: 'step'; operations: Operation[] }
  | { kind: 'lead' | 'end'; body: Buffer };

/** Joins the entries of a log, in order, to whole steps. */
export class StepReader {
  /** Of the last entry that was taken. */
  position: Position;
  readonly #log: string;
  #parts: Buffer[] = [];

  constructor(log: string, position: Position) {
    this.#log = log;
    this.position = position;
  }

  /** Undefined: more of the step follows. Throws LOG_CORRUPT, STORE_SCHEMA; then nothing was taken. */
  take(sequence: number, bytes: Buffer): Taken | undefined {
    const { kind, previous, body, crc } = decodeEntry(bytes, this.#log, sequence);
    // One that leads may not know what it stands behind.
    const isAnywhere = kind === 'lead' && previous === start.crc;
    if (previous !== this.position.crc && !isAnywhere)
      throw this.#corrupt(sequence, 'it does not follow the entry before it');
    let taken: Taken | undefined;
    if (kind === 'last') taken = { kind: 'step', operations: this.#step(sequence, body) };
    else if (kind !== 'part') taken = { kind, body };
    if (taken === undefined) this.#parts.push(body);
    else this.#parts = [];
    this.position = { sequence, crc };
    return taken;
  }

  #step(sequence: number, last: Buffer): Operation[] {
    try {
      return decodeOperations(
        this.#parts.length === 0 ? last : Buffer.concat([...this.#parts, last]),
      );
    } catch (error) {
      throw this.#corrupt(sequence, error instanceof Error ? error.message : String(error), error);
    }
  }

  #corrupt(sequence: number, detail: string, cause?: unknown): BusError {
    return new BusError('LOG_CORRUPT', { log: this.#log, sequence, detail }, { cause });
  }
}
