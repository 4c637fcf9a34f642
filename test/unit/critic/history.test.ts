import { systemClock } from '../../../src/base/clock.js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { History, isIteration } from '../../../src/critic/cycle/history.js';
import { ratificationMs } from '../../../src/critic/cycle/cycle.js';
import type { CritiqueRequest } from '../../../src/critic/shapes.js';
import { criticLayout } from '../../../src/store/layouts.js';
import { trendPrefix } from '../../../src/store/keys.js';
import type { LevelStore } from '../../../src/store/level-store.js';
import { critiqueOf, findingOf } from '../../support/critiques.js';
import { asked as wished } from '../../support/reviews.js';
import { openTestStore } from '../../support/store.js';
import { temporaryFolder } from '../../support/temporary.js';

const askedFor = (path: string, more: Partial<CritiqueRequest> = {}): CritiqueRequest =>
  wished({ artifact: { path, text: '' }, ...more });
const asked = askedFor('docs/one.md');
const folder = temporaryFolder();
let at = 0;
let nowMs = 10_000;
let store: LevelStore;
const troubles: string[] = [];

const opened = (limits = {}): Promise<History> =>
  History.open({
    store,
    clock: { ...systemClock, nowMs: () => (nowMs += 1) },
    onTrouble: (key) => troubles.push(key),
    limits,
  });

beforeEach(async () => {
  nowMs = 10_000;
  troubles.length = 0;
  store = await openTestStore(`${folder.path}/${(at += 1)}`, criticLayout);
});
afterEach(() => store[Symbol.asyncDispose]());

describe('a history', () => {
  test('adds a critique once, and knows it after a restart', async () => {
    const history = await opened();
    const first = critiqueOf('one', 0.8, { findings: [findingOf('x')] });
    await Promise.all([history.add(first, asked), history.add(first, asked)]);
    await history.add(critiqueOf('two', 0.93), asked);
    const again = await opened();
    expect(
      (await again.of('docs/one.md')).tracking.iterations.map(({ critique }) => critique),
    ).toEqual([...['one', 'two']]);
    expect(await again.add(first, asked)).toMatchObject({ state: 'accepted', needs_person: false });
    expect(again.list()).toMatchObject([{ artifact: 'docs/one.md', iteration: 3, score: 0.93 }]);
  });

  test('iterations that nobody counted are counted, in the list as in the chart', async () => {
    const history = await opened();
    for (const [at, id] of ['one', 'two'].entries()) {
      const critique = critiqueOf(id, 0.6 + at / 10, { iteration: 1, begun_ms: at * 1_000 });
      await history.add(critique, asked);
    }
    const { tracking } = await history.of('docs/one.md');
    expect(tracking.iterations.map(({ iteration }) => iteration)).toEqual([2, 3]);
    expect(history.list()).toMatchObject([{ iteration: 3 }]);
  });

  test('a score that somebody names counts where no other is known', async () => {
    const history = await opened();
    const told = { ...asked, previous_score: 0.7 };
    const { tracking } = await history.add(critiqueOf('one', 0.93), told);
    expect(tracking.iterations.map(({ iteration, score }) => [iteration, score])).toEqual([
      [2, 0.7],
      [3, 0.93],
    ]);
    expect(tracking.iterations[1]?.improvement_delta).toBe(0.23);
    expect(tracking.iterations[1]?.flags.map(({ code }) => code)).toEqual(['LENIENCY_JUMP']);
    const next = await history.add(critiqueOf('two', 0.94, { begun_ms: 5_000 }), told);
    expect(next.tracking.iterations[2]?.improvement_delta).toBe(0.01);
  });

  test('is bounded: of one artifact, and in all', async () => {
    const history = await opened({ iterations: 2, artifacts: 2 });
    for (const [at, id] of ['one', 'two', 'three'].entries())
      await history.add(critiqueOf(id, 0.6 + at / 100, { begun_ms: at * 1_000 }), asked);
    const dropped = critiqueOf('one', 0.6, { begun_ms: 0 });
    const { tracking } = await history.add(dropped, asked);
    expect(tracking.iterations.map(({ critique }) => critique)).toEqual(['two', 'three']);
    for (const artifact of ['b.md', 'c.md'])
      await history.add(critiqueOf(artifact, 0.7, { artifact }), askedFor(artifact));
    expect(history.list().map(({ artifact }) => artifact)).toEqual(['c.md', 'b.md']);
    await expect(history.of('docs/one.md')).rejects.toThrow(/there is no review of/);
    expect((await opened()).list()).toHaveLength(2);
  });

  test('flags scores at the ceiling over artifacts', async () => {
    const history = await opened();
    const flags: string[][] = [];
    for (const artifact of ['a.md', 'b.md', 'c.md']) {
      const { tracking } = await history.add(
        critiqueOf(artifact, 0.97, { artifact }),
        askedFor(artifact),
      );
      flags.push(tracking.iterations.flatMap((each) => each.flags.map(({ code }) => code)));
    }
    expect(flags[1]).toEqual(['LENIENCY_FIRST']);
    expect(flags[2]).toEqual(['LENIENCY_FIRST', 'LENIENCY_CEILING']);
  });

  test('files of one path in two trees have a history each, called by their path while only one has it', async () => {
    const history = await opened();
    const inTree = (root: string, text = ''): CritiqueRequest =>
      askedFor('README.md', { root, artifact: { path: 'README.md', text } });
    const artifact = 'README.md';
    await history.add(critiqueOf('one', 0.8, { artifact, digest: 'a' }), inTree('/one'));
    expect((await history.of('README.md')).tracking.artifact).toBe('README.md');
    await history.add(critiqueOf('two', 0.87, { artifact, digest: 'b' }), inTree('/two'));
    await history.add(critiqueOf('three', 0.81, { artifact, digest: 'a' }), inTree('/one/'));
    const of = async (name: string): Promise<string[]> =>
      (await history.of(name)).tracking.iterations.map(({ critique }) => critique);
    expect([await of('/one/README.md'), await of('/two/README.md')]).toEqual([
      ['one', 'three'],
      ['two'],
    ]);
    // Neither goes in circles because of the other.
    expect((await history.of('/one/README.md')).why).toContain('the score is too low');
    const said = { judgement: 'revise', by: 'ada', text: '' } as const;
    for (const name of ['README.md', 'none.md'])
      await expect(history.ratify(name, said)).rejects.toMatchObject({
        code: name === 'none.md' ? 'NO_SUCH_ARTIFACT' : 'AMBIGUOUS_ARTIFACT',
      });
    for (const tree of ['/3', '/4', '/5', '/6', '/7'])
      await history.add(critiqueOf(tree, 0.8, { artifact }), inTree(tree));
    await expect(history.of('README.md')).rejects.toThrow(/: \/one\/README.md, .* and 2 more$/);
    const told = await (await opened()).of('/two/README.md');
    expect(told.tracking.artifact).toBe('/two/README.md');
    // A task is the same whichever tree its results speak of.
    for (const [id, root] of [
      ['x', '/one'],
      ['y', ''],
    ] as const)
      await history.add(
        critiqueOf(id, 0.8, { artifact: 'task/t' }),
        askedFor('', { root, artifact: { path: 'task/t', text: '', tree: '' } }),
      );
    expect(await of('task/t')).toEqual(['x', 'y']);
  });

  test('what was kept before trees were told apart is known by its path', async () => {
    const history = await opened();
    await history.add(critiqueOf('one', 0.8), asked);
    const keys: string[] = [];
    for await (const key of store.keys({ prefix: trendPrefix })) keys.push(key);
    const { whole: _, ...old } = JSON.parse(String(await store.get(keys[0] ?? '')));
    await store.commit([
      { type: 'put', key: keys[0] ?? '', value: Buffer.from(JSON.stringify(old)) },
    ]);
    const again = await opened();
    expect(again.list()).toMatchObject([{ artifact: 'docs/one.md', whole: 'docs/one.md' }]);
    await again.add(critiqueOf('two', 0.81), asked);
    expect((await again.of('docs/one.md')).tracking.iterations).toHaveLength(2);
    expect(troubles).toEqual([]);
  });

  test('what the creator disputes and the critic finds again goes to a person', async () => {
    const history = await opened();
    const findings = [findingOf('x')];
    await history.add(critiqueOf('one', 0.8, { findings }), asked);
    const revised = (text: string): CritiqueRequest =>
      askedFor('', { artifact: { path: 'docs/one.md', text, tree: '' } });
    const text = '# Page\n\n<!-- disputed: x, because it is so -->\n';
    const told = await history.add(critiqueOf('two', 0.84, { findings }), revised(text));
    expect([told.state, told.why]).toEqual(['escalated', expect.stringContaining('do not agree')]);
  });

  test('survives an entry that is damaged', async () => {
    const history = await opened();
    await history.add(critiqueOf('one', 0.8), asked);
    const keys: string[] = [];
    for await (const key of store.keys({ prefix: trendPrefix })) keys.push(key);
    await store.commit([{ type: 'put', key: keys[0] ?? '', value: Buffer.from('{"version":1') }]);
    const again = await opened();
    expect(again.list()).toEqual([]);
    expect(troubles).toEqual(keys);
    expect((await again.add(critiqueOf('two', 0.8), asked)).tracking.iterations).toHaveLength(1);
  });
});

describe('a ratification', () => {
  const conditional = async (): Promise<History> => {
    const history = await opened();
    await history.add(critiqueOf('one', 0.8), asked);
    const shown = await history.add(critiqueOf('two', 0.87), asked);
    expect(shown).toMatchObject({ state: 'ratifying', needs_person: true });
    return history;
  };

  test('is kept with who gave it, when and why, once', async () => {
    const history = await conditional();
    const said = { judgement: 'accept', by: 'ada', text: 'good enough' } as const;
    const after = await history.ratify('docs/one.md', said);
    expect(after).toMatchObject({
      state: 'ratified',
      needs_person: false,
      ratifications: [{ ...said, critique: 'two' }],
    });
    expect(after.ratifications[0]?.at_ms).toBeGreaterThan(10_000);
    await expect(history.ratify('docs/one.md', said)).rejects.toMatchObject({
      code: 'RATIFY_STATE',
    });
    expect((await (await opened()).of('docs/one.md')).state).toBe('ratified');
  });

  test('is of the review that it was said of, and of a word that is one', async () => {
    const history = await conditional();
    const said = { judgement: 'accept', by: 'ada', text: '' } as const;
    const of = (more: object) => history.ratify('docs/one.md', { ...said, ...more });
    await expect(of({ critique: 'one' })).rejects.toMatchObject({ code: 'RATIFY_OLD' });
    await expect(of({ judgement: 'maybe' })).rejects.toMatchObject({ code: 'REVIEW_INVALID' });
    expect((await of({ critique: 'two' })).state).toBe('ratified');
  });

  test('may be another iteration, or a no', async () => {
    const history = await conditional();
    const said = { by: 'ada', text: '' };
    const again = await history.ratify('docs/one.md', { ...said, judgement: 'revise' });
    expect(again.state).toBe('revising');
    await history.add(critiqueOf('three', 0.9), asked);
    const refused = await history.ratify('docs/one.md', { ...said, judgement: 'refuse' });
    expect(refused.state).toBe('refused');
  });

  test('is not possible where nobody is asked, or too late', async () => {
    const history = await opened();
    const said = { judgement: 'accept', by: 'ada', text: '' } as const;
    await expect(history.ratify('none.md', said)).rejects.toMatchObject({
      code: 'NO_SUCH_ARTIFACT',
    });
    await history.add(critiqueOf('one', 0.8), asked);
    await expect(history.ratify('docs/one.md', said)).rejects.toMatchObject({
      code: 'RATIFY_STATE',
    });
    await history.add(critiqueOf('two', 0.87), asked);
    nowMs += ratificationMs;
    expect((await history.of('docs/one.md')).state).toBe('expired');
    await expect(history.ratify('docs/one.md', said)).rejects.toMatchObject({
      code: 'RATIFY_STATE',
    });
  });
});

test('a review that was cut because nobody wanted it any more is no iteration', () => {
  const whole = critiqueOf('one', 0.9);
  const changed = (change: object) => ({
    reports: whole.reports.map((e) => ({ ...e, ...change })),
  });
  expect(isIteration(whole)).toBe(true);
  expect(isIteration(changed({ status: 'partial', reason: 'MODE_TIMED_OUT' }))).toBe(true);
  expect(isIteration(changed({ status: 'partial', reason: 'CANCELLED' }))).toBe(false);
  expect(isIteration(changed({ status: 'skipped', reason: 'CANCELLED' }))).toBe(false);
});
