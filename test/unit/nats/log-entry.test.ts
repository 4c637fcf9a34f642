import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  crcOf,
  decodeEntry,
  encodeEntry,
  encodeStep,
  entryOverheadBytes,
  start,
  StepReader,
} from '../../../src/nats/log-entry.js';
import type { Operation } from '../../../src/store/port.js';
import { crc32 } from '../../../src/wire/crc.js';

const key = fc.string({ unit: 'grapheme', maxLength: 30 });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ type: fc.constant('del' as const), key }),
  fc.record({
    ...{ type: fc.constant('put' as const), key },
    value: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  }),
);
const operations = fc.array(operation, { minLength: 1, maxLength: 20 });

test('steps come out as they went in, however small the messages are', () => {
  fc.assert(
    fc.property(fc.array(operations), fc.integer({ min: 1, max: 300 }), (steps, partBytes) => {
      const reader = new StepReader('log', start);
      const found: Operation[][] = [];
      let { sequence, crc } = start;
      for (const step of steps)
        for (const entry of encodeStep(step, crc, entryOverheadBytes + partBytes)) {
          expect(entry.length).toBeLessThanOrEqual(entryOverheadBytes + partBytes);
          crc = crcOf(entry);
          sequence += 1;
          const taken = reader.take(sequence, entry);
          if (taken?.kind === 'step') found.push(taken.operations);
        }
      expect(found).toEqual(steps);
      expect(reader.position).toEqual({ sequence, crc });
    }),
  );
});

test('an entry of which one bit or the end is not as it was is no entry', () => {
  fc.assert(
    fc.property(operations, fc.nat(), fc.nat(7), (step, at, bit) => {
      const [entry] = [...encodeStep(step, 7, 1_000_000)] as [Buffer];
      const flipped = Buffer.from(entry);
      flipped[at % entry.length]! ^= 1 << bit;
      for (const damaged of [flipped, entry.subarray(0, at % entry.length)])
        expect(() => decodeEntry(damaged, 'log', 1)).toThrow(
          expect.objectContaining({ code: 'LOG_CORRUPT' }),
        );
    }),
  );
});

test('an entry that does not follow the one before it is refused, and nothing of it is taken', () => {
  const reader = new StepReader('log', start);
  const [first, second, third] = ['a', 'b', 'c'].map((each) =>
    encodeEntry('part', 0, Buffer.from(each)),
  );
  reader.take(1, first!);
  const before = reader.position;
  expect(() => reader.take(2, second!)).toThrow(expect.objectContaining({ code: 'LOG_CORRUPT' }));
  expect(() => reader.take(3, third!)).toThrow('does not follow');
  expect(reader.position).toEqual(before);
});

test('an entry of a newer program is told as such', () => {
  const entry = encodeEntry('last', 0, Buffer.alloc(0));
  const newer = encodeEntry('last', 0, Buffer.alloc(0));
  newer[0] = 2;
  expect(decodeEntry(entry, 'log', 1).kind).toBe('last');
  // With the checksum that such a program would give it.
  newer.writeUInt32BE(crc32(newer.subarray(0, -4)), newer.length - 4);
  expect(() => decodeEntry(newer, 'log', 1)).toThrow(
    expect.objectContaining({ code: 'STORE_SCHEMA' }),
  );
});
