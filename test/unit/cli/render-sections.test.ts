import { expect, test } from 'vitest';
import { reportLines } from '../../../src/render/critique-sections.js';
import { critiqueOf } from '../../support/critiques.js';

const table = '| what | where |\n| --- | --- |\n| a | b |\n| c | d |';
const [report] = critiqueOf('one', 0.5).reports;
const reports = [
  {
    ...report!,
    sections: [
      { title: 'Attack Surface', text: table },
      { title: 'Reasons', text: '- the first\n- the second\n- the third' },
      { title: 'Critical Items', text: 'None.' },
      { title: 'Defences', text: 'There already:\n- a lock' },
      { title: 'Summary', text: `${'x'.repeat(200)}\nand more` },
      { title: 'Quoted', text: 'red \u001b[31mtext' },
    ],
  },
];

test('each section is told in a line, and one that says nothing is not', () => {
  expect(reportLines(reports, false)).toEqual([
    '',
    '  Modes (--full prints all of their sections)',
    '    constitutional: 0 found',
    `      ${'Attack Surface'.padEnd(30)} 2 rows`,
    `      ${'Reasons'.padEnd(30)} the first (and 2 more)`,
    `      ${'Defences'.padEnd(30)} There already: - a lock`,
    `      ${'Summary'.padEnd(30)} ${'x'.repeat(160)}…`,
    `      ${'Quoted'.padEnd(30)} red ?[31mtext`,
  ]);
});

test('whole, they stand as the mode wrote them', () => {
  const text = reportLines(reports, true).join('\n');
  for (const line of [...table.split('\n'), '- the third', 'None.', 'and more'])
    expect(text).toContain(`\n        ${line}`);
  expect(text).not.toContain('--full');
});

test('a mode that did not end says why', () => {
  const [, , head] = reportLines(
    [{ ...report!, status: 'partial', reason: 'its minute was over', sections: [] }],
    false,
  );
  expect(head).toBe('    constitutional: partial its minute was over, 0 found');
});
