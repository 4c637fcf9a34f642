import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { BusError } from '../../../src/errors/bus-error.js';
import { bus } from '../../../src/wire/codec.js';
import { crc32, crc32Within, portableCrc32 } from '../../../src/wire/crc.js';
import {
  Command,
  decodeFrame,
  decodeFrames,
  encodeFrame,
  envelopeBytesMax,
  frameBytesMax,
  headBytes,
  makeFrame,
  readdress,
  type Decoded,
} from '../../../src/wire/frame.js';

const envelope = {
  id: 'm1',
  from: 'a',
  to: 'agent:b',
  reply_to: 'agent:a',
  correlation: '',
  type: 'pgc.ask',
  deadline_ms: 30_000,
  trace: 't',
  seq: 2 ** 40,
};
const sample = (): Buffer =>
  encodeFrame(makeFrame(Command.SEND, envelope, Buffer.from('a body of some bytes')));
const outcomes = (part: Buffer): Decoded[] => [...decodeFrames(part)];

describe('one frame', () => {
  test('comes back as it went, numbers above 32 bits included', () => {
    const frame = decodeFrame(sample());
    expect(frame.command).toBe(Command.SEND);
    expect(frame.envelope).toMatchObject({ id: 'm1', to: 'agent:b', deadline_ms: 30_000 });
    expect(frame.envelope.seq).toBe(2 ** 40);
    expect(frame.body.toString()).toBe('a body of some bytes');
  });

  test('no field of the grammar is lost on the way', () => {
    const defaults = Object.entries(bus.Envelope.prototype).filter(
      ([, value]) => typeof value !== 'function',
    );
    const other = { string: 'x', number: 7, boolean: true };
    const fields = Object.fromEntries(
      defaults.map(([name, value]) => [name, other[typeof value as keyof typeof other]]),
    );
    expect(Object.keys(fields)).toContain('stored_ms');
    expect(decodeFrame(encodeFrame(makeFrame(Command.SEND, fields))).envelope).toMatchObject(
      fields,
    );
  });

  test('any envelope and body come back equal', () => {
    const fields = fc.record({
      id: fc.string(),
      to: fc.string(),
      type: fc.string(),
      more: fc.boolean(),
      deadline_ms: fc.nat(),
      attempt: fc.nat(),
    });
    fc.assert(
      fc.property(
        fields,
        fc.uint8Array({ maxLength: 2_000 }),
        fc.constantFrom(Command.SEND, Command.DELIVER, Command.ANSWER),
        (its, body, command) => {
          const frame = decodeFrame(encodeFrame(makeFrame(command, its, Buffer.from(body))));
          expect(frame.command).toBe(command);
          expect(frame.envelope).toMatchObject(its);
          expect(frame.body.equals(Buffer.from(body))).toBe(true);
        },
      ),
    );
  });

  test('a flip of any single bit is detected', () => {
    const good = sample();
    for (let bit = 0; bit < good.length * 8; bit += 1) {
      const bad = Buffer.from(good);
      bad[bit >> 3]! ^= 1 << (bit & 7);
      const decoded = outcomes(bad);
      expect(
        decoded.every((each) => each.ok),
        `bit ${bit}`,
      ).toBe(false);
    }
  });

  test('is cut short at any length without being accepted', () => {
    const good = sample();
    for (let length = 1; length < good.length; length += 1) {
      expect(
        outcomes(good.subarray(0, length)).some((each) => each.ok),
        `length ${length}`,
      ).toBe(false);
    }
    expect(outcomes(Buffer.alloc(0))).toEqual([]);
  });

  test('what fails is told apart: head, version, length, envelope, body', () => {
    const corrupt = (change: (bytes: Buffer) => void, withHead: boolean): string => {
      const bytes = sample();
      change(bytes);
      if (withHead) bytes.writeUInt32LE(crc32(bytes.subarray(0, 24)), 24);
      const [first] = outcomes(bytes);
      return first === undefined || first.ok ? 'accepted' : first.corruption;
    };
    expect(corrupt((bytes) => (bytes[0] = 0), false)).toBe('head');
    expect(corrupt((bytes) => (bytes[0] = 0), true)).toBe('head');
    expect(corrupt((bytes) => (bytes[5] = 1), true)).toBe('head');
    expect(corrupt((bytes) => (bytes[2] = 9), true)).toBe('version');
    expect(corrupt((bytes) => bytes.writeUInt32LE(1024 ** 3, 12), true)).toBe('length');
    expect(corrupt((bytes) => bytes.writeUInt32LE(envelopeBytesMax + 1, 8), true)).toBe('length');
    expect(corrupt((bytes) => (bytes[headBytes]! ^= 1), false)).toBe('envelope');
    expect(corrupt((bytes) => (bytes[bytes.length - 1]! ^= 1), false)).toBe('body');
  });

  test('a bad body names the frame, so that its sender can be told', () => {
    const bytes = sample();
    bytes[bytes.length - 1]! ^= 1;
    expect(outcomes(bytes)).toMatchObject([{ ok: false, corruption: 'body', id: 'm1' }]);
  });

  test('larger than the limit is refused before it is sent', () => {
    const tooLarge = makeFrame(Command.SEND, envelope, Buffer.alloc(frameBytesMax));
    expect(() => encodeFrame(tooLarge)).toThrow(
      expect.objectContaining({ code: 'TOO_LARGE' }) as BusError,
    );
    const tooLong = makeFrame(Command.SEND, { ...envelope, trace: 'x'.repeat(envelopeBytesMax) });
    expect(() => encodeFrame(tooLong)).toThrow(
      expect.objectContaining({ code: 'TOO_LARGE' }) as BusError,
    );
  });

  test('a new envelope leaves the body and its checksum alone, end to end', () => {
    const frame = decodeFrame(sample());
    const forged = { ...frame, body: Buffer.from('a body of other bytes') };
    const [decoded] = outcomes(encodeFrame(readdress(forged, Command.DELIVER, { id: 'm1' })));
    expect(decoded).toMatchObject({ ok: false, corruption: 'body' });
  });
});

describe('several frames in one part', () => {
  test('are walked in order', () => {
    const part = Buffer.concat(
      ['1', '2', '3'].map((id) => encodeFrame(makeFrame(Command.PING, { id }))),
    );
    expect(outcomes(part).map((each) => each.ok && each.frame.envelope.id)).toEqual([
      '1',
      '2',
      '3',
    ]);
  });

  test('a bad head costs the rest of the part, a bad body only itself', () => {
    const frames = ['1', '2', '3'].map((id) =>
      encodeFrame(makeFrame(Command.SEND, { id }, Buffer.from(id))),
    );
    const damage = (at: number): (string | false)[] => {
      const copies = frames.map((each) => Buffer.from(each));
      const target = copies[1]!;
      target[at < 0 ? target.length + at : at]! ^= 1;
      return outcomes(Buffer.concat(copies)).map((each) => each.ok && each.frame.envelope.id);
    };
    expect(damage(-1)).toEqual(['1', false, '3']);
    expect(damage(0)).toEqual(['1', false]);
  });
});

test('the native checksum, the portable one and that of a part agree', () => {
  expect(crc32(Buffer.from('123456789'))).toBe(0xcbf43926);
  expect([crc32(Buffer.alloc(0), 5), portableCrc32(Buffer.alloc(0), 5)]).toEqual([5, 5]);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 4_096 }), (bytes) => {
      expect(portableCrc32(bytes)).toBe(crc32(bytes));
      const half = bytes.length >> 1;
      expect(crc32(bytes.subarray(half), crc32(bytes.subarray(0, half)))).toBe(crc32(bytes));
      expect(crc32Within(bytes, half, bytes.length)).toBe(crc32(bytes.subarray(half)));
    }),
  );
});

test('the grammar in bus.proto names exactly the commands of the enum', () => {
  const text = readFileSync(new URL('../../../proto/bus.proto', import.meta.url), 'utf8');
  const grammar = text.slice(0, text.indexOf('syntax ='));
  const named = new Set([...grammar.matchAll(/\b[CS]:([A-Z]+)/g)].map((match) => match[1]));
  // A publication has its own two-part form, described in words.
  named.add('PUBLISH');
  const numbered = new Set(
    Object.keys(Command).filter((name) => /^[A-Z]+$/.test(name) && name !== 'UNSPECIFIED'),
  );
  expect(named).toEqual(numbered);
});
