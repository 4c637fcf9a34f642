import { expect, test } from 'vitest';
import { parseEscalation, standingOf } from '../../../../src/critic/select/escalation.js';
import { refusalOf } from '../../../../src/critic/select/course.js';
import { select, selectFor, type Selecting } from '../../../../src/critic/select/select.js';
import { brokenRules } from '../../../../src/critic/select/sequence.js';
import {
  criticalities,
  enforcements,
  maturities,
  phases,
  platforms,
  targetTypes,
  teams,
  tokenBudgets,
  type ContextVector,
  type Selection,
} from '../../../../src/critic/shapes.js';
import { strategies, type ModeName } from '../../../../src/critic/strategies.js';
import { loadEscalation } from '../../../../src/critic/select/escalation-file.js';

const policy = loadEscalation();

function chosen(words: string, more: Partial<Selecting> = {}): Selection {
  const [criticality, target, phase, maturity, team, platform, tokens, enforcement] =
    words.split(' ');
  return selectFor(
    {
      artifact: { path: '', text: '' },
      ...{ modes: [], strict_order: false, is_adversarial: true, is_revision: false, iteration: 2 },
      context: {
        ...{ criticality: criticality ?? '', target_type: target ?? '', phase: phase ?? '' },
        ...{ maturity: maturity ?? '', team: team ?? '', platform: platform ?? '' },
        ...{ token_budget: tokens ?? '', enforcement: enforcement ?? '' },
      },
      ...more,
    },
    policy,
  );
}
const of = (path: string): Partial<Selecting> => ({ artifact: { path, text: '' } });
const ids = (selection: Selection): string[] =>
  selection.modes.map(({ mode }) => (mode === 'standard' ? '' : strategies[mode].id));
const codes = (selection: Selection, level?: string): string[] =>
  selection.flags
    .filter((flag) => level === undefined || flag.level === level)
    .map((flag) => flag.code);
const names = (selection: Selection): ModeName[] => selection.modes.map(({ mode }) => mode);

// --- every vector

function* vectors(): Generator<ContextVector> {
  for (const criticality of criticalities)
    for (const phase of phases)
      for (const target_type of targetTypes)
        for (const maturity of maturities)
          for (const team of teams)
            for (const enforcement of enforcements)
              for (const platform of platforms)
                for (const token_budget of tokenBudgets)
                  yield {
                    ...{ criticality, phase, target_type, maturity, team },
                    ...{ enforcement, platform, token_budget },
                  };
}

/** So many choices take seconds, on a machine that does much else a minute. */
const exhaustiveMsMax = 240_000;
const paths = ['', '.claude/rules/style.md', 'docs/adr/0001.md'];

test.each(paths)(
  'each of 38 880 contexts of the artifact "%s" has one answer, and none of them breaks a rule',
  (path) => {
    // Of the context the maturity alone says more about a path.
    const standings = new Map(
      maturities.map((maturity) => [
        maturity,
        standingOf(policy, { path, text: '' }, { maturity }),
      ]),
    );
    let seen = 0;
    for (const context of vectors()) {
      seen += 1;
      const input = {
        ...{
          context,
          standing: standings.get(context.maturity) ?? standingOf(policy, { path, text: '' }, {}),
        },
        ...{
          modes: [],
          strict_order: false,
          is_adversarial: true,
          is_revision: false,
          iteration: 2,
        },
      };
      const selection = select(input);
      // No dimension has seven values: so each value of each is among those that are asked twice.
      const again = seen % 7 === 0 ? differs(selection, select(input)) : undefined;
      const problem = wrongOf(selection, context) ?? again;
      if (problem !== undefined)
        throw new Error(
          `${Object.values(context).join(' ')}: ${problem}: ${names(selection).join()}`,
        );
    }
    expect(seen).toBe(38_880);
    expect(standings.get('MAT-BASE')?.escalated.length).toBe(
      path === '' ? 0 : path.startsWith('docs') ? 2 : 1,
    );
  },
  exhaustiveMsMax,
);

/** Undefined: nothing is. */
function wrongOf(selection: Selection, context: ContextVector): string | undefined {
  const { outcome, criticality, floor, flags, tokens } = selection;
  const modes = names(selection);
  const level = (each: string): number => (criticalities as readonly string[]).indexOf(each);
  if (level(criticality) < level(floor)) return 'below its floor';
  const isC4Alone = context.criticality === 'C4' && context.team === 'TEAM-SINGLE';
  if (isC4Alone && outcome !== 'refused') return 'C4 with one agent';
  if (criticality === 'C4' && context.team === 'TEAM-SINGLE' && outcome !== 'refused')
    return 'C4 with one agent';
  if (outcome === 'refused' && selection.error === '') return 'refused without a word';
  if (outcome === 'review' && modes.length === 0) return 'a review of nothing';
  if (modes.length === 0 && !flags.some((flag) => flag.level === 'mandatory'))
    return 'nothing, and nobody is told';
  if (
    (outcome === 'human_required') !==
    (flags.some((flag) => flag.level === 'mandatory') &&
      outcome !== 'end_session' &&
      outcome !== 'refused')
  )
    return 'a person is needed, and it does not say so';
  if (outcome === 'end_session' && modes.length > 0) return 'modes in a session that ends';
  if (new Set(modes).size !== modes.length) return 'a mode twice';
  if (brokenRules(modes).length > 0) return 'out of sequence';
  if (modes.includes('devils-advocate') && !modes.includes('steelman')) return 'no steelman';
  if (tokens !== selection.modes.reduce((sum, each) => sum + each.tokens, 0)) return 'tokens';
  const isDear = context.token_budget === 'TOK-CONST' && tokens > 20_000;
  if (isDear || (context.token_budget === 'TOK-EXHAUST' && tokens >= 5_000))
    return 'over its budget';
  if (selection.steps.some(({ text }) => text === '')) return 'a step without a word';
  const last = selection.steps.at(-1)?.modes;
  if (last?.join() !== modes.join()) return 'the last step says something else';
  return undefined;
}

function differs(one: Selection, other: Selection): string | undefined {
  return JSON.stringify(one) === JSON.stringify(other) ? undefined : 'not the same twice';
}

// --- the worked examples of the document

test('1: routine code is improved and scored', () => {
  const its = chosen('C1 TGT-CODE PH-IMPL MAT-DRAFT TEAM-SINGLE PLAT-CC TOK-FULL');
  expect([ids(its), its.tokens, its.outcome]).toEqual([['S-010', 'S-014'], 4_000, 'review']);
});

test('2: recommended modes are applied where there are tokens', () => {
  const its = chosen('C2 TGT-CODE PH-IMPL MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL');
  expect(ids(its)).toEqual(['S-010', 'S-003', 'S-007', 'S-002', 'S-014']);
  expect(its.tokens).toBe(18_200);
});

test('3: rules of agents are C3, whoever says C2', () => {
  const its = chosen(
    'C2 TGT-DEC PH-DESIGN MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL',
    of('.claude/rules/architecture-standards.md'),
  );
  expect([its.criticality, its.floor, its.tokens]).toEqual(['C3', 'C3', 39_400]);
  expect(ids(its)).toHaveLength(9);
  expect(ids(its)).not.toContain('S-001');
  expect(codes(its, 'warning')).toEqual(['AE-002']);
  expect(codes(its, 'recommended')).toEqual(['ESC-005']);
});

test('4: a critical one with few tokens needs a person', () => {
  const its = chosen('C4 TGT-DEC PH-DESIGN MAT-DRAFT TEAM-HIL PLAT-GENERIC TOK-CONST', {
    artifact: { path: 'docs/governance/JERRY_CONSTITUTION.md', text: '' },
  });
  expect(ids(its).sort()).toEqual(['S-002', 'S-003', 'S-007', 'S-013', 'S-014']);
  expect([its.tokens, its.outcome]).toEqual([18_300, 'human_required']);
  expect(its.modes.filter((each) => each.is_single_pass).map((each) => each.mode)).toEqual([
    'constitutional',
  ]);
  expect(codes(its, 'mandatory')).toEqual(['ESC-001', 'ESC-004']);
});

test('5: without tokens a standard one is below its target', () => {
  const its = chosen('C2 TGT-CODE PH-IMPL MAT-REVIEW TEAM-MULTI PLAT-CC TOK-EXHAUST');
  expect([ids(its), its.tokens]).toEqual([['S-003', 'S-014'], 3_600]);
  expect(codes(its, 'warning')).toEqual(['TOK-EXHAUST']);
  expect(codes(its)).not.toContain('AE-006');
});

test('6: what was raised is not lowered by its phase', () => {
  const its = chosen(
    'C1 TGT-DEC PH-EXPLORE MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL',
    of('.claude/rules/style.md'),
  );
  expect([its.criticality, its.floor]).toEqual(['C3', 'C3']);
  expect(codes(its)).toContain('PR-001');
});

test('what was said to be C3 and must be C3 is not lowered either', () => {
  const words = 'C3 TGT-DEC PH-EXPLORE MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL';
  expect(chosen(words, of('.claude/rules/style.md')).criticality).toBe('C3');
  expect(chosen(words).criticality).toBe('C2');
  expect(chosen(words.replace('C3', 'C4'), of('.claude/rules/style.md')).criticality).toBe('C3');
});

// --- single rules

test('C4 with one agent is refused in the words of the document', () => {
  const its = chosen('C4 TGT-CODE PH-EXPLORE MAT-DRAFT TEAM-SINGLE PLAT-CC TOK-FULL');
  expect([its.outcome, its.modes]).toEqual(['refused', []]);
  expect(its.error).toBe(
    'C4 review NOT PERMITTED for TEAM-SINGLE. Escalate to TEAM-MULTI + TEAM-HIL.',
  );
  expect(refusalOf(its)).toMatchObject({ code: 'REVIEW_NOT_PERMITTED', message: its.error });
});

test.each([
  // C3 alone, C2 alone
  ['C3 TGT-CODE PH-DESIGN MAT-DRAFT TEAM-SINGLE PLAT-CC TOK-FULL', 'S-010 S-013 S-007 S-014'],
  ['C2 TGT-CODE PH-IMPL MAT-DRAFT TEAM-SINGLE PLAT-CC TOK-FULL', 'S-010 S-003 S-007 S-014'],
  // budgets
  ['C1 TGT-CODE PH-IMPL MAT-DRAFT TEAM-MULTI PLAT-CC TOK-CONST', 'S-010'],
  ['C2 TGT-CODE PH-IMPL MAT-DRAFT TEAM-MULTI PLAT-CC TOK-CONST', 'S-010 S-003 S-014'],
  ['C3 TGT-CODE PH-DESIGN MAT-DRAFT TEAM-MULTI PLAT-CC TOK-CONST', 'S-003 S-013 S-002 S-014'],
  ['C3 TGT-CODE PH-DESIGN MAT-DRAFT TEAM-MULTI PLAT-CC TOK-EXHAUST', 'S-014'],
  ['C4 TGT-CODE PH-DESIGN MAT-DRAFT TEAM-MULTI PLAT-CC TOK-EXHAUST', ''],
  // phases
  ['C1 TGT-CODE PH-EXPLORE MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL', 'S-010'],
  ['C1 TGT-CODE PH-VALID MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL', 'S-014'],
  ['C1 TGT-CODE PH-VALID MAT-DRAFT TEAM-MULTI PLAT-CC TOK-CONST', 'S-014'],
  ['C2 TGT-CODE PH-VALID MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL', 'S-007 S-014'],
  [
    'C3 TGT-CODE PH-IMPL MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL',
    'S-010 S-003 S-013 S-007 S-002 S-012 S-011 S-014',
  ],
  ['C3 TGT-CODE PH-MAINT MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL', 'S-007 S-012 S-011 S-014'],
  ['C4 TGT-CODE PH-MAINT MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL', 'S-007 S-012 S-011 S-014'],
  // maturities
  ['C1 TGT-CODE PH-EXPLORE MAT-APPR TEAM-MULTI PLAT-CC TOK-FULL', 'S-014'],
  ['C2 TGT-CODE PH-IMPL MAT-APPR TEAM-MULTI PLAT-CC TOK-FULL', 'S-007 S-014'],
  ['C2 TGT-CODE PH-IMPL MAT-APPR TEAM-MULTI PLAT-CC TOK-EXHAUST', 'S-014'],
  ['C3 TGT-CODE PH-DESIGN MAT-BASE TEAM-MULTI PLAT-CC TOK-FULL', 'S-007 S-011'],
  ['C3 TGT-CODE PH-DESIGN MAT-BASE TEAM-MULTI PLAT-CC TOK-CONST', 'S-011'],
  ['C3 TGT-CODE PH-DESIGN MAT-BASE TEAM-SINGLE PLAT-CC TOK-CONST', 'S-007'],
  ['C3 TGT-CODE PH-DESIGN MAT-BASE TEAM-MULTI PLAT-CC TOK-EXHAUST', ''],
  // what nothing enforces
  ['C1 TGT-CODE PH-IMPL MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL ENF-MIN', 'S-010'],
  ['C2 TGT-CODE PH-IMPL MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL ENF-MIN', 'S-010 S-007 S-014'],
  ['C2 TGT-CODE PH-IMPL MAT-DRAFT TEAM-MULTI PLAT-CC TOK-EXHAUST ENF-MIN', 'S-014'],
  [
    'C3 TGT-CODE PH-DESIGN MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL ENF-MIN',
    'S-010 S-003 S-013 S-007 S-014',
  ],
  ['C4 TGT-CODE PH-DESIGN MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL ENF-MIN', ''],
])('%s: %s', (words, wanted) => {
  expect(ids(chosen(words)).join(' ')).toBe(wanted);
});

test('what is approved is reviewed as a whole when it is reopened', () => {
  const words = 'C3 TGT-CODE PH-DESIGN MAT-BASE TEAM-MULTI PLAT-CC TOK-FULL';
  expect(ids(chosen(words, { is_revision: true }))).toHaveLength(9);
  const maintained = 'C4 TGT-CODE PH-MAINT MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL';
  expect(ids(chosen(maintained, { is_revision: true }))).toHaveLength(10);
});

test.each([
  ['C4 TGT-CODE PH-DESIGN MAT-DRAFT TEAM-MULTI PLAT-CC TOK-EXHAUST', 'end_session'],
  ['C4 TGT-CODE PH-DESIGN MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL ENF-MIN', 'end_session'],
  ['C3 TGT-CODE PH-DESIGN MAT-BASE TEAM-MULTI PLAT-CC TOK-EXHAUST', 'human_required'],
  ['C3 TGT-CODE PH-DESIGN MAT-DRAFT TEAM-MULTI PLAT-CC TOK-EXHAUST', 'human_required'],
  ['C3 TGT-CODE PH-DESIGN MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL', 'review'],
  ['C4 TGT-CODE PH-DESIGN MAT-DRAFT TEAM-HIL PLAT-CC TOK-FULL', 'human_required'],
])('%s is %s', (words, outcome) => {
  expect(chosen(words).outcome).toBe(outcome);
});

test('what nothing enforces is advice, and a person decides from C3 on', () => {
  const its = chosen('C3 TGT-CODE PH-DESIGN MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL ENF-MIN');
  expect(its.modes.filter((each) => each.is_advisory).map((each) => each.mode)).toEqual([
    ...['constitutional', 'llm-as-judge'],
  ]);
  expect(codes(its, 'mandatory')).toEqual(['ENF-MIN-002']);
  expect(codes(its)).toEqual(expect.arrayContaining(['ENF-MIN-001', 'ENF-MIN-004']));
});

test('without tokens a person decides from C3 on', () => {
  const its = chosen('C3 TGT-CODE PH-DESIGN MAT-DRAFT TEAM-MULTI PLAT-CC TOK-EXHAUST');
  expect(codes(its, 'mandatory')).toEqual(['ESC-002', 'AE-006']);
});

test('a long session is warned of, and left for a review that matters', () => {
  const words = 'C3 TGT-CODE PH-DESIGN MAT-DRAFT TEAM-SINGLE PLAT-CC TOK-FULL';
  const its = chosen(words, { session_tokens: 20_001 });
  expect(codes(its, 'recommended')).toEqual(['ESC-005', 'ESC-006', 'ESC-007']);
  expect(codes(its, 'warning')).toEqual(['CONTEXT_ROT']);
  expect(codes(chosen(words, { session_tokens: 20_000 }))).not.toContain('CONTEXT_ROT');
});

test('after five iterations below the gate a person decides', () => {
  const words = 'C2 TGT-CODE PH-IMPL MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL';
  expect(codes(chosen(words, { iteration: 6, previous_score: 0.9 }), 'mandatory')).toEqual([
    'ESC-003',
  ]);
  expect(chosen(words, { iteration: 5, previous_score: 0.9 }).outcome).toBe('review');
  expect(chosen(words, { iteration: 6, previous_score: 0.92 }).outcome).toBe('review');
});

// --- words

test('what is missing has a fallback, and that is said', () => {
  const its = chosen('C2');
  expect(its.context).toEqual({
    ...{ criticality: 'C2', phase: 'PH-DESIGN', target_type: 'TGT-DEC', maturity: 'MAT-DRAFT' },
    ...{ team: 'TEAM-MULTI', enforcement: 'ENF-PORT', platform: 'PLAT-GENERIC' },
    token_budget: 'TOK-CONST',
  });
  expect(its.flags.filter(({ code }) => code === 'CONTEXT_MISSING')).toEqual([
    {
      ...{ code: 'CONTEXT_MISSING', level: 'warning' },
      text: 'Target Type, Platform, Phase, Maturity, Team, Token Budget are not given; TGT-DEC, PLAT-GENERIC, PH-DESIGN, MAT-DRAFT, TEAM-MULTI, TOK-CONST are taken',
    },
  ]);
});

test('a criticality that is none is detected', () => {
  const its = chosen(
    'C9 TGT-CODE PH-IMPL MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL',
    of('src/net/socket.ts'),
  );
  expect(its.criticality).toBe('C2');
  expect(its.flags[0]).toMatchObject({ code: 'CRITICALITY_INVALID', level: 'warning' });
  expect(its.flags[0]?.text).toContain("Invalid criticality value 'C9'");
  const routine = chosen(
    'auto-detect TGT-CODE PH-IMPL MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL',
    of('test/a.test.ts'),
  );
  expect([routine.criticality, codes(routine, 'warning')]).toEqual(['C1', []]);
});

test('a slip of a word is replaced; a new value of its dimension is reviewed one level up', () => {
  const words = 'C2 TGT-CODE PH-IMPL MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL';
  const slip = chosen(words.replace('PH-IMPL', 'implement'));
  expect([slip.criticality, slip.context.phase, codes(slip, 'warning')]).toEqual([
    ...['C2', 'PH-DESIGN', ['CONTEXT_UNKNOWN']],
  ]);
  const novel = chosen(words.replace('PH-IMPL', 'PH-RETIRE'));
  expect([novel.criticality, novel.floor]).toEqual(['C3', 'C1']);
  expect(codes(novel, 'warning')).toEqual(['CONTEXT_UNKNOWN', 'CONTEXT_NOVEL']);
});

test('prefixes and case are matters of taste', () => {
  const its = chosen('c2 code impl draft multi cc full');
  expect([its.tokens, codes(its, 'warning')]).toEqual([18_200, []]);
});

test('an enforcement that the platform has not is not believed', () => {
  const words = 'C2 TGT-CODE PH-IMPL MAT-DRAFT TEAM-MULTI PLAT-GENERIC TOK-FULL';
  expect(chosen(`${words} ENF-FULL`).context.enforcement).toBe('ENF-PORT');
  expect(chosen(words.replace('GENERIC', 'CC')).context.enforcement).toBe('ENF-FULL');
  expect(chosen(`${words.replace('GENERIC', 'CC')} ENF-PORT`).context.enforcement).toBe('ENF-PORT');
});

// --- named modes

const few: Partial<Selecting> = { context: {}, is_adversarial: true };

test('what is named is applied in the order of the rules, with a note', () => {
  const its = chosen('', { ...few, modes: ['llm-as-judge', 'chain-of-verification'] });
  expect(names(its)).toEqual(['chain-of-verification', 'llm-as-judge']);
  expect(codes(its)).toContain('SEQ-003');
  expect(codes(its)).not.toContain('CONTEXT_MISSING');
});

test('an order that breaks no rule stays', () => {
  const modes: ModeName[] = ['pre-mortem', 'chain-of-verification', 'steelman', 'llm-as-judge'];
  const its = chosen('', { ...few, modes, strict_order: true });
  expect([names(its), its.outcome]).toEqual([modes, 'review']);
});

test('a strict order that breaks a rule is refused', () => {
  const modes: ModeName[] = ['devils-advocate', 'steelman'];
  const its = chosen('', { ...few, modes, strict_order: true });
  expect([its.outcome, its.modes]).toEqual(['refused', []]);
  expect(refusalOf(its)).toMatchObject({
    code: 'MODE_ORDER',
    message: 'the order of the modes breaks SEQ-001 (steelman before devils-advocate)',
  });
});

test.each<[ModeName[], string]>([
  [['red-team', 'devils-advocate'], 'red-team and devils-advocate'],
  [['steelman', 'self-refine'], 'steelman and self-refine'],
])('%j in tension is warned of in the words of the document', (modes, pair) => {
  const its = chosen('', { ...few, modes });
  expect(its.flags.filter(({ code }) => code === 'TEN')).toEqual([
    {
      ...{ code: 'TEN', level: 'warning' },
      text: `Tension pair detected: ${pair}. Proceeding with caution. See EN-303 TASK-003 for tension management guidance.`,
    },
  ]);
});

test('the tables put pairs in tension together, and say how they are kept apart', () => {
  const its = chosen('C4 TGT-CODE PH-DESIGN MAT-DRAFT TEAM-HIL PLAT-CC TOK-FULL');
  const flags = its.flags.filter(({ code }) => code === 'TEN');
  expect(flags.map(({ level }) => level)).toEqual(['note', 'note']);
});

test('without modes and without a context it is the plain review', () => {
  const its = chosen('', { context: {}, is_adversarial: false });
  expect([names(its), its.flags.map(({ level }) => level), its.outcome]).toEqual([
    ...[['standard'], ['note'], 'review'],
  ]);
  const rule = chosen('', { context: {}, is_adversarial: false, ...of('.claude/rules/a.md') });
  expect(codes(rule, 'recommended')).toEqual(['STANDARD']);
});

test('standard stands alone, and nothing is applied twice', () => {
  const its = chosen('', { ...few, modes: ['standard', 'steelman', 'steelman'] });
  expect([names(its), codes(its)]).toEqual([['steelman'], expect.arrayContaining(['MODES'])]);
});

test('what is named at C4 is refused or ends as any other', () => {
  const modes: ModeName[] = ['llm-as-judge'];
  const context = { criticality: 'C4', team: 'TEAM-SINGLE', token_budget: 'TOK-EXHAUST' };
  expect(chosen('', { modes, context }).outcome).toBe('refused');
  expect(chosen('', { modes, context: { ...context, team: '' } }).outcome).toBe('end_session');
});

test('an operator adds rules, and may replace those of the product', () => {
  const text = `escalation:\n  - {rule: AE-007, least: C4, reason: it moves money, paths: ['billing/**'], except: ['**/*.md']}\n`;
  const added = parseEscalation(text, 'mine.yaml');
  expect(standingOf(added, { path: 'billing/charge.ts', text: '' }, {}).escalated).toHaveLength(1);
  expect(standingOf(added, { path: 'billing/README.md', text: '' }, {}).escalated).toEqual([]);
});
