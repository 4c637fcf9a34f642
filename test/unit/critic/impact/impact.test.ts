import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { alikeOf } from '../../../../src/critic/impact/facts.js';
import { impactOf } from '../../../../src/critic/impact/gather.js';
import type { Component, Impact, Reach } from '../../../../src/critic/impact/impact.js';
import { isUntested } from '../../../../src/critic/impact/impact.js';
import {
  detectionOf,
  occurrenceOf,
  rpnOf,
  severityOf,
} from '../../../../src/critic/impact/rating.js';
import { testsOf, usersOf } from '../../../../src/critic/impact/phrases.js';
import { meantIn, statementsIn } from '../../../../src/critic/impact/statements.js';
import type { CallSite } from '../../../../src/pgc/shapes.js';
import { failingTree, type FailingTree } from '../modes/failing-tree.js';

const files = {
  'src/box.ts': [
    '/** Holds things. */',
    'export class Box {',
    '  /** It must never lose one. */',
    '  put(one: string): void {',
    '    function inner(): void {',
    '      try { take(one); } catch {}',
    '    }',
    "    if (one === '') throw new TypeError('nothing');",
    '    inner();',
    '  }',
    '  shut(): void {',
    '    take(this);',
    '  }',
    '}',
    'export function take(one: unknown): unknown {',
    '  return one;',
    '}',
    '',
  ].join('\n'),
  'src/use.ts': [
    "import { take } from './box.js';",
    'export function user(box: { put(one: string): void }): void {',
    "  box.put('a');",
    '  take(1);',
    '}',
    '',
  ].join('\n'),
  'src/bag.ts': 'export class Bag {\n  put(one: string): string {\n    return one;\n  }\n}\n',
  'src/one.ts': 'export function twin(): void {}\n',
  'src/two.ts': 'export function twin(): void {}\n',
  'src/three.ts': 'export function twin(): void {}\n',
  'src/four.ts': 'export function twin(): void {}\n',
  'test/box.test.ts': [
    "import { take } from '../src/box.js';",
    "test('a', () => { made().put('a'); take(1); });",
    '',
  ].join('\n'),
};
let tree: FailingTree;
beforeAll(async () => {
  tree = await failingTree(files);
}, 60_000);
afterAll(() => tree[Symbol.asyncDispose]());

const impactIn = async (path: string, text?: string): Promise<Impact> =>
  impactOf(await tree.input(path, text === undefined ? {} : { text }));
const component = ({ components }: Impact, name: string): Component => {
  const found = components.find((each) => each.name === name);
  if (found === undefined) throw new Error(name);
  return found;
};

describe('subject', () => {
  test('of a source file: its functions, from their first to their last line, with the remark above', async () => {
    const { components, isCode } = await impactIn('src/box.ts');
    expect(isCode).toBe(true);
    expect(components.map(({ name, line, line_end }) => [name, line, line_end])).toEqual([
      ['put', 4, 10],
      ['inner', 5, 7],
      ['shut', 11, 13],
      ['take', 15, 17],
    ]);
  });

  test('of a document: names of code and files, and what has too many definitions is said', async () => {
    const impact = await impactIn('docs/a.md', 'Call `take()` of `src/use.ts`, never `twin()`.\n');
    expect(impact.components.map(({ id }) => id)).toEqual(['src/box.ts#take', 'src/use.ts']);
    expect(impact.unable.join()).toContain('`twin()` mean: each has more than 3 definitions');
  });

  test('words in small letters are no names of code', async () => {
    expect((await impactIn('docs/a.md', 'The `take` of it.\n')).components).toEqual([]);
  });

  test('a text that the tree does not hold: functions are where their name is defined', async () => {
    const moved = `\n\n${files['src/box.ts']}`;
    const impact = await impactIn('src/box.ts', moved);
    expect(component(impact, 'take')).toMatchObject({ line: 17, line_end: 19 });
    expect(impact.unable.join()).toContain('the text differs from the file of the tree');
  });
});

describe('facts', () => {
  test('an empty handler is of the innermost function, an error of its own', async () => {
    const impact = await impactIn('src/box.ts');
    expect(component(impact, 'put').emptyHandlers).toEqual([]);
    expect(component(impact, 'inner').emptyHandlers.map(({ line }) => line)).toEqual([6]);
    expect(component(impact, 'put').errors).toEqual([{ code: 'TypeError', line: 8 }]);
  });

  test('where nothing has its name, nothing does', async () => {
    const impact = await impactIn('src/box.ts');
    const shut = component(impact, 'shut');
    expect(usersOf(shut.reach!)).toBe('no user found');
    expect(isUntested(shut, impact)).toBe(true);
    expect(severityOf(shut)).toEqual({ value: null, why: 'no user was found' });
    expect(detectionOf(shut, impact).value).toBe(8);
  });

  test('known users and tests', async () => {
    const impact = await impactIn('src/box.ts');
    const { reach } = component(impact, 'take');
    expect(reach?.alike).toEqual({ users: [], tests: [] });
    expect(usersOf(reach!)).toContain('`user` (src/use.ts:2)');
    expect(testsOf(reach!)).toBe('tests: test/box.test.ts');
  });
});

describe('rating', () => {
  const reach = (more: Partial<Reach>): Reach => ({
    ...{ consumers: 1, direct: 1, isMore: false, agents: [], callers: [], tests: [] },
    ...{ testsDirect: 0, openings: [], isHeld: false, alike: { users: [], tests: [] } },
    ...more,
  });
  const of = (its: Partial<Reach>, more: Partial<Component> = {}): Component => ({
    ...{ id: 'a#b', name: 'b', kind: 'function', path: 'a', line: 1, line_end: 2, doc: '' },
    ...{ reach: reach(its), branches: 1, emptyHandlers: [], errors: [], threats: [] },
    ...{ checks: [], ignoring: [], using: 0, returnsErrors: false },
    ...more,
  });
  const node = { agent: '', symbol: '', kind: '', file_path: '', line: 1, depth: 2, call_site: '' };

  test.each([
    [1, 3],
    [2, 3],
    [3, 4],
    [5, 4],
    [6, 5],
    [20, 5],
    [21, 6],
    [100, 6],
    [101, 7],
    [1_000, 7],
    [1_001, 8],
  ])('S of %i users is %i, and one more from outside', (consumers, value) => {
    expect(severityOf(of({ consumers })).value).toBe(value);
    const openings = [{ reason: 'a' }] as unknown as Reach['openings'];
    expect(severityOf(of({ consumers, openings })).value).toBe(value + 1);
  });

  test('S is at least what O2 says of a weakness, and unknown without an index', () => {
    const threats = [
      { type: 'shell-command', severity: 'high' },
    ] as unknown as Component['threats'];
    expect(severityOf(of({}, { threats }))).toEqual({
      value: 7,
      why: '1 user, shell-command (high)',
    });
    expect(severityOf(of({}, { reach: undefined })).value).toBeNull();
    expect(severityOf(of({ consumers: 0, isHeld: true })).value).toBeNull();
  });

  test.each([
    [5, 2],
    [6, 3],
    [10, 3],
    [11, 5],
    [20, 5],
    [21, 6],
    [40, 6],
    [41, 7],
  ])('O of %i decisions is %i, more with commits and a shown gap', (branches, value) => {
    const its = of({}, { branches });
    expect(occurrenceOf(its, undefined, false).value).toBe(value);
    expect(occurrenceOf(its, { commits: 9 }, false).value).toBe(value);
    expect(occurrenceOf(its, { commits: 10 }, false).value).toBe(value + 1);
    expect(occurrenceOf(its, { commits: 30 }, true).value).toBe(Math.min(10, value + 4));
  });

  test.each([
    [{ testsDirect: 3 }, 2],
    [{ testsDirect: 1 }, 3],
    [{ tests: [node] }, 5],
    [{}, 8],
    [{ isMore: true }, null],
    [{ isHeld: true }, null],
  ] as const)('D of %j is %j', (its, value) => {
    const detected = (more: Partial<Component>, hasTests = true) =>
      detectionOf(of(its as Partial<Reach>, more), { hasTests } as Impact).value;
    const checks = [{ overlay: 'O6', rule: 'assertion', path: 'a', line: 1, text: '' }];
    expect(detected({})).toBe(value);
    expect(detected({ checks })).toBe(value === null ? null : value - 1);
    expect(detected({}, false)).toBeNull();
  });

  test('a member of its name may be it: neither user nor test is denied', () => {
    const site = (file_path: string, kind = 'member') =>
      ({ file_path, line: 3, kind }) as unknown as CallSite;
    const sites = [site('src/use.ts'), site('test/a.test.ts'), site('src/c.ts', 'direct')];
    const alike = alikeOf(sites, reach({ consumers: 0 }));
    expect([alike.users, alike.tests]).toEqual([[sites[0]], [sites[1]]]);
    expect(alikeOf(sites, reach({ tests: [node] as unknown as Reach['tests'] })).tests).toEqual([]);
    const its = of({ consumers: 0, alike });
    const words = 'none for sure; calls of a member of its name:';
    expect(usersOf(reach({ consumers: 0, alike }))).toBe(`${words} src/use.ts:3`);
    expect(testsOf(reach({ alike }))).toBe(`${words} test/a.test.ts:3`);
    expect(isUntested(its, { hasTests: true } as Impact)).toBe(false);
    expect(severityOf(its).why).toBe('calls of its name may be of another');
    expect(detectionOf(its, { hasTests: true } as Impact).value).toBeNull();
  });

  test('what is not known makes no RPN', () => {
    const [three, none] = [
      { value: 3, why: '' },
      { value: null, why: '' },
    ];
    expect([rpnOf(three, three, three), rpnOf(three, none, three)]).toEqual([27, null]);
  });
});

describe('statements', () => {
  test('names in a sentence mean components, each once', async () => {
    const impact = await impactIn('docs/a.md', '`take()` and take() and `other()`.\n');
    expect(meantIn('`take()` and take()', impact).map(({ name }) => name)).toEqual(['take']);
  });

  test('a comment is about the function below it', async () => {
    const input = await tree.input('src/box.ts');
    const found = await statementsIn(input, await impactOf(input));
    expect(found.map(({ kind, line_start, about }) => [kind, line_start, about[0]?.name])).toEqual([
      ['promise', 3, 'put'],
    ]);
  });
});
