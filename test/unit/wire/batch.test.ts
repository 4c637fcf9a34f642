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

test('what was taken back is not sent', () => {
  const batch = new Batch();
  for (const id of ['1', '2', '3']) {
    const each = frame(id, 10);
    const bytes = batch.add(each, frameRoom(each));
    if (id === '2') batch.undo(bytes);
  }
  expect(framesIn(batch.take()).map(({ envelope }) => envelope.id)).toEqual(['1', '3']);
});
