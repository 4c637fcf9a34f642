import { expect, test } from 'vitest';
import {
  bodyLinesMax,
  decidingMax,
  excerptLines,
  excerptLinesMax,
  lineCharsMax,
  plainLines,
  withDeciding,
} from '../../../../src/pgc/answer/deciding.js';
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
  expect(shown(body, 'Does it weigh the anchor in the harbour?')).toEqual([
    ...['10', '13>', '14', '16>'],
  ]);
});

test('of lines that say nothing new none is taken', () => {
  expect(shown(body, 'weigh the anchor')).toEqual(['10', '13>', '14']);
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
  expect(shown(body, 'flux capacitor')).toEqual(['10', '12', '13']);
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

test('a line that leads on is shown in its place, once', () => {
  const excerpt = [
    { line: 3, text: 'int run(void)', decides: false },
    { line: 9, text: '\treturn 0;', decides: false },
  ];
  const more = withDeciding(excerpt, '\tstart(engine);', 5);
  expect(more.map(({ line, decides }) => [line, decides])).toEqual([
    [3, false],
    [5, true],
    [9, false],
  ]);
  expect(withDeciding(more, '\tstart(engine);', 5)).toEqual(more);
  expect(withDeciding(excerpt, 'password = "Tr0ub4dorAndThree"', 5)).toEqual(excerpt);
});

test('a full excerpt gives up what decides nothing for a line that leads on', () => {
  const full = Array.from({ length: excerptLinesMax }, (_, at) => ({
    ...{ line: at + 1, text: `line ${at}` },
    decides: at > 0 && at < excerptLinesMax - 1,
  }));
  const more = withDeciding(full, 'call();', 99);
  expect(more).toHaveLength(excerptLinesMax);
  expect([more[0]?.line, more.at(-1)?.line]).toEqual([1, 99]);
  expect(withDeciding(more, 'call();', 100)).toEqual(more);
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
