import { expect, test } from 'vitest';
import { renderHistory } from '../../../src/render/critique-history.js';
import { critiqueOf, findingOf, trackingOf } from '../../support/critiques.js';

const tracking = trackingOf('docs/one.md', 0.92, [
  critiqueOf('one', 0.5, { iteration: 2, findings: [findingOf('x')] }),
  critiqueOf('two', 0.875, { iteration: 3 }),
]);
const history = {
  ...{ tracking, state: 'ratifying', why: 'a flag says so', needs_person: true },
  ratifications: [
    { judgement: 'revise' as const, by: 'ada', text: 'once more', at_ms: 0, critique: 'one' },
  ],
};

test('a history has its scores, a bar for each, what is projected, and what a person may say', () => {
  expect(renderHistory(history, true).split('\n')).toEqual([
    'docs/one.md: ratifying, a flag says so',
    '',
    'ITERATION  SCORE  CHANGE  GATE 0.92  OPEN  MODES',
    '2          0.500  -       not met    1     constitutional',
    '3          0.875  +0.375  not met    0     constitutional',
    '',
    `   2 ${'#'.repeat(20)}${' '.repeat(16)}|    0.50`,
    `   3 ${'#'.repeat(35)} |    0.88`,
    '',
    '1 more iteration projected: at 0.375 an iteration',
    'new findings in each iteration: 1, 0; 0 stay open',
    'mandatory LENIENCY_JUMP in iteration 3: the score went from 0.50 to 0.88 in one iteration, by more than 0.20: compare the two versions by hand before this is accepted',
    '1970-01-01 00:00 revise by ada: once more',
    'A person decides:',
    '  sigma critic ratify docs/one.md --judgement accept|refuse|revise',
  ]);
});

test('on a terminal it is drawn in blocks', () => {
  const lines = renderHistory(history, false).split('\n');
  expect(lines[6]).toBe(`   2 ${'█'.repeat(20)}${' '.repeat(16)}┃    0.50`);
});
