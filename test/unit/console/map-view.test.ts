import { expect, test } from 'vitest';
import {
  discAt,
  fitted,
  scaleMax,
  scaleMin,
  within,
  zoomed,
} from '../../../services/console/page/pages/map/view.js';

test('what is under the pointer stays there when it becomes larger or smaller', () => {
  const view = { x: 40, y: -20, scale: 0.5 };
  const at = { x: 300, y: 120 };
  for (const by of [2, 0.5, 1_000, 0.0001]) {
    const its = zoomed(view, by, at);
    const [before, after] = [within(view, at), within(its, at)];
    expect(after.x).toBeCloseTo(before.x);
    expect(after.y).toBeCloseTo(before.y);
    expect(its.scale).toBeGreaterThanOrEqual(scaleMin);
    expect(its.scale).toBeLessThanOrEqual(scaleMax);
  }
});

test('a drawing fits into its box, in the middle of it', () => {
  const discs = [
    { x: -500, y: 0, radius: 20 },
    { x: 900, y: 300, radius: 40 },
  ];
  const box = { width: 800, height: 400 };
  const view = fitted(discs, box);
  const edges = discs.flatMap(({ x, radius }) =>
    [x - radius, x + radius].map((each) => view.x + view.scale * each),
  );
  expect(Math.min(...edges)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...edges)).toBeLessThanOrEqual(box.width);
  expect(Math.min(...edges)).toBeCloseTo(box.width - Math.max(...edges));
  expect(fitted([], box)).toEqual({ x: 400, y: 200, scale: 1 });
});

test('of discs above each other the last one is meant', () => {
  const one = { x: 0, y: 0, radius: 10 };
  const other = { x: 8, y: 0, radius: 10 };
  expect(discAt([one, other], { x: 5, y: 0 })).toBe(other);
  expect(discAt([one, other], { x: -5, y: 0 })).toBe(one);
  expect(discAt([one, other], { x: 40, y: 0 })).toBeUndefined();
});
