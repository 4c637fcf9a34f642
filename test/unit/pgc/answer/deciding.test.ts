import { expect, test } from 'vitest';
import {
  bodyLinesMax,
  decidingMax,
  excerptLines,
  excerptLinesMax,
  lineCharsMax,
  plainLines,
} from '../../../../src/pgc/answer/deciding.js';
import { codeFrom } from '../../../../src/pgc/answer/doc-lines.js';
import { analyse } from '../../../../src/pgc/search/question/question.js';

const soughtBy = (text: string) => {
  const question = analyse(text);
  return { question, masses: question.concepts.map(() => 1) };
};
const shown = (lines: string[], question: string) =>
  excerptLines(lines, 10, soughtBy(question)).map(
    ({ line, decides }) => `${line}${decides ? '>' : ''}`,
  );

const body = [
  'int ferry(void)',
  '{',
  '\tint tide = 0;',
  '\tweigh(anchor);',
  '\tweigh(anchor, again);',
  '\treturn 1;',
  '\tsteer(harbour);',
  '}',
];

test('the signature comes first, then the lines that hold what is asked for, each with the next one', () => {
  const long = [...body.slice(0, -1), ...Array.from({ length: 20 }, () => '\tdrift();'), '}'];
  expect(shown(long, 'Does it weigh the anchor in the harbour?')).toEqual([
    ...['10', '13>', '14', '16>', '17'],
  ]);
});

test('a body that fits is shown whole, of lines that say nothing new none decides', () => {
  expect(shown(body, 'weigh the anchor')).toEqual(['10', '12', '13>', '14', '15', '16']);
});

test('a line that says more is chosen before one that says less', () => {
  const lines = [
    'void go()',
    ...Array.from({ length: decidingMax }, (_, at) => `w${at}x();`),
    'all(harbour, anchor);',
  ];
  const words = Array.from({ length: decidingMax }, (_, at) => `w${at}x`).join(' ');
  const found = shown(lines, `${words} harbour anchor`);
  expect(found).toContain('16>');
  expect(found.filter((each) => each.endsWith('>'))).toHaveLength(decidingMax);
});

test('without a word of the question a body is shown by its beginning', () => {
  const long = [...body, ...Array.from({ length: 20 }, () => '\tdrift();')];
  expect(shown(long, 'flux capacitor')).toEqual(['10', '12', '13', '14']);
});

test('a line that shows a credential is left out, wherever it stands in the line', () => {
  const lines = [
    'void open(void)',
    'anchor(password = "Tr0ub4dorAndThree");',
    `anchor(${' '.repeat(lineCharsMax - 20)}password = "Tr0ub4dorAndThree");`,
    'plain(anchor);',
  ];
  const its = excerptLines(lines, 10, soughtBy('anchor password'));
  expect(JSON.stringify(its)).not.toContain('Tr0ub');
  expect(its[0]).toMatchObject({ line: 10 });
  expect(plainLines(lines, 10).map(({ line }) => line)).toEqual([10, 13]);
});

test('at most twelve lines are shown, each by its beginning, of the first six hundred', () => {
  const long = `anchor ${'😀'.repeat(lineCharsMax)}`;
  const lines = Array.from({ length: 2 * bodyLinesMax }, (_, at) => `w${at}x ${long}`);
  lines[bodyLinesMax] = 'harbour';
  const words = Array.from({ length: 20 }, (_, at) => `w${at}x`).join(' ');
  const its = excerptLines(lines, 10, soughtBy(`anchor harbour ${words}`));
  expect(its.filter(({ decides }) => decides)).toHaveLength(decidingMax);
  expect(its.length).toBeLessThanOrEqual(excerptLinesMax);
  expect(plainLines(lines, 10)).toHaveLength(excerptLinesMax);
  for (const { text, line } of [...its, ...plainLines(lines, 10)]) {
    expect(text.length).toBeLessThanOrEqual(lineCharsMax);
    expect(text).not.toMatch(/[\ud800-\udbff]$/);
    expect(line).toBeLessThan(10 + bodyLinesMax);
  }
  // What stands behind the shown beginning of a line decides nothing.
  expect(shown(['f()', 'x', `${' '.repeat(lineCharsMax)} harbour`], 'harbour')).toEqual([
    ...['10', '11', '12'],
  ]);
});

test('a line on which the function leads on decides, the best of them where there is no room for all', () => {
  const lines = Array.from({ length: 40 }, (_, at) => `line${at}();`);
  const excerpt = (leads: number[]) =>
    excerptLines(lines, 10, soughtBy('line17'), { code: 1, leads });
  const deciding = (leads: number[]) =>
    excerpt(leads).flatMap(({ line, decides }) => (decides ? [line] : []));
  expect(deciding([40, 15, 40])).toEqual([15, 27, 40]);
  // Its head, what lies outside, and what is not read, are no step of it.
  expect(deciding([10, 9, 900])).toEqual([27]);
  const many = Array.from({ length: 30 }, (_, at) => 49 - at);
  expect(deciding(many)).toEqual([27, ...many.slice(0, excerptLinesMax - 2).toReversed()]);
  expect(excerpt(many)).toHaveLength(excerptLinesMax);
});

test('the line after what decides comes before those that only say the same again', () => {
  const lines = ['void go()', '{', ...Array.from({ length: 30 }, () => 'weigh(anchor);'), '}'];
  const its = excerptLines(lines, 1, soughtBy('anchor'), { code: 1, leads: [20] }).map(
    ({ line }) => line,
  );
  expect(its).toEqual([1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 20, 21]);
});

test.each([
  [['#[inline]', 'fn anchor(', '    anchor: u8,', ') -> u8', '{'], '    0'],
  [['int go(int a,', '       int anchor)', '{'], '\tweigh(a);'],
  [['def go(self, a=")",', '       anchor):', '    """The anchor."""'], '    weigh(a)'],
  [['def go(self):', '    r"""Weighs', '', '    the anchor.', '    """'], '    weigh(a)'],
  [['export const go = (', '  anchor: Anchor', ') =>'], '  weigh(a)'],
])('signature and docstring decide nothing: %j', (head, code) => {
  const rest = Array.from({ length: 20 }, (_, at) => `${code}${at}`);
  const of = (lines: string[]) =>
    excerptLines(lines, 1, soughtBy('anchor'), { code: codeFrom(lines), leads: [] });
  expect(of([...head, ...rest]).some(({ decides }) => decides)).toBe(false);
  expect(of([...head, ...rest]).map(({ line }) => line)).toEqual([
    ...[1, head.length + 1, head.length + 2, head.length + 3],
  ]);
  const [said] = of([...head, ...rest, 'weigh(anchor)', '}']).filter(({ decides }) => decides);
  expect(said).toMatchObject({ text: 'weigh(anchor)' });
});

test.each([
  ['no code behind it', ['def anchor():', '    """Weighs it."""']],
  ['no end of the signature', ['anchor = weigh(', '  anchor)']],
  ['no end of the docstring', ['def go():', '    """Weighs', '    the anchor']],
])('of a definition with %s the code begins after the first line', (_, lines) => {
  expect(codeFrom(lines)).toBe(1);
});

test('of a file each line but the first may decide', () => {
  const lines = ['#!/bin/sh', 'weigh anchor', 'case $1 in', 'a) go() {', '  drift', '}', 'esac'];
  const its = excerptLines(lines, 1, soughtBy('anchor')).filter(({ decides }) => decides);
  expect(its).toMatchObject([{ line: 2 }]);
});

test('a comment speaks of the code below it, which decides', () => {
  const lines = [
    'void run(void)',
    '{',
    '\t// Frames are dropped when the ring is full.',
    '\tif (is_full(r))',
    '\t\treturn;',
    '}',
  ];
  const deciding = excerptLines(lines, 1, soughtBy('When are frames dropped?')).filter(
    ({ decides }) => decides,
  );
  expect(deciding.map(({ line }) => line)).toEqual([4]);
});
