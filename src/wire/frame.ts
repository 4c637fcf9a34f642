import { traceOf } from '../base/trace-context.js';
import { BusError } from '../errors/bus-error.js';
import { bus } from './codec.js';
import { crc32, crc32Within } from './crc.js';
import {
  envelopeOf,
  envelopeRoom,
  newEnvelope,
  readEnvelope,
  writeEnvelope,
  type Envelope,
  type EnvelopeFields,
} from './envelope.js';
import type { sigma } from './generated/proto.js';

export const Command = bus.Command;
export type Command = sigma.bus.Command;
export { envelopeOf, newEnvelope, type Envelope, type EnvelopeFields };

export const protocolVersion = 1;
export const headBytes = 28;
/** Hard limit of one frame, head included. Larger things travel by content hash. */
export const frameBytesMax = 4 * 1024 * 1024;
/** An envelope holds names and numbers only; more than this is an attack or a bug. */
export const envelopeBytesMax = 16 * 1024;
/** Limits of a batch, in bytes and frames; a larger frame travels alone. */
export const batchBytesMax = 128 * 1024;
export const batchFramesMax = 256;
/** Largest ZeroMQ message of a correct peer. */
export const partBytesMax = frameBytesMax + batchBytesMax;

const magic = 0x4742; // "BG" read as little-endian.

/** One frame. The body is opaque here; the writer of the body computed its checksum. */
export interface Frame {
  readonly command: Command;
  readonly envelope: Envelope;
  readonly body: Buffer;
  readonly bodyCrc: number;
}

/** Where a frame failed. A bad head makes the rest of its part unreadable; any other fault costs one frame. */
export type Corruption = 'head' | 'version' | 'length' | 'envelope' | 'body';
export type Decoded =
  | { ok: true; frame: Frame }
  | { ok: false; corruption: Corruption; id: string; version: number };

const emptyBody = Buffer.alloc(0);

/** A number that is no command reads as UNSPECIFIED, which no table has. */
const commandNumbers: readonly (Command | undefined)[] = Array.from({ length: 256 }, (_, number) =>
  Command[number] === undefined ? undefined : number,
);

/** A frame of our own making, of the trace that its maker works for. */
export function makeFrame(command: Command, fields: EnvelopeFields, body?: Buffer): Frame {
  return frameOf(command, envelopeOf(fields), body);
}

/** The same with an envelope that is its own. */
export function frameOf(command: Command, envelope: Envelope, body: Buffer = emptyBody): Frame {
  if (envelope.trace === '') envelope.trace = traceOf();
  return { command, envelope, body, bodyCrc: crc32(body) };
}

/** The same body under another command and envelope; the sender's checksum stays, end to end. */
export function readdress(frame: Frame, command: Command, envelope: EnvelopeFields): Frame {
  return {
    command,
    envelope: envelopeOf(envelope),
    body: frame.body,
    bodyCrc: frame.bodyCrc,
  };
}

/** The same frame with some fields of its envelope changed. */
export function amend(frame: Frame, fields: EnvelopeFields): Frame {
  return readdress(frame, frame.command, Object.assign({}, frame.envelope, fields));
}

/** Bytes that are room enough for a frame. Throws TOO_LARGE where it is clear without writing it. */
export function frameRoom({ envelope, body }: Frame): number {
  if (headBytes + body.length > frameBytesMax) throw tooLarge('a frame', headBytes + body.length);
  return headBytes + envelopeRoom(envelope) + body.length;
}

/**
 * Writes head | envelope | body at `at`, where there is room for it, and returns where it ends. `view`: of `into`. What it is
 * written to must be sent once and never written again: ZeroMQ sends by reference. Throws TOO_LARGE.
 */
export function writeFrame(frame: Frame, into: Buffer, view: DataView, at: number): number {
  const { body } = frame;
  const envelopeAt = at + headBytes;
  const bodyAt = writeEnvelope(frame.envelope, into, envelopeAt);
  const end = bodyAt + body.length;
  if (end - at > frameBytesMax) throw tooLarge('a frame', end - at);
  if (bodyAt - envelopeAt > envelopeBytesMax) throw tooLarge('an envelope', bodyAt - envelopeAt);
  view.setUint16(at, magic, true);
  view.setUint8(at + 2, protocolVersion);
  view.setUint8(at + 3, frame.command);
  view.setUint32(at + 4, 0, true);
  view.setUint32(at + 8, bodyAt - envelopeAt, true);
  view.setUint32(at + 12, body.length, true);
  view.setUint32(at + 16, crc32Within(into, envelopeAt, bodyAt), true);
  view.setUint32(at + 20, frame.bodyCrc, true);
  view.setUint32(at + 24, crc32Within(into, at, at + 24), true);
  if (body.length > 0) into.set(body, bodyAt);
  return end;
}

/** One frame in a buffer of its own. Throws TOO_LARGE. */
export function encodeFrame(frame: Frame): Buffer {
  const out = Buffer.allocUnsafe(frameRoom(frame));
  return out.subarray(0, writeFrame(frame, out, viewOf(out), 0));
}

export function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

function tooLarge(what: 'a frame' | 'an envelope', bytes: number): BusError {
  const limit = what === 'a frame' ? frameBytesMax : envelopeBytesMax;
  return new BusError('TOO_LARGE', { what, bytes, limit });
}

/** Walks a part. Checks a head, then believes its lengths, then checks the rest. Never throws. */
export class PartReader {
  readonly #part: Buffer;
  readonly #view: DataView;
  #at = 0;
  #frames = 0;

  constructor(part: Buffer) {
    this.#part = part;
    this.#view = viewOf(part);
  }

  /** Undefined: there is no more, or none that can be found. */
  next(): Decoded | undefined {
    const at = this.#at;
    if (at >= this.#part.length) return undefined;
    // A writer never joins more. Endless tiny frames would delay all other peers.
    const fault = this.#frames >= batchFramesMax ? 'length' : this.#checkHead(at);
    if (fault !== undefined) {
      this.#at = this.#part.length;
      const version = fault === 'length' ? protocolVersion : (this.#part[at + 2] ?? 0);
      return { ok: false, corruption: fault, id: '', version };
    }
    this.#frames += 1;
    return this.#read(at);
  }

  #checkHead(at: number): Corruption | undefined {
    const part = this.#part;
    const view = this.#view;
    const available = part.length - at;
    if (available < headBytes) return 'head';
    if (view.getUint32(at + 24, true) !== crc32Within(part, at, at + 24)) return 'head';
    if (view.getUint16(at, true) !== magic || view.getUint32(at + 4, true) !== 0) return 'head';
    if (part[at + 2] !== protocolVersion) return 'version';
    const envelope = view.getUint32(at + 8, true);
    const bytes = headBytes + envelope + view.getUint32(at + 12, true);
    if (envelope > envelopeBytesMax || bytes > frameBytesMax || bytes > available) return 'length';
    return undefined;
  }

  #read(at: number): Decoded {
    const part = this.#part;
    const view = this.#view;
    const envelopeAt = at + headBytes;
    const bodyAt = envelopeAt + view.getUint32(at + 8, true);
    this.#at = bodyAt + view.getUint32(at + 12, true);
    if (view.getUint32(at + 16, true) !== crc32Within(part, envelopeAt, bodyAt))
      return corrupt('envelope', '');
    let envelope: Envelope;
    try {
      envelope = readEnvelope(part, envelopeAt, bodyAt);
    } catch {
      return corrupt('envelope', '');
    }
    const body = this.#at === bodyAt ? emptyBody : part.subarray(bodyAt, this.#at);
    const bodyCrc = view.getUint32(at + 20, true);
    if (bodyCrc !== crc32(body)) return corrupt('body', envelope.id);
    const command = commandNumbers[part[at + 3] as number] ?? Command.UNSPECIFIED;
    return { ok: true, frame: { command, envelope, body, bodyCrc } };
  }
}

export function* decodeFrames(part: Buffer): Generator<Decoded> {
  const reader = new PartReader(part);
  for (let next = reader.next(); next !== undefined; next = reader.next()) yield next;
}

function corrupt(corruption: Corruption, id: string): Decoded {
  return { ok: false, corruption, id, version: protocolVersion };
}

/** The one frame that these bytes must be, as stored on disk or published. Throws FRAME_CORRUPT. */
export function decodeFrame(bytes: Buffer): Frame {
  const all = [...decodeFrames(bytes)];
  const only = all[0];
  if (all.length !== 1 || only === undefined)
    throw new BusError('FRAME_CORRUPT', { part: 'count' });
  if (!only.ok) throw new BusError('FRAME_CORRUPT', { part: only.corruption });
  return only.frame;
}
