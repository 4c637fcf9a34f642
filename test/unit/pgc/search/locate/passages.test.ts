import { expect, test } from 'vitest';
import { PassageFinder } from '../../../../../src/pgc/search/locate/passages.js';

const worths = new Map([
  ['queue', 2],
  ['stuck', 3],
]);
const text = `/* A queue. */
int first(int queue)
{
	return queue;
}

/* What to do when it is stuck. */
int second(int queue)
{

	return queue;
}
`.split('\n');

test('the passage that has most of the words is found, with the comment above it', () => {
  expect(new PassageFinder(worths).best(text).line).toBe(7);
});

test('it is worth more than one that has less, and nothing where no word stands', () => {
  const finder = new PassageFinder(worths);
  const whole = finder.best(text).score;
  expect(finder.best(text.slice(0, 5)).score).toBeLessThan(whole);
  expect(finder.best(['int zebra;'])).toEqual({ score: 0, line: 0 });
  expect(new PassageFinder(new Map()).best(text)).toEqual({ score: 0, line: 0 });
});

test('a text without empty lines is one passage, one with many is cut somewhere', () => {
  const lines = Array.from({ length: 400 }, (_, at): string => (at % 2 === 0 ? ' line' : ''));
  lines[300] = ' queue stuck';
  const { line } = new PassageFinder(worths).best(lines);
  expect(line).toBeGreaterThan(1);
  expect(line).toBeLessThanOrEqual(301);
});
