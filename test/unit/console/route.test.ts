import { expect, test } from 'vitest';
import { about, linkTo, routeOf, treeOf } from '../../../services/console/page/address.js';

test('a link leads back to what it was made of', () => {
  const link = linkTo('tasks', ['a/b', 'c d%'], { q: 'who & what?', empty: '', none: undefined });
  const { page, rest, query } = routeOf(link);
  expect(page).toBe('tasks');
  expect(rest).toEqual(['a/b', 'c d%']);
  expect([...query]).toEqual([['q', 'who & what?']]);
});

test('the first page has no name, and a lone percent sign is one', () => {
  expect(routeOf('/')).toMatchObject({ page: '', rest: [] });
  expect(routeOf('/mail/100%/')).toMatchObject({ page: 'mail', rest: ['100%'] });
});

test('a link is about one tree, or about any', () => {
  const link = about('/ask?q=x', '/work/a b');
  expect(treeOf(routeOf(link))).toBe('/work/a b');
  expect(routeOf(link).query.get('q')).toBe('x');
  expect(about(link, undefined)).toBe('/ask?q=x');
});
