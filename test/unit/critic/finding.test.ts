import { expect, test } from 'vitest';
import { bounded, findingOf, sorted, type Found } from '../../../src/critic/finding.js';
import type { Examined } from '../../../src/critic/mode.js';
import { criticLimits } from '../../../src/critic/shapes.js';

const found: Found = {
  ...{ rule: 'LINK_BROKEN', severity: 'minor', text: 'leads nowhere', remedy: 'mend it' },
  ...{ place: { line_start: 4, line_end: 4 }, words: 'See [the log](docs/log.md).' },
};
const empty: Examined = {
  ...{ sections: [], findings: [], score: null, unable: [], abort: '' as const, dropped: 0 },
};

test('the same words have the same id in another line, other words and other modes have not', () => {
  const { id } = findingOf('standard', found);
  expect(id).toMatch(/^STD-[0-9a-f]{10}$/);
  const moved = { ...found, place: { line_start: 90, line_end: 91 }, text: 'in line 90' };
  expect(findingOf('standard', moved).id).toBe(id);
  expect(findingOf('standard', { ...found, words: 'see the  log (DOCS/log.md)' }).id).toBe(id);
  expect(findingOf('standard', { ...found, words: 'See the dog' }).id).not.toBe(id);
  expect(findingOf('standard', { ...found, rule: 'OTHER' }).id).not.toBe(id);
  expect(findingOf('llm-as-judge', found).id).toMatch(/^S-014-/);
});

test('the worst is first, hard before others, and the second of the same is numbered by its line', () => {
  const at = (line_start: number): Found => ({ ...found, place: { line_start, line_end: 9 } });
  const findings = [
    findingOf('standard', at(7)),
    findingOf('standard', { ...found, severity: 'critical' }),
    findingOf('standard', at(2)),
    findingOf('standard', { ...at(8), isHard: true, words: 'hard' }),
  ];
  const inOrder = sorted(findings);
  expect(inOrder.map(({ severity, line_start }) => [severity, line_start])).toEqual([
    ['critical', 4],
    ['minor', 8],
    ['minor', 2],
    ['minor', 7],
  ]);
  const { id } = findingOf('standard', found);
  expect(inOrder.map((each) => each.id)).toEqual([
    `${id}-2`,
    expect.not.stringContaining(id),
    id,
    `${id}-3`,
  ]);
});

test('texts, quotes and their number are cut', () => {
  const evidence = {
    ...{ file_path: 'a', line_start: 1, line_end: 1, content: 'x'.repeat(900), blob: '' },
    symbol: '',
  };
  const finding = findingOf('standard', {
    ...found,
    text: 'y'.repeat(5_000),
    evidence: Array(9).fill(evidence),
  });
  expect(finding.text).toHaveLength(criticLimits.findingChars);
  expect(finding.evidence).toHaveLength(criticLimits.evidence);
  expect(finding.evidence[0]?.content).toHaveLength(criticLimits.contentChars);
});

test('a report keeps its worst findings and its limit of bytes, and says what it left out', () => {
  const many = Array.from({ length: 300 }, (_, at) =>
    findingOf('standard', {
      ...{ ...found, words: String(at), severity: at === 299 ? 'critical' : 'note' },
    }),
  );
  const few = bounded({ ...empty, findings: many, unable: Array(40).fill('to read minds') });
  expect(few.findings).toHaveLength(criticLimits.findings);
  expect(few.findings[0]?.severity).toBe('critical');
  expect(few.unable).toHaveLength(criticLimits.unable);
  expect(few.unable.at(-1)).toBe('to list 200 more findings that weigh less');

  const large = { ...found, text: '語'.repeat(600), remedy: '語'.repeat(600) };
  const sections = Array.from({ length: 20 }, () => ({ title: 't', text: 's'.repeat(20_000) }));
  const fitting = bounded({
    ...empty,
    sections,
    findings: many.map((_, at) => findingOf('standard', { ...large, words: String(at) })),
  });
  expect(Buffer.byteLength(JSON.stringify(fitting))).toBeLessThanOrEqual(criticLimits.reportBytes);
  expect(fitting.sections).toHaveLength(criticLimits.sections);
  expect(bounded({ ...empty, findings: many.slice(0, 3) }).unable).toEqual([]);
});
