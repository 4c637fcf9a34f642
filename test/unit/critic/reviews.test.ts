import { expect, test, vi } from 'vitest';
import { asBusError, BusError } from '../../../src/errors/bus-error.js';
import type { CritiqueProgress } from '../../../src/critic/review/messages.js';
import type { ExaminedBy } from '../../../src/critic/review/report.js';
import type { ModeInput } from '../../../src/critic/mode.js';
import { pipelineContext } from '../../../src/critic/review/pipeline-context.js';
import { reviewLimits, Reviews, type ReviewsParts } from '../../../src/critic/review/reviews.js';
import type { Critique, CritiqueRequest, Finding } from '../../../src/critic/shapes.js';
import type { ModeName } from '../../../src/critic/strategies.js';
import { reportKey } from '../../../src/store/keys.js';
import { criticLayout } from '../../../src/store/layouts.js';
import { LevelStore } from '../../../src/store/level-store.js';
import { asked, judgeNothing, nothingFound, selectionOf } from '../../support/reviews.js';
import { openTestStore } from '../../support/store.js';
import { temporaryFolder } from '../../support/temporary.js';
import { VirtualClock } from '../../support/virtual-clock.js';

type Examine = (mode: ModeName, input: ModeInput) => Promise<Partial<ExaminedBy>>;

/** Reviews over a real store; `ran` has the modes that were begun. */
class Stage implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly ran: ModeName[] = [];
  readonly told: string[] = [];
  readonly troubles: string[] = [];
  readonly #folder = temporaryFolder();
  #store: LevelStore | undefined;
  #reviews: Reviews | undefined;

  async open(examine: Examine, more: Partial<ReviewsParts> = {}): Promise<Reviews> {
    this.#store = await openTestStore(this.#folder.path, criticLayout);
    this.#reviews = await Reviews.open({
      store: this.#store,
      clock: this.clock,
      random: () => 0,
      select: selectionOf,
      judge: judgeNothing,
      ground: () => Promise.resolve({ ground: undefined, why: 'no index' }),
      examine: async (mode, input) => {
        this.ran.push(mode);
        return { ...nothingFound, ...(await examine(mode, input)) };
      },
      onEnded: ({ id }) => Promise.resolve(void this.told.push(id)),
      onTrouble: (_, error) => void this.troubles.push(asBusError(error).code),
      ...more,
    });
    return this.#reviews;
  }

  /** What lies on disk, while no process has it open. */
  async onDisk<T>(work: (store: LevelStore) => Promise<T>): Promise<T> {
    await using store = await openTestStore(this.#folder.path, criticLayout);
    return await work(store);
  }

  /** As a process that ends: what was not kept is gone. */
  async close(): Promise<void> {
    await this.#reviews?.[Symbol.asyncDispose]();
    await this.#store?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    this.#folder.remove();
  }
}

const never = (): Promise<never> => new Promise(() => undefined);
const statuses = ({ reports }: Critique): string[] =>
  reports.map(({ mode, status, reason }) => [mode, status, reason].filter(Boolean).join(' '));
const finding = (text: string, more: Partial<Finding> = {}): Finding => ({
  ...{ id: text, mode: 'steelman', by: 'rules', rule: 'RULE', severity: 'minor', is_hard: false },
  ...{ text, line_start: 1, line_end: 1, remedy: '', evidence: [], ...more },
});

const three = ['steelman', 'inversion', 'llm-as-judge'] as const;

test('modes run one at a time, in order, each with what was said before it', async () => {
  await using stage = new Stage();
  const before: ModeName[][] = [];
  let atOnce = 0;
  const reviews = await stage.open(async (_, input) => {
    expect((atOnce += 1)).toBe(1);
    before.push(input.before.map(({ mode }) => mode));
    await stage.clock.turn();
    atOnce -= 1;
    return {};
  });
  const told: CritiqueProgress[] = [];
  const request = asked({ modes: [...three] });
  const critique = await reviews.review(request, { onProgress: (each) => told.push(each) });
  expect(before).toEqual([[], ['steelman'], ['steelman', 'inversion']]);
  expect(statuses(critique)).toEqual(three.map((mode) => `${mode} complete`));
  expect(told.map(({ done, total, report, next }) => [done, total, report?.mode, next])).toEqual([
    [0, 3, undefined, 'steelman'],
    [1, 3, 'steelman', 'inversion'],
    [2, 3, 'inversion', 'llm-as-judge'],
    [3, 3, 'llm-as-judge', ''],
  ]);
  expect(stage.told).toEqual(['r-1']);
});

test('a mode is cut after a minute, what it found by then is kept, and the others run', async () => {
  await using stage = new Stage();
  const found = { findings: [finding('found in time')] };
  const reviews = await stage.open((mode, input) => {
    if (mode !== 'inversion') return Promise.resolve({});
    input.partial(found);
    return new Promise((_, reject) => {
      input.signal.addEventListener('abort', () => reject(input.signal.reason as Error));
    });
  });
  const done = reviews.review(asked({ modes: [...three] }));
  await until(() => stage.ran.length === 2);
  await stage.clock.advance(59_999);
  expect(stage.ran).toEqual(['steelman', 'inversion']);
  await stage.clock.advance(1);
  const critique = await done;
  expect(statuses(critique)).toEqual([
    'steelman complete',
    'inversion partial MODE_TIMED_OUT',
    'llm-as-judge complete',
  ]);
  expect(critique.reports[1]?.findings.map(({ text }) => text)).toEqual(['found in time']);
  expect(critique.flags).toContainEqual({
    code: 'MODE_TIMED_OUT',
    level: 'warning',
    text: 'inversion is incomplete: its time was over',
  });
});

test('a mode that does not end when it is told to is left behind', async () => {
  await using stage = new Stage();
  let signal: AbortSignal | undefined;
  const reviews = await stage.open((mode, input) => {
    if (mode !== 'steelman') return Promise.resolve({});
    signal = input.signal;
    input.partial({ unable: ['the rest'] });
    return never();
  });
  const done = reviews.review(asked({ modes: [...three] }));
  await until(() => stage.ran.length === 1);
  await stage.clock.advance(60_000);
  await until(() => signal?.aborted === true);
  await stage.clock.advance(1_999);
  expect(stage.ran).toEqual(['steelman']);
  await stage.clock.advance(1);
  const { reports } = await done;
  expect([reports[0]?.status, reports[0]?.unable]).toEqual(['partial', ['the rest']]);
  expect(stage.ran).toEqual([...three]);
});

test('a mode that throws is a failed report with its code, and the others run', async () => {
  await using stage = new Stage();
  const reviews = await stage.open((mode) =>
    mode === 'inversion'
      ? Promise.reject(new BusError('MODE_UNAVAILABLE', { mode }))
      : Promise.resolve({}),
  );
  const critique = await reviews.review(asked({ modes: [...three] }));
  expect(statuses(critique)).toEqual([
    'steelman complete',
    'inversion failed MODE_UNAVAILABLE',
    'llm-as-judge complete',
  ]);
});

test.each([
  ['HARD_RULE_CONTRADICTED', 'C1', 'skipped'],
  ['GOVERNANCE_VIOLATION', 'C3', 'skipped'],
  ['GOVERNANCE_VIOLATION', 'C2', 'complete'],
] as const)('%s at %s: the modes behind it are %s', async (abort, criticality, status) => {
  await using stage = new Stage();
  const reviews = await stage.open((mode) =>
    Promise.resolve(mode === 'inversion' ? { abort } : {}),
  );
  const critique = await reviews.review(asked({ modes: [...three], context: { criticality } }));
  const isOver = status === 'skipped';
  expect(critique.reports[2]).toMatchObject({ status, reason: isOver ? abort : '' });
  expect(critique.needs_person).toBe(isOver);
});

test('when its tokens are spent the mode under way ends, and the rest is skipped and said', async () => {
  await using stage = new Stage();
  const reviews = await stage.open(() => Promise.resolve({ engine: 'model', tokens: 600 }));
  const critique = await reviews.review(asked({ modes: [...three], tokens: 1_000 }));
  expect(statuses(critique)).toEqual([
    'steelman complete',
    'inversion complete',
    'llm-as-judge skipped MODEL_BUDGET_SPENT',
  ]);
  expect(critique.tokens).toBe(1_200);
  expect(critique.flags.at(-1)).toMatchObject({
    code: 'MODEL_BUDGET_SPENT',
    level: 'warning',
    text: 'not applied: llm-as-judge (the tokens of this review are spent)',
  });
});

test('whoever cancels ends the mode under way; the answer has what is known', async () => {
  await using stage = new Stage();
  const reviews = await stage.open((mode, { partial, signal }) => {
    if (mode === 'steelman') return Promise.resolve({});
    partial({ findings: [finding('so far')] });
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  });
  const abort = new AbortController();
  const done = reviews.review(asked({ modes: [...three] }), { signal: abort.signal });
  await until(() => stage.ran.length === 2);
  abort.abort();
  expect(statuses(await done)).toEqual([
    'steelman complete',
    'inversion partial CANCELLED',
    'llm-as-judge skipped CANCELLED',
  ]);
});

/** Under way in its second mode, which ends when it is told to, or with `go`. */
async function inSecond(stage: Stage): Promise<{ reviews: Reviews; go: () => void }> {
  let go = (): void => undefined;
  const reviews = await stage.open((mode, { signal }) =>
    mode !== 'inversion'
      ? Promise.resolve({})
      : new Promise((resolve, reject) => {
          go = () => resolve({});
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
  );
  return { reviews, go: () => go() };
}

const whole = three.map((mode) => `${mode} complete`);

test.each([
  ['who leaves takes nothing from who else waits', 1, whole[1]],
  ['when all have left it ends', 2, 'inversion partial CANCELLED'],
])('%s', async (_, leaving, status) => {
  await using stage = new Stage();
  const { reviews, go } = await inSecond(stage);
  const aborts = [new AbortController(), new AbortController()];
  const request = asked({ modes: [...three] });
  const done = aborts.map(({ signal }) => reviews.review(request, { signal }));
  await until(() => stage.ran.length === 2);
  for (const abort of aborts.slice(0, leaving)) abort.abort();
  let turns = 0;
  await until(() => (turns += 1) > 100);
  if (leaving < aborts.length) go();
  for (const critique of await Promise.all(done)) expect(statuses(critique)[1]).toBe(status);
});

test.each([
  ['the time of one who waits is not that of another', 15, whole],
  [
    'the time of the last one who waits is that of the review',
    20,
    [whole[0], 'inversion partial REVIEW_TIMED_OUT', 'llm-as-judge skipped REVIEW_TIMED_OUT'],
  ],
])('%s', async (_, seconds, expected) => {
  await using stage = new Stage();
  const { reviews, go } = await inSecond(stage);
  const timesOf = (afterMs: number) => [
    { afterMs: afterMs - 1_000, isNow: false },
    { afterMs, isNow: true },
  ];
  const request = asked({ modes: [...three] });
  const done = [10_000, 20_000].map((ms) => reviews.review(request, { times: timesOf(ms) }));
  await until(() => stage.ran.length === 2);
  await stage.clock.advance(seconds * 1_000);
  if (seconds < 20) go();
  for (const critique of await Promise.all(done)) expect(statuses(critique)).toEqual(expected);
});

test('no secret of an artifact or of a rule lies on disk; a review of one goes on when it is asked for again', async () => {
  await using stage = new Stage();
  const token = `ghp_${'a1B2'.repeat(9)}`;
  const request = asked({
    modes: [...three],
    artifact: { path: 'doc.md', text: `# Key\n\nIt is ${token}.\n` },
    rules: [{ path: 'rules.md', text: `MUST not be ${token}` }],
  });
  const seen: string[] = [];
  const examine: Examine = (mode, input) => {
    seen.push(input.artifact.text);
    if (mode === 'inversion' && seen.length === 2) return never();
    return Promise.resolve({ findings: [finding(`it shows ${token}`)] });
  };
  const texts = (): Promise<string> =>
    stage.onDisk(async (store) => {
      const all: string[] = [];
      for await (const [, bytes] of store.entries({ prefix: 're' })) all.push(bytes.toString());
      for await (const [, bytes] of store.entries({ prefix: 'c' })) all.push(bytes.toString());
      return all.join('\n');
    });
  const first = await stage.open(examine);
  first.review(request).catch(() => undefined);
  await until(() => seen.length === 2);
  await stage.close();
  expect(await texts()).toContain('It is [redacted].');
  expect(await texts()).not.toContain(token);
  const second = await stage.open(examine);
  await second.resume();
  expect([second.openReviews, seen.length]).toEqual([0, 2]);
  const critique = await second.review(request);
  expect(statuses(critique)).toEqual(three.map((mode) => `${mode} complete`));
  expect(new Set(seen)).toEqual(new Set([request.artifact.text]));
  expect(JSON.stringify(critique)).not.toContain(token);
  await stage.close();
  expect(await texts()).toContain('it shows [redacted]');
  expect(await texts()).not.toContain(token);
});

test('when the time of the whole review is over, the mode under way is the last one', async () => {
  await using stage = new Stage();
  let go = (): void => undefined;
  const reviews = await stage.open(() => new Promise((resolve) => (go = () => resolve({}))));
  const done = reviews.review(asked({ modes: [...three] }));
  await until(() => stage.ran.length === 1);
  reviews.stop('r-1', 'REVIEW_TIMED_OUT', false);
  go();
  expect(statuses(await done)).toEqual([
    'steelman complete',
    'inversion skipped REVIEW_TIMED_OUT',
    'llm-as-judge skipped REVIEW_TIMED_OUT',
  ]);
});

test('a review goes on in another process with the mode that had not ended', async () => {
  await using stage = new Stage();
  const first = await stage.open((mode) => (mode === 'inversion' ? never() : Promise.resolve({})));
  const lost = first.review(asked({ modes: [...three] })).catch((error: unknown) => error);
  await until(() => stage.ran.length === 2);
  await stage.close();
  expect(await lost).toMatchObject({ code: 'CANCELLED' });
  const second = await stage.open(() => Promise.resolve({}));
  await second.resume();
  const critique = await second.review(asked({ modes: [...three] }));
  expect(stage.ran).toEqual(['steelman', 'inversion', 'inversion', 'llm-as-judge']);
  expect(statuses(critique)).toEqual(three.map((mode) => `${mode} complete`));
});

test('a mode that its critic does not survive three times is not begun again', async () => {
  await using stage = new Stage();
  for (let n = 0; n < 3; n += 1) {
    const reviews = await stage.open((mode) =>
      mode === 'inversion' ? never() : Promise.resolve({}),
    );
    const begun = stage.ran.filter((mode) => mode === 'inversion').length;
    reviews.review(asked({ modes: [...three] })).catch(() => undefined);
    await until(() => stage.ran.filter((mode) => mode === 'inversion').length > begun);
    await stage.close();
  }
  const last = await stage.open(() => Promise.resolve({}));
  const critique = await last.review(asked({ modes: [...three] }));
  expect(statuses(critique)[1]).toBe('inversion failed MODE_INTERRUPTED');
  expect(stage.ran.filter((mode) => mode === 'inversion')).toHaveLength(3);
});

test('the same id is the same review, also afterwards; with another text it is refused', async () => {
  await using stage = new Stage();
  const reviews = await stage.open(() => Promise.resolve({}));
  const [one, two] = await Promise.all([reviews.review(asked()), reviews.review(asked())]);
  expect(two).toEqual(one);
  await stage.close();
  const again = await stage.open(() => Promise.resolve({}));
  expect(await again.review(asked())).toEqual(one);
  expect(stage.ran).toHaveLength(1);
  const other = asked({ artifact: { path: 'doc.md', text: 'another text' } });
  await expect(again.review(other)).rejects.toMatchObject({ code: 'REVIEW_CHANGED' });
});

test('so many reviews at once, so many wait, one more is refused', async () => {
  await using stage = new Stage();
  const limits = { atOnce: 1, waiting: 1 };
  const reviews = await stage.open(never, { limits });
  const one = reviews.review(asked({ id: 'r-1' })).catch(() => undefined);
  const two = reviews.review(asked({ id: 'r-2' })).catch(() => undefined);
  await until(() => stage.ran.length === 1);
  await expect(reviews.review(asked({ id: 'r-3' }))).rejects.toMatchObject({ code: 'REVIEW_BUSY' });
  await stage.close();
  await Promise.all([one, two]);
});

test('the oldest finished reviews make room; what ended untold is told by the next process', async () => {
  await using stage = new Stage();
  let isTelling = false;
  const onEnded = ({ id }: Critique): Promise<void> =>
    isTelling
      ? Promise.resolve(void stage.told.push(id))
      : Promise.reject(new BusError('STORE_UNAVAILABLE', { path: '', detail: '' }));
  const more = { limits: { finished: 2 }, onEnded };
  const reviews = await stage.open(() => Promise.resolve({}), more);
  for (const id of ['r-1', 'r-2', 'r-3']) {
    await reviews.review(asked({ id }));
    await stage.clock.advance(1);
  }
  await stage.close();
  isTelling = true;
  const next = await stage.open(() => Promise.resolve({}), more);
  await next.resume();
  expect(stage.told.toSorted()).toEqual(['r-2', 'r-3']);
  await next.review(asked({ id: 'r-1' }));
  expect(stage.ran).toHaveLength(4);
});

test.each([
  ['an id that is no name', { id: 'a/b' }, 'REVIEW_INVALID'],
  ['no artifact', { artifact: { path: '', text: '' } }, 'REVIEW_INVALID'],
  ['a mode that is none', { modes: ['nonsense' as ModeName] }, 'REVIEW_INVALID'],
  ['a mode twice', { modes: ['steelman', 'steelman'] as ModeName[] }, 'REVIEW_INVALID'],
  ['a threshold above 1', { threshold: 1.5 }, 'REVIEW_INVALID'],
  ['iteration 0', { iteration: 0 }, 'REVIEW_INVALID'],
  ['a large text', { artifact: { path: 'a', text: 'x'.repeat(256 * 1024 + 1) } }, 'TOO_LARGE'],
  ['many rules', { rules: Array(17).fill({ path: 'r', text: '' }) }, 'TOO_LARGE'],
])('a request with %s is refused', async (_, more: Partial<CritiqueRequest>, code) => {
  await using stage = new Stage();
  const reviews = await stage.open(() => Promise.resolve({}));
  await expect(reviews.review(asked(more))).rejects.toMatchObject({ code });
});

test('of too many findings the worst stay, and it is said how many are left out', async () => {
  await using stage = new Stage();
  const many = Array.from({ length: 150 }, (_, at) =>
    finding(`n${at}`, { severity: at === 149 ? 'critical' : 'note' }),
  );
  const reviews = await stage.open(() => Promise.resolve({ findings: many }));
  const { reports } = await reviews.review(asked());
  expect(reports[0]?.findings).toHaveLength(100);
  expect(reports[0]?.findings[0]?.severity).toBe('critical');
  expect(reports[0]?.unable).toEqual(['to list 50 more findings that weigh less']);
});

test('the context of a pipeline has each mode with its strategy, below one heading', async () => {
  await using stage = new Stage();
  const reviews = await stage.open(() =>
    Promise.resolve({ sections: [{ title: 'Core Thesis', text: '# Loud\n\nquiet' }] }),
  );
  const critique = await reviews.review(asked({ modes: ['steelman'] }));
  expect(pipelineContext(critique)).toBe(
    '# Pipeline Context (accumulated)\n\n## Mode: steelman (S-003)\n\n### Core Thesis\n\n#### Loud\n\nquiet\n',
  );
});

/** Turns of the event loop until a claim holds: a real store answers when it does. */
async function until(claim: () => boolean): Promise<void> {
  for (let turns = 0; !claim(); turns += 1) {
    if (turns > 100_000) throw new Error('it never came');
    await new Promise(setImmediate);
  }
}

/** Left in its third mode, with the reports of two on disk. */
async function leftInThird(stage: Stage): Promise<void> {
  const reviews = await stage.open((mode) =>
    mode === 'llm-as-judge' ? never() : Promise.resolve({}),
  );
  reviews.review(asked({ modes: [...three] })).catch(() => undefined);
  await until(() => stage.ran.length === 3);
  await stage.close();
}

async function keysOf(store: LevelStore, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const [key] of store.entries({ prefix })) keys.push(key);
  return keys;
}

test.each(['is no JSON any more', 'is gone'])(
  'a report that %s costs its review what was said, not its end',
  async (how) => {
    await using stage = new Stage();
    await leftInThird(stage);
    await stage.onDisk((store) => {
      const key = reportKey('r-1', 1);
      const value = Buffer.from('{"mode":');
      return store.commit([how === 'is gone' ? { type: 'del', key } : { type: 'put', key, value }]);
    });
    const reviews = await stage.open(() => Promise.resolve({}));
    const critique = await reviews.review(asked({ modes: [...three] }));
    expect(statuses(critique)).toEqual(three.map((mode) => `${mode} complete`));
    expect(stage.ran.slice(3)).toEqual([...three]);
    expect(stage.troubles).toEqual(['RECORD_DAMAGED']);
    await stage.close();
    expect(await stage.onDisk((store) => keysOf(store, 'report/'))).toEqual([]);
  },
);

test('what a process left is forgotten when nobody has asked for it again for a month', async () => {
  await using stage = new Stage();
  await leftInThird(stage);
  await stage.clock.advance(reviewLimits.finishedMs);
  await stage.open(() => Promise.resolve({}));
  await stage.close();
  expect(await stage.onDisk((store) => keysOf(store, 'report/'))).toHaveLength(2);
  await stage.clock.advance(1);
  await stage.open(() => Promise.resolve({}));
  await stage.close();
  for (const prefix of ['review/', 'reviewed/', 'report/'])
    expect(await stage.onDisk((store) => keysOf(store, prefix))).toEqual([]);
});

test('of many that were left the latest stay', async () => {
  await using stage = new Stage();
  for (const id of ['a', 'b', 'c']) {
    const reviews = await stage.open(never);
    const begun = stage.ran.length;
    reviews.review(asked({ id })).catch(() => undefined);
    await until(() => stage.ran.length > begun);
    await stage.close();
    await stage.clock.advance(1_000);
  }
  await stage.open(never, { limits: { finished: 2 } });
  await stage.close();
  expect(await stage.onDisk((store) => keysOf(store, 'review/'))).toEqual(['review/b', 'review/c']);
});

test('a full disk ends a review with its code; asked again it goes on where it was', async () => {
  await using stage = new Stage();
  let isFull = true;
  const reviews = await stage.open((mode) => {
    if (mode === 'inversion' && isFull)
      vi.spyOn(LevelStore.prototype, 'commit').mockRejectedValueOnce(
        new BusError('STORE_UNAVAILABLE', { path: '', detail: 'no space left' }),
      );
    isFull &&= mode !== 'inversion';
    return Promise.resolve({});
  });
  const request = asked({ modes: [...three] });
  await expect(reviews.review(request)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  const critique = await reviews.review(request);
  expect(statuses(critique)).toEqual(three.map((mode) => `${mode} complete`));
  expect(stage.ran).toEqual(['steelman', 'inversion', 'inversion', 'llm-as-judge']);
});
