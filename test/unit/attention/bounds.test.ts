import fc from 'fast-check';
import { expect, test } from 'vitest';
import { classify } from '../../../src/attention/classify/classify.js';
import { loadPolicy } from '../../../src/attention/policy/policy-file.js';
import type { Classification } from '../../../src/attention/shapes.js';

/** However large an action is, and however it is nested: what is beyond the limits is a gate, and the answer comes soon. */

const policy = loadPolicy();
const size = 120_000;
const times = (piece: string): string => piece.repeat(Math.ceil(size / piece.length));
/** On a machine whose processors others use too. */
const soonMs = 10_000;

async function judge(argv: string[]): Promise<{ told: Classification; tookMs: number }> {
  const promises = { read_only: false, idempotency_key: '', data: [], scope: [] };
  const action = { runner: 'command', argv, cwd: '', env: {}, stdin: '', ...promises };
  const begunMs = performance.now();
  const inspector = {
    read: () => Promise.resolve(undefined),
    isTracked: () => Promise.resolve(true),
  };
  const told = await classify(action, { policy, inspector });
  return { told, tookMs: performance.now() - begunMs };
}

test.each([
  ['braces that double', `echo ${times('{a,b}')}`],
  ['a value that doubles', `X=aaaa\n${'X=$X$X\n'.repeat(60)}$X`],
  ['mixed quotes', times('"\'`$(')],
  ['substitutions in each other', times('$(')],
  ['a pipeline of unknown programs', `${times('a|')}cat`],
  ['many commands', times('a;')],
  ['a long argument', `echo ${times('a')}`],
])('a text of %s is a gate', async (_, text) => {
  const { told, tookMs } = await judge(['bash', '-c', text]);
  expect(told.findings.some(({ severity }) => severity === 'Gate')).toBe(true);
  expect(told.is_cacheable).toBe(false);
  expect(tookMs).toBeLessThan(soonMs);
});

test.each(['sed', 'awk', 'jq', 'curl', 'git', 'find'])(
  'a long argument of %s is answered soon',
  async (program) => {
    for (const piece of ['s/a/', '/a/,', '-a', '..', 'a=', '{', '*', '\\', 'https://a.'])
      expect((await judge([program, piece.repeat(8_000)])).tookMs).toBeLessThan(soonMs);
  },
);

test('any pieces, many times', async () => {
  const piece = fc.constantFrom(
    ...['{a,b}', '$X', '$(', ')', '`', '"', "'", '|', ';', ' ', 'X=$X$X\n', 'f(){ f; };', 'a '],
    ...['${X//a/$X}', '<<E\n', '&&', '((', '[', 'eval ', 'sh -c ', '"${Y[@]}" ', 'Y+=(a a)\n'],
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 5 }), async (pieces) => {
      const text = pieces.join('').repeat(Math.ceil(4_000 / pieces.join('').length));
      const { told, tookMs } = await judge(['bash', '-c', text]);
      expect(tookMs).toBeLessThan(soonMs);
      expect(told.level === 'Low').toBe(told.findings.length === 0);
    }),
    { numRuns: 40 },
  );
});
