import { traceOf } from '../base/trace-context.js';
import { BusError } from '../errors/bus-error.js';
import { bus } from './codec.js';
import { crc32 } from './crc.js';
import type { sigma } from './generated/proto.js';

export const Command = bus.Command;
export type Command = sigma.bus.Command;
export type Envelope = InstanceType<typeof bus.Envelope>;
export type EnvelopeFields = Partial<Omit<Envelope, 'toJSON' | '$unknowns'>>;

export const protocolVersion = 1;
export const headBytes = 28;
/** Hard limit of one frame, head included. Larger things travel by content hash. */
export const frameBytesMax = 4 * 1024 * 1024;
/** An envelope holds names and numbers only; more than this is an attack or a bug. */
export const envelopeBytesMax = 16 * 1024;
/** Limits of a batch, in bytes and frames; a larger frame travels alone. */
export const batchBytesMax = 64 * 1024;
/** The first of several parts is smaller: the receiver works on it while the rest is written. */
const firstBatchBytesMax = 32 * 1024;
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
const commandNumbers: ReadonlyMap<number, Command> = new Map(
  Object.values(Command)
    .filter((each): each is Command => typeof each === 'number')
    .map((each) => [each, each]),
);

/**
 * Field by field, so that all envelopes have one hidden class: `Envelope.create` copies by computed keys,
 * and every set of fields makes a class of its own, with which encoding slows down as well. A literal,
 * because one made by the constructor grows its room three fields at a time.
 */
function envelopeOf(fields: EnvelopeFields): Envelope {
  const envelope: Omit<Envelope, 'toJSON'> = {
    id: fields.id ?? '',
    from: fields.from ?? '',
    to: fields.to ?? '',
    reply_to: fields.reply_to ?? '',
    correlation: fields.correlation ?? '',
    more: fields.more ?? false,
    deadline_ms: fields.deadline_ms ?? 0,
    attempt: fields.attempt ?? 0,
    trace: fields.trace ?? '',
    type: fields.type ?? '',
    seq: fields.seq ?? 0,
    durable: fields.durable ?? false,
    order_key: fields.order_key ?? '',
    delay_ms: fields.delay_ms ?? 0,
    ttl_ms: fields.ttl_ms ?? 0,
    stored_ms: fields.stored_ms ?? 0,
    after: fields.after ?? '',
  };
  return envelope as Envelope;
}

/** A frame of our own making, of the trace that its maker works for. */
export function makeFrame(
  command: Command,
  envelope: EnvelopeFields,
  body: Buffer = emptyBody,
): Frame {
  const made = envelopeOf(envelope);
  if (made.trace === '') made.trace = traceOf();
  return { command, envelope: made, body, bodyCrc: crc32(body) };
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

/**
 * head | envelope | body in one fresh buffer. Fresh, because ZeroMQ sends by reference: a buffer that
 * is written to after `send` changes what is still queued. Throws TOO_LARGE.
 */
export function encodeFrame(frame: Frame): Buffer {
  const envelope = bus.Envelope.encode(frame.envelope).finish();
  const bytes = headBytes + envelope.length + frame.body.length;
  if (bytes > frameBytesMax)
    throw new BusError('TOO_LARGE', { what: 'a frame', bytes, limit: frameBytesMax });
  if (envelope.length > envelopeBytesMax) {
    throw new BusError('TOO_LARGE', {
      what: 'an envelope',
      bytes: envelope.length,
      limit: envelopeBytesMax,
    });
  }
  const out = Buffer.allocUnsafe(bytes);
  out.writeUInt16LE(magic, 0);
  out.writeUInt8(protocolVersion, 2);
  out.writeUInt8(frame.command, 3);
  out.writeUInt32LE(0, 4);
  out.writeUInt32LE(envelope.length, 8);
  out.writeUInt32LE(frame.body.length, 12);
  out.writeUInt32LE(crc32(envelope), 16);
  out.writeUInt32LE(frame.bodyCrc, 20);
  out.writeUInt32LE(crc32(out.subarray(0, 24)), 24);
  out.set(envelope, headBytes);
  out.set(frame.body, headBytes + envelope.length);
  return out;
}

/** Joins encoded frames into as few parts as the batch limits allow, in order. */
export function joinFrames(frames: Buffer[]): Buffer[] {
  const parts: Buffer[] = [];
  let batch: Buffer[] = [];
  let bytes = 0;
  const close = (): void => {
    if (batch.length > 0)
      parts.push(batch.length === 1 ? (batch[0] as Buffer) : Buffer.concat(batch, bytes));
    batch = [];
    bytes = 0;
  };
  for (const frame of frames) {
    const bytesMax = parts.length === 0 ? firstBatchBytesMax : batchBytesMax;
    if (bytes + frame.length > bytesMax || batch.length >= batchFramesMax) close();
    batch.push(frame);
    bytes += frame.length;
  }
  close();
  return parts;
}

/** Walks a part. Check the head, then believe its lengths, then check the rest. Never throws. */
export function* decodeFrames(part: Buffer): Generator<Decoded> {
  let offset = 0;
  for (let count = 0; offset < part.length; count += 1) {
    // A writer never joins more. Endless tiny frames would delay all other peers.
    const fault = count >= batchFramesMax ? 'length' : checkHead(part, offset);
    if (fault !== undefined) {
      const version = fault === 'length' ? protocolVersion : (part[offset + 2] ?? 0);
      yield { ok: false, corruption: fault, id: '', version };
      return;
    }
    const bodyAt = offset + headBytes + part.readUInt32LE(offset + 8);
    const end = bodyAt + part.readUInt32LE(offset + 12);
    yield decodeRest(part, offset, bodyAt, end);
    offset = end;
  }
}

function checkHead(part: Buffer, at: number): Corruption | undefined {
  const available = part.length - at;
  if (available < headBytes) return 'head';
  if (part.readUInt32LE(at + 24) !== crc32(part.subarray(at, at + 24))) return 'head';
  if (part.readUInt16LE(at) !== magic || part.readUInt32LE(at + 4) !== 0) return 'head';
  if (part[at + 2] !== protocolVersion) return 'version';
  const envelope = part.readUInt32LE(at + 8);
  const bytes = headBytes + envelope + part.readUInt32LE(at + 12);
  if (envelope > envelopeBytesMax || bytes > frameBytesMax || bytes > available) return 'length';
  return undefined;
}

function decodeRest(part: Buffer, at: number, bodyAt: number, end: number): Decoded {
  const envelopeBytes = part.subarray(at + headBytes, bodyAt);
  if (part.readUInt32LE(at + 16) !== crc32(envelopeBytes)) return corrupt('envelope', '');
  let envelope: Envelope;
  try {
    envelope = bus.Envelope.decode(envelopeBytes);
  } catch {
    return corrupt('envelope', '');
  }
  const body = part.subarray(bodyAt, end);
  const bodyCrc = part.readUInt32LE(at + 20);
  if (bodyCrc !== crc32(body)) return corrupt('body', envelope.id);
  const command = commandNumbers.get(part[at + 3] ?? 0) ?? Command.UNSPECIFIED;
  return { ok: true, frame: { command, envelope, body, bodyCrc } };
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
