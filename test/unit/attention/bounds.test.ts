import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadPolicy } from '../../../src/attention/policy-file.js';
import { classify } from '../../../src/attention/classify/classify.js';
import { Work } from '../../../src/attention/classify/work.js';
import { attentionLimits, type Classification } from '../../../src/attention/shapes.js';

/** However large an action is, and however it is nested: what is looked at is counted, and what is beyond is a gate. */

const policy = loadPolicy();
const size = 120_000;
const times = (piece: string): string => piece.repeat(Math.ceil(size / piece.length));

/** What is begun when a limit is met is counted once more on each level that it is in. */
const slack = {
  chars: attentionLimits.depth * attentionLimits.scriptBytes,
  words: 40_000,
  steps: 40_000,
};

async function judge(
  argv: string[],
  files: Record<string, string>,
): Promise<{ told: Classification; spent: Work['spent'] }> {
  const promises = { read_only: false, idempotency_key: '', data: [], scope: [] };
  const action = { runner: 'command', argv, cwd: '', env: {}, stdin: '', ...promises };
  const work = new Work();
  const read = (path: string): Promise<string | undefined> => Promise.resolve(files[path]);
  const inspector = { read, isTracked: () => Promise.resolve(true) };
  const told = await classify(action, { policy, work, inspector });
  return { told, spent: work.spent };
}

function expectBounded({ chars, words, steps }: Work['spent']): void {
  expect(chars).toBeLessThanOrEqual(attentionLimits.chars + slack.chars);
  expect(words).toBeLessThanOrEqual(attentionLimits.words + slack.words);
  expect(steps).toBeLessThanOrEqual(attentionLimits.steps + slack.steps);
}

test.each([
  ['one command of many words', `echo ${times('a ')}`],
  ['braces that double', `echo ${times('{a,b}')}`],
  ['a value that doubles', `X=aaaa\n${'X=$X$X\n'.repeat(60)}$X`],
  ['a list that doubles', `Y=(a)\n${'Y=("${Y[@]}" "${Y[@]}")\n'.repeat(60)}"\${Y[@]}"`],
  ['mixed quotes', times('"\'`$(')],
  ['substitutions in each other', times('$(')],
  ['a pipeline', `${times('echo a|')}cat`],
  ['many commands', times('a;')],
])('a script of %s is a gate', async (_, script) => {
  const { told, spent } = await judge(['bash', 'a.sh'], { 'a.sh': script });
  expectBounded(spent);
  expect(told.findings.some(({ severity }) => severity === 'Gate')).toBe(true);
  expect(told.is_cacheable).toBe(false);
});

test('a few braces are no gate, though they stand for more words than are looked at', async () => {
  const { told, spent } = await judge(['sh', 'a.sh'], { 'a.sh': `echo ${'{a,b}'.repeat(40)}` });
  expectBounded(spent);
  expect(told.level).toBe('Low');
});

test('what is too large says so', async () => {
  const { told } = await judge(['sh', 'a.sh'], { 'a.sh': `echo ${times('{a,b}')}` });
  expect(told.findings.map(({ rule, severity }) => [rule, severity])).toEqual([
    ['too-large', 'Gate'],
  ]);
});

test('a script that starts itself again and again is read a few times', async () => {
  const script = 'sh a.sh; sh a.sh; sh a.sh\n'.repeat(2_000);
  const { told, spent } = await judge(['sh', 'a.sh'], { 'a.sh': script });
  expectBounded(spent);
  expect(told.findings.map(({ rule }) => rule)).toContain('too-deep');
});

test('any pieces, many times', async () => {
  const piece = fc.constantFrom(
    ...['{a,b}', '$X', '$(', ')', '`', '"', "'", '|', ';', ' ', 'X=$X$X\n', 'f(){ f; };', 'a '],
    ...['${X//a/$X}', '<<E\n', '&&', '((', '[', 'eval ', 'sh -c ', '"${Y[@]}" ', 'Y+=(a a)\n'],
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 5 }), async (pieces) => {
      const script = pieces.join('').repeat(Math.ceil(4_000 / pieces.join('').length));
      const { spent } = await judge(['sh', 'a.sh'], { 'a.sh': script });
      expectBounded(spent);
    }),
    { numRuns: 40 },
  );
});

test('of so many files is asked whether they are tracked, and the others are taken as not', async () => {
  let asked = 0;
  const inspector = {
    read: (): Promise<string> => Promise.resolve('x'),
    isTracked: (): Promise<boolean> => Promise.resolve((asked += 1) > 0),
  };
  const text = Array.from({ length: 100 }, (_, at) => `cp a f${at}.txt`).join('\n');
  const promises = { read_only: false, idempotency_key: '', data: [], scope: [] };
  const argv = ['sh', '-c', text];
  const action = { runner: 'command', argv, cwd: '', env: {}, stdin: '', ...promises };
  const { level } = await classify(action, { policy, inspector });
  expect([asked, level]).toEqual([attentionLimits.tracked, 'Elevated']);
});
