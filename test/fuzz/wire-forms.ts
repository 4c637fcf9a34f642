import * as messages from '../../src/wire/messages.js';
import type { Codec } from '../../src/wire/codec.js';
import { Command, encodeFrame, makeFrame } from '../../src/wire/frame.js';
import type { SeededRandom } from '../simulation/random.js';

/** Every codec of a body, by name. */
export const codecs = new Map<string, Codec<object>>();
for (const name of Object.keys(messages).sort())
  if (name.endsWith('Codec')) codecs.set(name, messages[name as keyof typeof messages] as never);

/** A field that protobuf may carry, right or wrong: tag, wire type and value by chance. */
function field(random: SeededRandom): Buffer {
  const number = random.chance(0.9) ? random.int(1, 30) : random.int(1, 2 ** 29 - 1);
  const kind = random.pick([0, 0, 1, 2, 2, 2, 3, 4, 5, 6, 7]);
  const tag = varint(number * 8 + kind);
  switch (kind) {
    case 0:
      return Buffer.concat([tag, anyVarint(random)]);
    case 1:
      return Buffer.concat([tag, random.bytes(8)]);
    case 2: {
      const body = random.chance(0.3) ? field(random) : random.bytes(random.int(0, 40));
      // Now and then longer than there is.
      const length = random.chance(0.1) ? random.int(0, 2 ** 31) : body.length;
      return Buffer.concat([tag, varint(length), body]);
    }
    case 5:
      return Buffer.concat([tag, random.bytes(4)]);
    default:
      return tag;
  }
}

/** Bytes that protobuf may try to read. */
export function garbage(random: SeededRandom): Buffer {
  const shape = random.int(0, 5);
  if (shape === 0) return random.bytes(random.int(0, 200));
  // Groups within groups: a decoder that calls itself runs out of stack.
  if (shape === 1) return Buffer.alloc(random.int(1, 20_000), random.pick([0x0b, 0x0a, 0x1b]));
  if (shape === 2) return prototypeKey();
  return Buffer.concat(Array.from({ length: random.int(0, 8) }, () => field(random)));
}

/** A map whose key would reach the prototype of all objects. */
function prototypeKey(): Buffer {
  const key = Buffer.concat([Buffer.from([0x0a, 9]), Buffer.from('__proto__')]);
  const value = Buffer.concat([Buffer.from([0x12, 10, 0x0a, 8]), Buffer.from('polluted')]);
  const entry = Buffer.concat([key, value]);
  const tags = [varint(7 * 8 + 2), varint(25 * 8 + 2)];
  return Buffer.concat(tags.flatMap((tag) => [tag, varint(entry.length), entry]));
}

function anyVarint(random: SeededRandom): Buffer {
  const shape = random.int(0, 3);
  if (shape === 0) return varint(random.int(0, 300));
  if (shape === 1) return varint(random.int(0, 2 ** 32));
  if (shape === 2) return varint(2 ** random.int(31, 53) - random.int(0, 1));
  // Ten bytes are the most; eleven are a fault.
  return Buffer.from([
    ...Array.from({ length: random.int(1, 11) }, () => 0xff),
    random.int(0, 127),
  ]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  do {
    const low = left % 128;
    left = Math.floor(left / 128);
    bytes.push(left > 0 ? low + 128 : low);
  } while (left > 0);
  return Buffer.from(bytes);
}

/** All that the grammar has. */
export const commands = Object.values(Command).filter(
  (each): each is Command => typeof each === 'number',
);

const bits = ['id', 'from', 'to', 'reply_to', 'correlation', 'trace', 'type', 'order_key', 'after'];

/** Sound frames of every command, small and large, with and without bodies. */
export function soundFrame(random: SeededRandom): Buffer {
  const envelope: Record<string, unknown> = {};
  for (const name of bits) if (random.chance(0.5)) envelope[name] = `${name}-${random.int(0, 999)}`;
  if (random.chance(0.5)) envelope.deadline_ms = random.int(0, 2 ** 32 - 1);
  if (random.chance(0.3)) envelope.seq = random.int(0, Number.MAX_SAFE_INTEGER);
  if (random.chance(0.3)) envelope.durable = true;
  const size = random.chance(0.05) ? random.int(1_000, 60_000) : random.int(0, 300);
  const body = random.chance(0.2) ? Buffer.alloc(0) : random.bytes(Math.min(size, 500));
  const filled = size > 500 ? Buffer.concat([body, Buffer.alloc(size - 500, size)]) : body;
  return encodeFrame(makeFrame(random.pick(commands), envelope, filled));
}
