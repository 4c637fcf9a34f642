import { expect, test } from 'vitest';
import { passageOf } from '../../../../src/pgc/answer/passage.js';
import { analyse } from '../../../../src/pgc/search/question/question.js';

const question = analyse('how is the gizmo polished');
const masses = question.concepts.map(() => 1);

function textOf(...lines: string[]): string | undefined {
  return passageOf(question, masses, lines)?.text;
}

test('a passage is told without the marks of its format', () => {
  expect(textOf('## Polishing', '', '- The **gizmo** is polished, see [how](doc/how.md).')).toBe(
    'Polishing: The gizmo is polished, see how.',
  );
  expect(textOf('  | gizmo | polished |  ', '|---|')).toMatch(/^gizmo · polished /);
  expect(textOf('/* A gizmo. */')).toBe('A gizmo.');
});

test('of a text that speaks of something else there is no passage', () => {
  expect(textOf('Nothing of that.', '')).toBeUndefined();
});

test('a long row of blanks in a line is read in linear time', () => {
  const row = ' '.repeat(1_000_000);
  expect(textOf(`The gizmo${row}is polished`)).toBe('The gizmo is polished');
});
