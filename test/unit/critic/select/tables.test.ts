import { expect, test } from 'vitest';
import { standingOf } from '../../../../src/critic/select/escalation.js';
import { select } from '../../../../src/critic/select/select.js';
import {
  phases,
  tokenBudgets,
  type ContextVector,
  type Selection,
} from '../../../../src/critic/shapes.js';
import { modeNames, strategies } from '../../../../src/critic/strategies.js';
import { loadEscalation } from '../../../../src/critic/select/escalation-file.js';

const policy = loadEscalation();

const usual = {
  standing: standingOf(policy, { path: '', text: '' }, {}),
  ...{ strict_order: false, is_adversarial: true, is_revision: false, iteration: 2 },
};

function chosen(words: string): Selection {
  const [criticality, target_type, phase, maturity, team, platform, token_budget] =
    words.split(' ');
  const context = { criticality, target_type, phase, maturity, team, platform, token_budget };
  return select({ ...usual, modes: [], context: context as Partial<ContextVector> });
}

// --- what the steps say, by the tables of the document

const stepOf = (selection: Selection, step: string): string =>
  selection.steps.find((each) => each.step === step)?.text ?? '';
const idsIn = (text = ''): string[] =>
  modeNames.filter((mode) => text.split(', ').includes(mode)).map((mode) => strategies[mode].id);

const everyMode = (context: Partial<ContextVector>): Selection =>
  select({ ...usual, modes: modeNames, context: { criticality: 'C2', ...context } });

test.each([
  ['TGT-CODE', 'S-007 S-010 S-011 S-012 S-014', 'S-001 S-003 S-004'],
  ['TGT-ARCH', 'S-001 S-002 S-004 S-013', 'S-010 S-011'],
  ['TGT-REQ', 'S-007 S-011 S-012 S-013', 'S-001 S-004 S-010'],
  ['TGT-RES', 'S-002 S-003 S-011 S-014', 'S-001 S-004 S-010 S-012'],
  ['TGT-DEC', 'S-002 S-003 S-004 S-013 S-014', 'S-010 S-011'],
  ['TGT-PROC', 'S-004 S-007 S-012 S-013', 'S-003 S-010 S-011'],
] as const)('%s is told who finds most and least in it', (target_type, high, low) => {
  const told = stepOf(everyMode({ target_type }), 'target');
  const [, most, least] = /most is found by (.*); least by (.*)\. Of less/.exec(told) ?? [];
  expect([idsIn(most).sort().join(' '), idsIn(least).sort().join(' ')]).toEqual([high, low]);
});

test.each([
  ['PH-EXPLORE', 'S-001 S-007 S-014'],
  ['PH-DESIGN', ''],
  ['PH-IMPL', 'S-003 S-004'],
  ['PH-VALID', 'S-004 S-013'],
  ['PH-MAINT', 'S-001'],
] as const)('in %s it is told what is of less use', (phase, cautious) => {
  const told = stepOf(everyMode({ phase }), 'target');
  const [, its] = /Of less use in [A-Z-]+: (.*)\.$/.exec(told) ?? [];
  expect(idsIn(its).sort().join(' ')).toBe(cautious);
});

test.each([
  ['PLAT-CC', '010 L1L2L4 003 L1L2 013 L1 007 L1L3L5 002 004 012 L5 011 L4 001 L3 014 L3L4'],
  ['PLAT-GENERIC', '010 L1 003 L1 013 L1 007 L1L5 002 004 012 L5 011 001 014'],
] as const)('on %s each strategy comes by what the platform has', (platform, layers) => {
  const told = stepOf(everyMode({ platform }), 'platform');
  const ways = [...told.matchAll(/S-(\d{3}) by ([^;]*)/g)].map(([, id = '', way = '']) =>
    [id, [...way.matchAll(/L\d/g)].join('')].filter(Boolean).join(' '),
  );
  expect(ways.sort()).toEqual(layers.match(/\d{3}(?: L\S*)?/g)?.sort());
});

const nine = '002 003 004 007 010 011 012 013 014';
const five = '002 003 007 010 014';

/** In the order of `phases`; every other dimension leaves nothing out. */
test.each([
  ['C1', ['010', '010 014', '010 014', '014', '010 014']],
  ['C2', ['010', five, five, '007 014', '007 014']],
  ['C3', [five, nine, nine.replace('004 ', ''), '007 011 012 014', '007 011 012 014']],
  ['C4', [nine, `001 ${nine}`, `001 ${nine}`, `001 ${nine}`, '007 011 012 014']],
] as const)('the modes of %s in each phase', (criticality, sets) => {
  const found = phases.map((phase) =>
    sortedIds(chosen(`${criticality} TGT-DEC ${phase} MAT-DRAFT TEAM-MULTI PLAT-CC TOK-FULL`)),
  );
  expect(found).toEqual(sets);
});

test.each([
  ['C1', 'MAT-DRAFT', ['010 014', '010', '010']],
  ['C2', 'MAT-DRAFT', [five, '003 010 014', '003 014']],
  ['C3', 'MAT-DRAFT', [nine, '002 003 013 014', '014']],
  ['C4', 'MAT-DRAFT', [`001 ${nine}`, '002 003 007 013 014', '']],
  ['C1', 'MAT-APPR', ['014']],
  ['C2', 'MAT-APPR', ['007 014']],
  ['C3', 'MAT-APPR', ['007 014']],
  ['C4', 'MAT-APPR', ['007 011 014']],
  ['C1', 'MAT-BASE', ['014']],
  ['C2', 'MAT-BASE', ['014']],
  ['C3', 'MAT-BASE', ['007 011']],
  ['C4', 'MAT-BASE', ['007 011']],
] as const)('the modes of %s, %s, for each budget', (criticality, maturity, sets) => {
  const found = tokenBudgets
    .slice(0, sets.length)
    .map((budget) =>
      sortedIds(
        chosen(`${criticality} TGT-DEC PH-DESIGN ${maturity} TEAM-MULTI PLAT-CC ${budget}`),
      ),
    );
  expect(found).toEqual(sets);
});

function sortedIds({ modes }: Selection): string {
  return modes
    .map(({ mode }) => (mode === 'standard' ? '' : strategies[mode].id.slice(2)))
    .sort()
    .join(' ');
}
