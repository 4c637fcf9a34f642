import { expect, test } from 'vitest';

// The benches are plain JavaScript without types.
const bench = '../../bench/retrieval';
const metrics = await import(`${bench}/metrics.mjs`);
const maps = await import(`${bench}/maps.mjs`);
const sets = await import(`${bench}/sets.mjs`);
const { heldSentences } = await import(`${bench}/held.mjs`);

const answers = [
  { path: 'src/a.ts', symbol: 'open' },
  { path: 'src/a.ts', symbol: 'Box.close' },
  { path: 'README.md' },
];
const at = (path: string, ...symbols: string[]) => ({ path, symbols });

test('a place is an answer when its file is, and one of its symbols where the answer names one', () => {
  expect(metrics.answersAt(at('src/a.ts', 'close'), answers, 'place')).toEqual([1]);
  expect(metrics.answersAt(at('src/a.ts', 'read', 'Box.open'), answers, 'place')).toEqual([0]);
  expect(metrics.answersAt(at('src/a.ts'), answers, 'place')).toEqual([]);
  expect(metrics.answersAt(at('README.md', 'Use it'), answers, 'place')).toEqual([2]);
  expect(metrics.answersAt(at('src/a.ts', 'read'), answers, 'file')).toEqual([0, 1]);
  expect(metrics.answersAt(at('src/b.ts', 'open'), answers, 'file')).toEqual([]);
});

test('an answer that is a line is found by what is cited at most ten lines from it', () => {
  const line = [{ path: 'a.conf', says: 'port 1', line: 40 }];
  const cited = (from: number, to: number) => ({ path: 'a.conf', symbols: [], lines: [from, to] });
  expect(metrics.answersAt(cited(35, 45), line, 'place')).toEqual([0]);
  expect(metrics.answersAt(cited(20, 30), line, 'place')).toEqual([0]);
  expect(metrics.answersAt(cited(51, 60), line, 'place')).toEqual([]);
  expect(metrics.answersAt({ path: 'a.conf' }, line, 'place')).toEqual([]);
  expect(metrics.answersAt({ path: 'a.conf' }, line, 'file')).toEqual([0]);
});

test('an answer that was found before is right again, but gains nothing', () => {
  const ranking = [at('src/b.ts', 'open'), at('src/a.ts', 'open'), at('src/a.ts', 'open')];
  expect(metrics.judged(ranking, answers, 'place')).toEqual({
    right: [false, true, true],
    isNew: [false, true, false],
    total: 3,
  });
  expect(metrics.judged(ranking, answers, 'file').total).toBe(2);
});

test('a hit, a reciprocal rank and a discounted gain by hand', () => {
  const judged = metrics.judged(
    [at('src/b.ts'), at('src/a.ts', 'open'), at('README.md')],
    answers,
    'place',
  );
  expect([1, 2, 5].map((k) => metrics.hitAt(judged, k))).toEqual([0, 1, 1]);
  expect(metrics.reciprocalRank(judged)).toBe(0.5);
  // Gained at the second and third place, of three answers at the first three.
  const gained = 1 / Math.log2(3) + 1 / 2;
  expect(metrics.ndcgAt(judged, 5)).toBeCloseTo(gained / (1 + gained), 12);
  expect(metrics.ndcgAt(judged, 1)).toBe(0);
});

test('nothing found and nothing to find count zero', () => {
  const nothing = metrics.judged([], answers, 'place');
  expect(metrics.hitAt(nothing, 5)).toBe(0);
  expect(metrics.reciprocalRank(nothing)).toBe(0);
  expect(metrics.ndcgAt(nothing, 5)).toBe(0);
  expect(metrics.ndcgAt(metrics.judged([at('a')], [], 'file'), 5)).toBe(0);
});

test('the calibration error weighs each tenth by its hits', () => {
  const rows = [
    { stated: 0.25, right: false },
    { stated: 0.25, right: true },
    { stated: 0.95, right: true },
    { stated: 1, right: true },
  ];
  const { count, tenths, error, brier } = metrics.reliability(rows);
  expect(count).toBe(4);
  expect(tenths[2]).toEqual({ count: 2, stated: 0.25, right: 0.5 });
  expect(tenths[9].count).toBe(2);
  // |0.5 − 1| of the third tenth and |1.95 − 2| of the last one, over four hits.
  expect(error).toBeCloseTo(0.55 / 4, 12);
  expect(brier).toBeCloseTo((0.0625 + 0.5625 + 0.0025) / 4, 12);
});

test('pooled neighbours make an isotonic map: steps that never fall', () => {
  const scores = [0.1, 0.2, 0.3, 0.4, 0.5];
  const right = [false, true, false, true, true];
  const steps = maps.isotonic(scores.map((score, each) => ({ score, right: right[each] })));
  expect(steps).toEqual([
    [0.1, 0],
    [0.2, 0.5],
    [0.4, 1],
  ]);
  expect([0, 0.1, 0.35, 0.9].map((score) => maps.isotonicValue(steps, score))).toEqual([
    0, 0, 0.5, 1,
  ]);
});

test('a fitted map states the shares it saw, and gives no weight to what speaks against it', () => {
  const rows = [
    ...Array.from({ length: 40 }, (_, each) => ({ x: 0, y: 1, right: each < 8 })),
    ...Array.from({ length: 40 }, (_, each) => ({ x: 1, y: 0, right: each < 32 })),
  ];
  const model = maps.fitLogistic(rows, ['x', 'y']);
  expect(model.y).toBe(0);
  expect(maps.logisticValue({ x: 0, y: 0 }, model, ['x', 'y'])).toBeCloseTo(0.2, 2);
  expect(maps.logisticValue({ x: 1, y: 0 }, model, ['x', 'y'])).toBeCloseTo(0.8, 2);
});

test('a row counts as often as its weight says', () => {
  const once = Array.from({ length: 40 }, (_, each) => ({ x: each % 3, right: each % 4 === 0 }));
  const doubled = once.flatMap((row) => (row.x === 1 ? [row, row] : [row]));
  const weighed = once.map((row) => ({ ...row, weight: row.x === 1 ? 2 : 1 }));
  const [one, other] = [doubled, weighed].map((rows) => maps.fitLogistic(rows, ['x']));
  expect(one.x).toBeCloseTo(other.x, 6);
  expect(one.intercept).toBeCloseTo(other.intercept, 6);
  expect(one.intercept).not.toBeCloseTo(maps.fitLogistic(once, ['x']).intercept, 3);
});

test('no question is fitted on and reported', () => {
  const asked = (names: string[]): string[] =>
    names.flatMap((name) =>
      sets.questionSet(name).questions.map((each: { question: string }) => each.question),
    );
  const reported = asked(Object.values(sets.reportSets));
  expect(new Set(reported).size).toBe(reported.length);
  expect(asked(sets.fitSets).filter((each) => reported.includes(each))).toEqual([]);
});

test('every answerable question has an answer, and no id is there twice', () => {
  const names = [...Object.values<string>(sets.reportSets), ...sets.fitSets];
  const all = names.flatMap((name) => sets.questionSet(name).questions);
  expect(all.filter(({ answers }) => answers.length === 0)).toEqual([]);
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
});

test('nothing is said of evidence that it lacks', () => {
  const source = {
    ...{ text: 'function:warm_up | params:1', symbol: 'warm_up', overlay: 'O1', section: 'O1' },
    ...{
      content: '/* heat the boiler */\nint warm_up(void)',
      file_path: 'engine.c',
      line_start: 6,
    },
  };
  const missing = (name: string, said: string): string[][] =>
    heldSentences({ evidence: [{ ...source, name, container: '', said }] }).map(
      (each: { missing: string[] }) => each.missing,
    );
  expect(missing('warm_up', 'heat the boiler')).toEqual([[]]);
  expect(missing('warm_up', 'cool the boiler')).toEqual([['cool']]);
  expect(missing('strcpy', '')).toEqual([['strcpy']]);
});
