import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { History, isIteration } from '../../../src/critic/history.js';
import { ratificationMs } from '../../../src/critic/cycle.machine.js';
import { criticLayout } from '../../../src/store/layouts.js';
import { trendPrefix } from '../../../src/store/keys.js';
import type { LevelStore } from '../../../src/store/level-store.js';
import { critiqueOf, findingOf } from '../../support/critiques.js';
import { openTestStore } from '../../support/store.js';
import { temporaryFolder } from '../../support/temporary.js';

const asked = { is_adversarial: true };
const folder = temporaryFolder();
let at = 0;
let nowMs = 10_000;
let store: LevelStore;
const troubles: string[] = [];

const opened = (limits = {}): Promise<History> =>
  History.open({
    store,
    clock: { nowMs: () => (nowMs += 1) },
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
    expect(again.nextIteration('docs/one.md')).toBe(4);
    expect(again.nextIteration('docs/other.md')).toBe(2);
  });

  test('a score that somebody names counts where no other is known', async () => {
    const history = await opened();
    const told = { ...asked, previous_score: 0.7 };
    const { tracking } = await history.add(critiqueOf('one', 0.93), told);
    expect(tracking.iterations[0]?.improvement_delta).toBe(0.23);
    expect(tracking.iterations[0]?.flags.map(({ code }) => code)).toEqual(['LENIENCY_JUMP']);
    const next = await history.add(critiqueOf('two', 0.94, { begun_ms: 5_000 }), told);
    expect(next.tracking.iterations[1]?.improvement_delta).toBe(0.01);
  });

  test('is bounded: of one artifact, and in all', async () => {
    const history = await opened({ iterations: 2, artifacts: 2 });
    for (const [at, id] of ['one', 'two', 'three'].entries())
      await history.add(critiqueOf(id, 0.6 + at / 100, { begun_ms: at * 1_000 }), asked);
    const dropped = critiqueOf('one', 0.6, { begun_ms: 0 });
    const { tracking } = await history.add(dropped, asked);
    expect(tracking.iterations.map(({ critique }) => critique)).toEqual(['two', 'three']);
    for (const artifact of ['b.md', 'c.md'])
      await history.add(critiqueOf(artifact, 0.7, { artifact }), asked);
    expect(history.list().map(({ artifact }) => artifact)).toEqual(['c.md', 'b.md']);
    await expect(history.of('docs/one.md')).rejects.toThrow(/nothing is known/);
    expect((await opened()).list()).toHaveLength(2);
  });

  test('flags scores at the ceiling over artifacts', async () => {
    const history = await opened();
    const flags: string[][] = [];
    for (const artifact of ['a.md', 'b.md', 'c.md']) {
      const { tracking } = await history.add(critiqueOf(artifact, 0.97, { artifact }), asked);
      flags.push(tracking.iterations.flatMap((each) => each.flags.map(({ code }) => code)));
    }
    expect(flags[1]).toEqual(['LENIENCY_FIRST']);
    expect(flags[2]).toEqual(['LENIENCY_FIRST', 'LENIENCY_CEILING']);
    expect(history.health()).toMatchObject({ scored: 3, flagged: 3, health: 'unknown' });
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
