import { describe, expect, test } from 'vitest';
import { SeededRandom } from '../simulation/random.js';
import { DecoderFuzz, fuzzCodecs } from './decoder.js';
import { GrammarFuzz, lookEvery } from './grammar.js';

/** What a part of `npm test` may cost; `npm run campaign:fuzz` goes through far more. */
const changes = 5_000;
const rounds = 400;
const sequences = 3 * lookEvery;

describe('fuzzing', () => {
  test('of changed frames: exactly those that are whole are accepted', () => {
    const fuzz = new DecoderFuzz(new SeededRandom('decoder test'));
    fuzz.run(changes);
    const { violations, accepted, refused } = fuzz.report;
    expect(violations).toEqual([]);
    // A fuzzer whose parts are all whole, or all broken, proves nothing.
    expect(accepted).toBeGreaterThan(changes);
    expect(Object.keys(refused).sort()).toEqual(['body', 'envelope', 'head', 'length', 'version']);
  });

  test('of bodies: garbage is MALFORMED_PAYLOAD or a value that survives a round trip', () => {
    expect(fuzzCodecs(new SeededRandom('bodies test'), rounds)).toEqual([]);
  });

  test('of sessions: whatever strangers say, the broker keeps its bounds and serves honest agents', async () => {
    const fuzz = await GrammarFuzz.open(2);
    await fuzz.run(sequences);
    await fuzz.close();
    const { violations, honest, answered } = fuzz.report;
    expect(violations).toEqual([]);
    expect(honest).toBe(2 * (sequences / lookEvery));
    // They get far enough to be answered in every manner.
    const answers = ['WELCOME', 'ACCEPT', 'DELIVER', 'ANSWER', 'RESET', 'FRAME_CORRUPT'];
    expect(Object.keys(answered)).toEqual(expect.arrayContaining(answers));
  });
});
