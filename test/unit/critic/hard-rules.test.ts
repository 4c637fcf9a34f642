import { afterEach, beforeEach, expect, test } from 'vitest';
import { brokenIn } from '../../../src/critic/review/hard-rules.js';
import { openCritic, type Critic } from '../../../src/critic/serve/open-critic.js';
import type { Config } from '../../../src/config/config.js';
import { criticLayout } from '../../../src/store/layouts.js';
import type { LevelStore } from '../../../src/store/level-store.js';
import { asked } from '../../support/reviews.js';
import { openTestStore } from '../../support/store.js';
import { temporaryFolder } from '../../support/temporary.js';

const folder = temporaryFolder();
let at = 0;
let store: LevelStore;
let critic: Critic;

beforeEach(async () => {
  const home = `${folder.path}/${(at += 1)}`;
  store = await openTestStore(home, criticLayout);
  critic = await openCritic({ home } as Config, store, {
    env: {},
    ground: () => Promise.resolve({ ground: undefined, why: 'no tree' }),
    onTrouble: (_, error) => {
      throw error;
    },
  });
});
afterEach(async () => {
  await critic.reviews[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
});

/** What rules alone can score: so many links and references that lead somewhere, and as many that do not. */
const scored = (good: number, bad: number): string => {
  const each = (count: number, of: (index: number) => string): string =>
    Array.from({ length: count }, (_, index) => of(index)).join('');
  return [
    '# Part\n\n',
    each(good, (index) => `- [link ${index}](#part), see section "Part"\n`),
    each(bad, (index) => `- [link ${index}](#gone-${index})\n`),
    each(4, (index) => `\n\`\`\`json\n{ "a": ${index} }\n\`\`\`\n`),
  ].join('');
};
const wanted = ['pattern: Part', 'absent: gone for ever', 'max_lines: 900'].join('\n');

test.each(['steelman', 'fmea', 'llm-as-judge'] as const)(
  'a secret ends the review in its first mode, also where that mode looks at something else: %s',
  async (mode) => {
    const text = `# Access\n\nLog in with password = "Tr0ub4dor&${at}x".\n`;
    const modes = [...new Set([mode, 'self-refine', 'constitutional'] as const)];
    const critique = await critic.reviews.review(
      asked({ artifact: { path: 'a.md', text }, modes, context: { criticality: 'C2' } }),
    );
    expect(critique).toMatchObject({ verdict: 'ABORTED', score: null, needs_person: true });
    const [first, ...others] = critique.reports;
    expect(first).toMatchObject({
      abort: 'HARD_RULE_BROKEN',
      findings: [{ rule: 'SECRET_EXPOSED', is_hard: true, line_start: 3 }],
    });
    expect(others.map(({ status, reason }) => `${status} ${reason}`)).toEqual(
      others.map(() => 'skipped HARD_RULE_BROKEN'),
    );
    expect(JSON.stringify(critique)).not.toContain('Tr0ub4dor');
  },
);

test('nothing that is made of a secret is in the id of its finding', () => {
  const idsOf = (...passwords: string[]): string[] => {
    const text = passwords.map((each) => `Log in with password = "${each}".\n`).join('\n');
    return brokenIn({ text }, 'standard').map(({ id }) => id);
  };
  const [id, ...others] = idsOf('Tr0ub4dor&3x');
  expect([id, others]).toEqual([expect.stringMatching(/^STD-/), []]);
  expect(idsOf('xK9#vW2!pQ7z')).toEqual([id]);
  expect(idsOf('xK9#vW2!pQ7z', 'Tr0ub4dor&3x')).toEqual([id, id]);
});

const review = (id: string, text: string, more: Parameters<typeof asked>[0] = {}) =>
  critic.reviews.review(
    asked({
      ...{ id, artifact: { path: 'a.md', text }, modes: ['standard'], is_adversarial: false },
      ...{ iteration: 1, criteria: wanted, context: { criticality: 'C2' } },
      ...more,
    }),
  );
const codes = ({ flags }: { flags: readonly { code: string }[] }): string[] =>
  flags.map(({ code }) => code).filter((code) => /^(?:LENIENCY|PLATEAU)/.test(code));

test('a review has the number that its history gives it, and says what its scores show', async () => {
  const low = await review('one', scored(6, 90));
  const high = await review('two', scored(60, 0));
  expect([low.iteration, high.iteration]).toEqual([2, 3]);
  expect(high.score ?? 0).toBeGreaterThan((low.score ?? 1) + 0.2);
  expect(codes(low)).toEqual([]);
  expect([high.verdict, codes(high), high.needs_person]).toEqual(['PASS', ['LENIENCY_JUMP'], true]);
  const { tracking, state } = await critic.history.of('a.md');
  expect(tracking.iterations.map(({ iteration }) => iteration)).toEqual([2, 3]);
  expect(tracking.iterations[1]?.flags).toEqual(high.flags);
  expect(state).toBe('ratifying');
});

test('a score that is only told counts as one of its own history', async () => {
  const high = await review('one', scored(60, 0), { iteration: 3, previous_score: 0.5 });
  expect([high.iteration, codes(high), high.needs_person]).toEqual([3, ['LENIENCY_JUMP'], true]);
  expect((await critic.history.of('a.md')).state).toBe('ratifying');
  // To review the same text again answers nothing.
  const again = await review('two', scored(60, 0));
  expect([again.iteration, codes(again), again.needs_person]).toEqual([4, ['LENIENCY_JUMP'], true]);
});

test('scores that do not rise are a plateau, one that was told among them', async () => {
  const text = (at: number): string => `${scored(20, 8)}\n\nVersion ${at}.\n`;
  const first = await review('one', text(1));
  const told = { previous_score: first.score ?? 0 };
  await review('two', text(2), told);
  const third = await review('three', text(3), told);
  expect([third.iteration, codes(third)]).toEqual([4, ['PLATEAU']]);
});
