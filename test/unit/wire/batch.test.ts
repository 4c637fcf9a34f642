import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Batch } from '../../../src/wire/batch.js';
import {
  batchBytesMax,
  batchFramesMax,
  Command,
  decodeFrames,
  encodeFrame,
  frameRoom,
  makeFrame,
  type Frame,
} from '../../../src/wire/frame.js';

const frame = (id: string, bytes: number): Frame =>
  makeFrame(Command.SEND, { id }, Buffer.alloc(bytes, id));

/** As an outbox does it. */
function partsOf(frames: (Frame | Buffer)[]): Buffer[] {
  const batch = new Batch();
  const parts: Buffer[] = [];
  for (const each of frames) {
    const room = Buffer.isBuffer(each) ? each.length : frameRoom(each);
    if (!batch.takes(room)) parts.push(batch.take());
    batch.add(each, room);
  }
  if (!batch.isEmpty) parts.push(batch.take());
  return parts;
}

const framesIn = (part: Buffer): Frame[] =>
  [...decodeFrames(part)].map((each) => {
    if (!each.ok) throw new Error(each.corruption);
    return each.frame;
  });

test('frames keep their order and both limits, and a large one travels alone', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.integer({ min: 0, max: 2_000 }),
          fc.integer({ min: 0, max: batchBytesMax + 500 }),
        ),
        { maxLength: 400 },
      ),
      fc.boolean(),
      (sizes, areEncoded) => {
        const frames = sizes.map((size, at) => frame(String(at), size));
        const parts = partsOf(areEncoded ? frames.map(encodeFrame) : frames);
        const read = parts.map(framesIn);
        expect(read.flat().map(({ envelope, body }) => [envelope.id, body.length])).toEqual(
          sizes.map((size, at) => [String(at), size]),
        );
        for (const [at, part] of parts.entries()) {
          expect(read[at]!.length).toBeLessThanOrEqual(batchFramesMax);
          if (part.length > batchBytesMax) expect(read[at]!.length).toBe(1);
        }
      },
    ),
    { numRuns: 30 },
  );
  const tiny = Array.from({ length: batchFramesMax + 1 }, () => frame('1', 0));
  expect(partsOf(tiny).map((part) => framesIn(part).length)).toEqual([batchFramesMax, 1]);
});

test('no byte of a part is written again, by this batch or another', () => {
  const one = new Batch();
  const other = new Batch();
  const parts: { part: Buffer; copy: Buffer }[] = [];
  for (let round = 0; round < 200; round += 1) {
    for (const batch of [one, other]) {
      const each = frame(String(round), round * 13);
      batch.add(each, frameRoom(each));
      if (batch === other || round % 3 === 0) {
        const part = batch.take();
        parts.push({ part, copy: Buffer.from(part) });
      }
    }
  }
  for (const { part, copy } of parts) expect(part.equals(copy)).toBe(true);
});

test('a small part keeps little memory, also where others share its room', () => {
  const batch = new Batch();
  const held = new Set<ArrayBufferLike>();
  for (let round = 0; round < 2_000; round += 1) {
    const small = frame('refusal', 100);
    batch.add(small, frameRoom(small));
    held.add(batch.take().buffer);
    // What others are told meanwhile uses up rooms.
    const large = frame('large', 10_000);
    batch.add(large, frameRoom(large));
    batch.take();
  }
  const bytes = [...held].reduce((sum, { byteLength }) => sum + byteLength, 0);
  expect(bytes).toBeLessThan(1024 * 1024);
});

test('what is begun for many peers at once takes little memory, and grows where more is said', () => {
  const batches = Array.from({ length: 200 }, () => new Batch());
  for (const batch of batches) batch.add(frame('1', 600), frameRoom(frame('1', 600)));
  const last = batches.at(-1)!;
  for (const id of ['2', '3', '4']) last.add(frame(id, 3_000), frameRoom(frame(id, 3_000)));
  const parts = batches.map((batch) => batch.take());
  expect(framesIn(parts.at(-1)!).map(({ envelope }) => envelope.id)).toEqual(['1', '2', '3', '4']);
  const held = new Set(parts.slice(50, 150).map(({ buffer }) => buffer));
  expect([...held].every(({ byteLength }) => byteLength <= 4 * 1024)).toBe(true);
});

test('a frame that is too large leaves no room taken', () => {
  const envelope = { id: 'x'.repeat(17 * 1024) };
  const large = makeFrame(Command.SEND, envelope, Buffer.alloc(1024 * 1024));
  for (let count = 0; count < 50; count += 1)
    expect(() => new Batch().add(large, frameRoom(large))).toThrow('an envelope');
  const next = new Batch();
  next.add(frame('1', 600), frameRoom(frame('1', 600)));
  expect(next.take().buffer.byteLength).toBeGreaterThan(4 * 1024);
});
