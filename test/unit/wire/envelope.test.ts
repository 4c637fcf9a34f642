import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bus } from '../../../src/wire/codec.js';
import {
  envelopeOf,
  envelopeRoom,
  readEnvelope,
  writeEnvelope,
  type Envelope,
} from '../../../src/wire/envelope.js';

const text = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ minLength: 120, maxLength: 140 }),
);
const number = fc.oneof(fc.nat(), fc.integer({ min: 0, max: 0xffff_ffff }));
const large = fc.oneof(number, fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }));
const fields = fc.record(
  {
    id: text,
    from: text,
    to: text,
    reply_to: text,
    correlation: text,
    more: fc.boolean(),
    deadline_ms: number,
    attempt: number,
    trace: text,
    type: text,
    seq: large,
    durable: fc.boolean(),
    order_key: text,
    delay_ms: number,
    ttl_ms: number,
    stored_ms: large,
    after: text,
  },
  { requiredKeys: [] },
);

const byLibrary = (envelope: Envelope): Buffer =>
  Buffer.from(bus.Envelope.encode(bus.Envelope.fromObject(envelope)).finish());
const readByLibrary = (bytes: Buffer): Envelope => envelopeOf(bus.Envelope.decode(bytes));

function written(envelope: Envelope): Buffer {
  const into = Buffer.alloc(envelopeRoom(envelope) + 7);
  return into.subarray(7, writeEnvelope(envelope, into, 7));
}

/** What it gives, or that it throws. */
function outcome(read: () => Envelope): unknown {
  try {
    const { ...its } = read();
    delete (its as { $unknowns?: unknown }).$unknowns;
    return its;
  } catch {
    return 'throws';
  }
}

test('is written as protobufjs writes it, and read back the same by both', () => {
  fc.assert(
    fc.property(fields, (its) => {
      const envelope = envelopeOf(its);
      const bytes = written(envelope);
      expect(bytes.equals(byLibrary(envelope))).toBe(true);
      const within = Buffer.concat([Buffer.from('before'), bytes, Buffer.from('behind')]);
      expect(readEnvelope(within, 6, 6 + bytes.length)).toEqual(readByLibrary(bytes));
    }),
    { numRuns: 2_000 },
  );
});

test('any bytes are read as protobufjs reads them: damaged, cut short, of unknown fields', () => {
  const damaged = fc
    .tuple(fields, fc.nat(), fc.nat({ max: 255 }), fc.nat())
    .map(([its, at, byte, cut]) => {
      const bytes = Buffer.from(written(envelopeOf({ id: 'm1', to: 'service:a', ...its })));
      bytes[at % bytes.length] = byte;
      return bytes.subarray(0, cut % 3 === 0 ? cut % bytes.length : bytes.length);
    });
  fc.assert(
    fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 60 })), (some) => {
      const bytes = Buffer.from(some);
      const within = Buffer.concat([Buffer.from([1]), bytes, Buffer.from([2, 3])]);
      expect(outcome(() => readEnvelope(within, 1, 1 + bytes.length))).toEqual(
        outcome(() => readByLibrary(bytes)),
      );
    }),
    { numRuns: 5_000 },
  );
});

test('fields that come twice, and numbers that are too large, are read as protobufjs reads them', () => {
  const twice = Buffer.concat([
    written(envelopeOf({ id: 'one' })),
    written(envelopeOf({ id: 'two' })),
  ]);
  expect(readEnvelope(twice, 0, twice.length).id).toBe('two');
  // deadline_ms of 33 bits, seq of 64.
  for (const hex of ['388080808010', '58ffffffffffffffffff01', '300a', '08', '0a05616263'])
    expect(outcome(() => readEnvelope(Buffer.from(hex, 'hex'), 0, hex.length / 2))).toEqual(
      outcome(() => readByLibrary(Buffer.from(hex, 'hex'))),
    );
});
