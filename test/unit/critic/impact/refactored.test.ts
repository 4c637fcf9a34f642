import { expect, test } from 'vitest';
import { changeFrom } from '../../../../src/critic/impact/change.js';
import { lossesIn } from '../../../../src/critic/impact/lost.js';

async function lost(before: string, after: string): Promise<string[]> {
  const change = await changeFrom('work.ts', before, after);
  if (change === undefined) throw new Error('it is not parsed');
  return lossesIn(change).map(({ kind, text }) => `${kind} ${text}`);
}

/** So that most of a text stays what it was. */
const others = Array.from({ length: 14 }, (_each, at) => `interface S${at} { a${at}: number }`);
const work = (...body: string[]): string =>
  ['export function work(box: Box, n: number): number {', ...body, '}', ...others, ''].join('\n');

test.each<[string, string[], string[]]>([
  [
    'an answer that is taken into a constant first',
    ['  if (box.size > n || isOver(box)) return 0;', '  return box.take(n);'],
    [
      '  const isEnough = box.size > n || isOver(box);',
      '  if (isEnough || box.isClosed) return 0;',
      '  return box.take(n);',
    ],
  ],
  [
    'a pattern that another function asks for beside one that stays',
    [
      '  if (past.test(box.text)) return 1;',
      '  if (absent.test(box.text)) return 2;',
      '  return 0;',
    ],
    ['  if (past.test(box.text)) return 1;', '  if (isDenied(box, n)) return 2;', '  return 0;'],
  ],
  [
    'a value that has another one instead',
    ['  const text = read(box);', '  if (text === undefined) return 0;', '  return text.length;'],
    ["  const text = read(box) ?? '';", '  return text.length;'],
  ],
  [
    'an operand in place of another one',
    ['  if (box.isCut || box.size > most) return 0;', '  return box.take(n);'],
    ['  if (box.isCut || isCrowded(box)) return 0;', '  return box.take(n);'],
  ],
  [
    'a condition in other words, with what it does',
    ['  if (box.parts.length + box.names.length === 0) return askedFor(box, n);', '  return n;'],
    ['  if (isNowhere(box)) return askedFor(box, n);', '  return n + box.parts.length;'],
  ],
  [
    'an end that is cut off in another way',
    ["  const name = box.name.replace(/^- /, '');", '  return name.length;'],
    ['  const name = box.name.slice(2);', '  return name.length;'],
  ],
  [
    'a bound among those that are spread',
    ['  return box.take({ n, deadlineMs: box.deadlineMs });'],
    ['  return box.take({ n, ...box.given });'],
  ],
])('%s is not lost', async (_name, before, after) => {
  expect(await lost(work(...before), work(...after))).toEqual([]);
});

test('a bound that became what a parameter is, unless it is given, is not lost', async () => {
  const of = (head: string, line: string): string =>
    [`export function ask(${head}): number {`, line, '  return send(endMs);', '}', ...others].join(
      '\n',
    );
  const before = of('to: string', '  const endMs = now() + questionMsMax;');
  const after = of('to: string, forMs = questionMsMax', '  const endMs = now() + forMs;');
  expect(await lost(before, after)).toEqual([]);
});

test('an operand behind return is the same one without it', async () => {
  const before = work('  return box.isOpen && box.size > n;');
  const after = work('  const isFit = box.isOpen && box.size > n;', '  return isFit;');
  expect(await lost(before, after)).toEqual([]);
});

test('what is lost is reported', async () => {
  const before = work('  if (box.isCut || box.size > most) return 0;', '  return box.take(n);');
  expect(await lost(before, work('  if (box.isCut) return 0;', '  return box.take(n);'))).toEqual([
    expect.stringContaining('check-lost `box.size>most` is no longer asked for'),
  ]);
  const checked = work('  if (!isOpen(box)) return 0;', '  return box.take(n);');
  expect(await lost(checked, work('  isOpen(box);', '  return box.take(n);'))).toEqual([
    expect.stringContaining('result-unchecked The result of `isOpen`'),
  ]);
});

test('conditions of a function with thousands of them are not compared with each other', async () => {
  const of = (name: string): string =>
    work(
      ...Array.from({ length: 4_000 }, (_each, at) => `  if (${name}${at}(n)) return b${at}(n);`),
    );
  const before = of('a');
  // Half of it stays.
  const half = before.length / 2;
  const after = before.slice(0, half) + of('c').slice(half);
  expect(await lost(before, after)).toEqual([]);
});
