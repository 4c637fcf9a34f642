import { readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LeftPlaces, placesMax } from '../../../../src/operations/explore/left.js';
import { temporaryFolder } from '../../../support/temporary.js';

let home: ReturnType<typeof temporaryFolder>;
beforeEach(() => void (home = temporaryFolder()));
afterEach(() => home.remove());

test('any process of the home goes on where an answer ended', () => {
  const id = new LeftPlaces(home.path).keep({ root: '/t', places: ['a.c:1', 'b.c:2'] });
  expect(new LeftPlaces(home.path).of(id)).toEqual({ root: '/t', places: ['a.c:1', 'b.c:2'] });
  const folder = path.join(home.path, 'explored');
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(path.join(folder, `${id}.json`)).mode & 0o777).toBe(0o600);
});

test('what was never kept, is no id, or was tampered with, is refused', () => {
  const left = new LeftPlaces(home.path);
  const id = left.keep({ root: '/t', places: ['a.c:1'] });
  writeFileSync(path.join(home.path, 'explored', `${id}.json`), '[1]');
  writeFileSync(path.join(home.path, 'outside.json'), '["x:1"]');
  for (const each of ['00000000', '../outside', '', id])
    expect(() => left.of(each), each).toThrow(expect.objectContaining({ code: 'NOTHING_LEFT' }));
});

test('it keeps so many answers, and so many places of one', () => {
  const left = new LeftPlaces(home.path);
  const many = Array.from({ length: placesMax + 9 }, (_, at) => `a.c:${at}`);
  expect(left.of(left.keep({ root: '/t', places: many })).places).toHaveLength(placesMax);
  for (let at = 0; at < 300; at += 1) left.keep({ root: '/t', places: [`b.c:${at}`] });
  expect(readdirSync(path.join(home.path, 'explored'))).toHaveLength(256);
});
