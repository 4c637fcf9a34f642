import { bus, type Plain, type sigma } from './codec.js';

/** The envelope of a frame, every field present. Fields: `proto/bus.proto`. */
export type Envelope = Plain<sigma.bus.Envelope>;
export type EnvelopeFields = Partial<Envelope>;

/** All envelopes have one hidden class, and room for every field from the start. */
export function newEnvelope(): Envelope {
  return {
    id: '',
    from: '',
    to: '',
    reply_to: '',
    correlation: '',
    more: false,
    deadline_ms: 0,
    attempt: 0,
    trace: '',
    type: '',
    seq: 0,
    durable: false,
    order_key: '',
    delay_ms: 0,
    ttl_ms: 0,
    stored_ms: 0,
    after: '',
  };
}

/** For a frame now and then. What is written for each request sets its fields one by one, which costs a tenth. */
export function envelopeOf(fields: EnvelopeFields): Envelope {
  return Object.assign(newEnvelope(), fields);
}

// The bus encodes and decodes four envelopes a request, and protobufjs takes a third of a request's time for it. So
// what nearly all envelopes are, short texts of ASCII and small numbers, is written and read here, in place. Anything
// else is left to protobufjs: the format is its.

/** A tag of protobuf is `number << 3 | kind`. */
const kind = { number: 0, text: 2 };
/** Seven bits a byte. */
const oneByteMax = 0x7f;
const twoBytesMax = 0x3fff;
const numberMax = Number.MAX_SAFE_INTEGER;

/** What the fields of an envelope take at most, if all its texts are short: a tag, a length or a number each. */
const fieldsBytesMax = 17 * 10;

/** Bytes that are room enough for `writeEnvelope`. */
export function envelopeRoom(envelope: Envelope): number {
  const { id, from, to, reply_to, correlation, trace, type, order_key, after } = envelope;
  const chars =
    id.length + from.length + to.length + reply_to.length + correlation.length + trace.length;
  // A character takes three bytes at most: a pair that takes four is two.
  return fieldsBytesMax + 3 * (chars + type.length + order_key.length + after.length);
}

/** Writes it at `at`, and returns where it ends. Fields that are empty are left out. */
export function writeEnvelope(envelope: Envelope, into: Buffer, at: number): number {
  let end = writeText(into, at, 1, envelope.id);
  end = writeText(into, end, 2, envelope.from);
  end = writeText(into, end, 3, envelope.to);
  end = writeText(into, end, 4, envelope.reply_to);
  end = writeText(into, end, 5, envelope.correlation);
  if (envelope.more) end = writeNumber(into, end, 6, 1);
  end = writeNumber(into, end, 7, envelope.deadline_ms);
  end = writeNumber(into, end, 8, envelope.attempt);
  end = writeText(into, end, 9, envelope.trace);
  end = writeText(into, end, 10, envelope.type);
  end = writeNumber(into, end, 11, envelope.seq);
  if (envelope.durable) end = writeNumber(into, end, 12, 1);
  end = writeText(into, end, 13, envelope.order_key);
  end = writeNumber(into, end, 14, envelope.delay_ms);
  end = writeNumber(into, end, 15, envelope.ttl_ms);
  end = writeNumber(into, end, 16, envelope.stored_ms);
  end = writeText(into, end, 17, envelope.after);
  if (end > 0) return end;
  const bytes = bus.Envelope.encode(envelope).finish();
  into.set(bytes, at);
  return at + bytes.length;
}

/** As the next two: -1 where protobufjs must do it, or had to before. */
function writeText(into: Buffer, at: number, field: number, text: string): number {
  const { length } = text;
  if (length === 0 || at < 0) return at;
  if (length > oneByteMax) return -1;
  let end = writeTag(into, at, (field << 3) | kind.text);
  into[end++] = length;
  for (let char = 0; char < length; char += 1) {
    const code = text.charCodeAt(char);
    if (code > oneByteMax) return -1;
    into[end++] = code;
  }
  return end;
}

function writeNumber(into: Buffer, at: number, field: number, value: number): number {
  if (value === 0 || at < 0) return at;
  if (!(value > 0 && value <= numberMax)) return -1;
  let end = writeTag(into, at, (field << 3) | kind.number);
  let rest = value;
  while (rest > oneByteMax) {
    into[end++] = (rest % 128) | 0x80;
    rest = Math.floor(rest / 128);
  }
  into[end++] = rest;
  return end;
}

function writeTag(into: Buffer, at: number, tag: number): number {
  if (tag <= oneByteMax) {
    into[at] = tag;
    return at + 1;
  }
  into[at] = (tag & oneByteMax) | 0x80;
  into[at + 1] = tag >> 7;
  return at + 2;
}

/** Throws where these bytes are no envelope. */
export function readEnvelope(bytes: Buffer, start: number, end: number): Envelope {
  return (
    readSimple(bytes, start, end) ?? envelopeOf(bus.Envelope.decode(bytes.subarray(start, end)))
  );
}

/** Undefined where it takes protobufjs. */
function readSimple(bytes: Buffer, start: number, end: number): Envelope | undefined {
  const envelope = newEnvelope();
  let at = start;
  while (at < end) {
    let tag = bytes[at++] as number;
    if (tag > oneByteMax) tag = (tag & oneByteMax) | ((bytes[at++] as number) << 7);
    if (tag > twoBytesMax || at >= end) return undefined;
    if ((tag & 7) === kind.text) {
      const length = bytes[at++] as number;
      if (length > oneByteMax || at + length > end) return undefined;
      const text = length === 0 ? '' : readText(bytes, at, length, tag >> 3);
      if (text === undefined) return undefined;
      at += length;
      switch (tag >> 3) {
        case 1:
          envelope.id = text;
          break;
        case 2:
          envelope.from = text;
          break;
        case 3:
          envelope.to = text;
          break;
        case 4:
          envelope.reply_to = text;
          break;
        case 5:
          envelope.correlation = text;
          break;
        case 9:
          envelope.trace = text;
          break;
        case 10:
          envelope.type = text;
          break;
        case 13:
          envelope.order_key = text;
          break;
        case 17:
          envelope.after = text;
          break;
        default:
          return undefined;
      }
    } else {
      let value = 0;
      let weight = 1;
      let byte: number;
      do {
        if (at >= end || weight > numberMax / 256) return undefined;
        byte = bytes[at++] as number;
        value += (byte & oneByteMax) * weight;
        weight *= 128;
      } while (byte > oneByteMax);
      const isSmall = value <= 0xffff_ffff;
      switch (tag) {
        case 6 << 3:
          envelope.more = value !== 0;
          break;
        case 7 << 3:
          envelope.deadline_ms = value;
          break;
        case 8 << 3:
          envelope.attempt = value;
          break;
        case 11 << 3:
          envelope.seq = value;
          continue;
        case 12 << 3:
          envelope.durable = value !== 0;
          break;
        case 14 << 3:
          envelope.delay_ms = value;
          break;
        case 15 << 3:
          envelope.ttl_ms = value;
          break;
        case 16 << 3:
          envelope.stored_ms = value;
          continue;
        default:
          return undefined;
      }
      if (!isSmall) return undefined;
    }
  }
  return envelope;
}

/** What comes again and again: from, to, reply_to, type. The other texts are of one message each. */
const repeating = (1 << 2) | (1 << 3) | (1 << 4) | (1 << 10);
/** The latest text in each place. To compare one with the bytes is cheaper than to make it anew. */
const known: string[] = Array.from({ length: 256 }, () => '');

/** Undefined: not ASCII. */
function readText(bytes: Buffer, at: number, length: number, field: number): string | undefined {
  const end = at + length;
  let place = -1;
  if ((repeating >> field) & 1) {
    const middle = bytes[at + (length >> 1)] as number;
    place = ((bytes[end - 1] as number) * 31 + middle * 7 + length) & (known.length - 1);
    const text = known[place] as string;
    let same = text.length === length ? 0 : -1;
    while (same >= 0 && same < length && text.charCodeAt(same) === bytes[at + same]) same += 1;
    if (same === length) return text;
  }
  for (let byte = at; byte < end; byte += 1)
    if ((bytes[byte] as number) > oneByteMax) return undefined;
  const text = bytes.toString('latin1', at, end);
  if (place >= 0) known[place] = text;
  return text;
}
