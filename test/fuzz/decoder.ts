import { BusError } from '../../src/errors/bus-error.js';
import { portableCrc32 } from '../../src/wire/crc.js';
import {
  batchFramesMax,
  decodeFrames,
  envelopeBytesMax,
  frameBytesMax,
  headBytes,
  protocolVersion,
  type Decoded,
} from '../../src/wire/frame.js';
import type { SeededRandom } from '../simulation/random.js';
import { codecs, garbage, soundFrame } from './wire-forms.js';

export interface DecoderReport {
  /** Frames that were changed: one in each part, but for the parts that were left whole. */
  changed: number;
  /** All frames, those around the changed ones too. */
  frames: number;
  accepted: number;
  refused: Record<string, number>;
  /** What must not have happened, with the part in hex. */
  violations: string[];
}

const corpusMax = 400;
/** Kept of what went wrong. */
const violationsMax = 20;

/**
 * Parts of sound frames, changed by chance, against what the layout in proto/bus.proto says about them: a
 * second reader that shares no code with the decoder decides which frames are whole.
 */
export class DecoderFuzz {
  readonly report: DecoderReport = {
    ...{ changed: 0, frames: 0, accepted: 0 },
    refused: {},
    violations: [],
  };
  readonly #random: SeededRandom;
  readonly #corpus: Buffer[];

  constructor(random: SeededRandom) {
    this.#random = random;
    this.#corpus = Array.from({ length: corpusMax }, () => soundFrame(random));
  }

  /** Decodes parts until so many frames were changed. */
  run(changes: number): void {
    const until = this.report.changed + changes;
    while (this.report.changed < until && this.report.violations.length < violationsMax) {
      const random = this.#random;
      const count = random.chance(0.9) ? random.int(1, 4) : random.int(5, batchFramesMax + 10);
      const chosen = Array.from({ length: count }, () => random.pick(this.#corpus));
      const { part, isForged, isWhole } = this.#changed(chosen);
      this.#check(part, isForged);
      if (isWhole !== true) this.report.changed += 1;
      this.report.frames += count;
      if (random.chance(0.001)) this.#corpus[random.int(0, corpusMax - 1)] = soundFrame(random);
    }
  }

  #check(part: Buffer, isForged: boolean): void {
    const expected = wholeFrames(part);
    let outcomes: Decoded[];
    try {
      outcomes = [...decodeFrames(part)];
    } catch (error) {
      return this.#violated(`it threw ${String(error)}`, part);
    }
    if (outcomes.length > batchFramesMax + 1) this.#violated('it yields without end', part);
    const accepted = outcomes.flatMap((each) => (each.ok ? [each.frame] : []));
    for (const each of outcomes) {
      if (each.ok) this.report.accepted += 1;
      else this.report.refused[each.corruption] = (this.report.refused[each.corruption] ?? 0) + 1;
    }
    // What a forged head or envelope says is true; whether protobuf understands it is its own affair.
    const isSame = isForged
      ? accepted.every((frame) => expected.some((each) => each.body.equals(frame.body)))
      : accepted.length === expected.length &&
        accepted.every((frame, at) => expected[at]?.body.equals(frame.body) === true);
    if (!isSame) this.#violated(`${accepted.length} accepted, ${expected.length} whole`, part);
    for (const frame of accepted) {
      const { id, from, seq, durable, deadline_ms } = frame.envelope;
      const isTyped =
        typeof id === 'string' &&
        typeof from === 'string' &&
        typeof seq === 'number' &&
        typeof durable === 'boolean' &&
        typeof deadline_ms === 'number';
      if (!isTyped) this.#violated('an envelope has fields of other types', part);
    }
  }

  #violated(what: string, part: Buffer): void {
    this.report.violations.push(`${what}: ${part.subarray(0, 2_000).toString('hex')}`);
  }

  /** `isForged`: with valid checksums over what was changed. */
  #changed(frames: Buffer[]): { part: Buffer; isForged: boolean; isWhole?: true } {
    const random = this.#random;
    const at = random.int(0, frames.length - 1);
    const victim = Buffer.from(frames[at]!);
    const join = (changed: Buffer): Buffer =>
      Buffer.concat(frames.map((each, place) => (place === at ? changed : each)));
    switch (random.int(0, 9)) {
      case 0:
        return { part: join(victim), isForged: false, isWhole: true };
      case 1: {
        const bit = random.int(0, victim.length * 8 - 1);
        victim[bit >> 3]! ^= 1 << (bit & 7);
        return { part: join(victim), isForged: false };
      }
      case 2:
        for (let count = random.int(1, 8); count > 0; count -= 1)
          victim[random.int(0, victim.length - 1)] = random.int(0, 255);
        return { part: join(victim), isForged: false };
      case 3:
        return { part: join(victim.subarray(0, random.int(0, victim.length))), isForged: false };
      case 4: {
        const other = random.pick(this.#corpus);
        const cut = random.int(0, victim.length);
        const spliced = Buffer.concat([
          victim.subarray(0, cut),
          other.subarray(random.int(0, other.length)),
        ]);
        return { part: join(spliced), isForged: false };
      }
      case 5: {
        const cut = random.int(0, victim.length);
        const extra = random.bytes(random.int(1, 64));
        const widened = Buffer.concat([victim.subarray(0, cut), extra, victim.subarray(cut)]);
        return { part: join(widened), isForged: false };
      }
      case 6:
        return { part: join(forgedHead(victim, random)), isForged: true };
      case 7:
        return { part: join(forgedEnvelope(victim, garbage(random))), isForged: true };
      case 8: {
        // The whole part, cut anywhere.
        const whole = join(victim);
        return { part: whole.subarray(0, random.int(0, whole.length)), isForged: false };
      }
      default:
        return { part: random.bytes(random.int(0, 200)), isForged: false };
    }
  }
}

/** Lies with a valid checksum: lengths up to 4 GiB, reserved bits, versions, magic, commands. */
function forgedHead(frame: Buffer, random: SeededRandom): Buffer {
  const lengths = [
    0,
    1,
    envelopeBytesMax,
    envelopeBytesMax + 1,
    frameBytesMax,
    2 ** 30,
    2 ** 32 - 1,
  ];
  switch (random.int(0, 5)) {
    case 0:
      frame.writeUInt32LE(random.pick(lengths), 8);
      break;
    case 1:
      frame.writeUInt32LE(random.pick(lengths), 12);
      break;
    case 2:
      frame.writeUInt32LE(random.int(1, 2 ** 32 - 1), 4);
      break;
    case 3:
      frame[2] = random.int(0, 255);
      break;
    case 4:
      frame[3] = random.int(0, 255);
      break;
    default:
      frame.writeUInt16LE(random.int(0, 65_535), 0);
  }
  frame.writeUInt32LE(portableCrc32(frame.subarray(0, 24)), 24);
  return frame;
}

/** Another envelope, well summed. */
export function forgedEnvelope(frame: Buffer, envelope: Buffer): Buffer {
  const body = frame.subarray(headBytes + frame.readUInt32LE(8));
  const head = Buffer.from(frame.subarray(0, headBytes));
  head.writeUInt32LE(envelope.length, 8);
  head.writeUInt32LE(portableCrc32(envelope), 16);
  head.writeUInt32LE(portableCrc32(head.subarray(0, 24)), 24);
  return Buffer.concat([head, envelope, body]);
}

/** The frames of a part that are whole, as the layout defines it. */
function wholeFrames(part: Buffer): { body: Buffer }[] {
  const found: { body: Buffer }[] = [];
  let at = 0;
  for (let count = 0; count < batchFramesMax && part.length - at >= headBytes; count += 1) {
    const head = part.subarray(at, at + headBytes);
    const sound =
      portableCrc32(head.subarray(0, 24)) === head.readUInt32LE(24) &&
      head.toString('latin1', 0, 2) === 'BG' &&
      head[2] === protocolVersion &&
      head.readUInt32LE(4) === 0;
    const [envelopeBytes, bodyBytes] = [head.readUInt32LE(8), head.readUInt32LE(12)];
    const end = at + headBytes + envelopeBytes + bodyBytes;
    if (!sound || envelopeBytes > envelopeBytesMax) break;
    if (end - at > frameBytesMax || end > part.length) break;
    const envelope = part.subarray(at + headBytes, end - bodyBytes);
    const body = part.subarray(end - bodyBytes, end);
    if (
      portableCrc32(envelope) === head.readUInt32LE(16) &&
      portableCrc32(body) === head.readUInt32LE(20)
    )
      found.push({ body });
    at = end;
  }
  return found;
}

/** Reads garbage with every codec; returns what must not have happened. */
export function fuzzCodecs(random: SeededRandom, rounds: number): string[] {
  const violations: string[] = [];
  for (let round = 0; round < rounds && violations.length < violationsMax; round += 1) {
    const bytes = garbage(random);
    for (const [name, codec] of codecs) {
      try {
        const value = codec.decode(bytes);
        // What was understood can be said again, and is understood the same.
        const again = codec.decode(codec.encode(value));
        if (Object.keys(again).join() !== Object.keys(value).join())
          violations.push(`${name} loses fields: ${bytes.toString('hex')}`);
      } catch (error) {
        if (!(error instanceof BusError) || error.code !== 'MALFORMED_PAYLOAD')
          violations.push(
            `${name} threw ${String(error)}: ${bytes.subarray(0, 200).toString('hex')}`,
          );
      }
    }
    if ('polluted' in {}) violations.push(`the prototype was reached: ${bytes.toString('hex')}`);
  }
  return violations;
}
