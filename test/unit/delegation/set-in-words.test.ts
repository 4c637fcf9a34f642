import { expect, test } from 'vitest';
import { setIn } from '../../../src/delegation/grounding/set-in-words.js';

const uncalledIn = (path: string): string =>
  `(O1[kind=function${path}] + O1[kind=method${path}]) - O3[called]`;

test.each([
  ['Which functions in src/table.rs are dead?', uncalledIn(', path=src/table.rs')],
  ['Which methods below mm/slab are never called?', uncalledIn(', path=mm/slab')],
  ['List unused functions.', uncalledIn('')],
  ['List the security weak points of src/a/process.py.', 'O2[path=src/a/process.py]'],
  ['Which vulnerabilities are known in drivers/net?', 'O2[path=drivers/net]'],
  ['Which functions does the algebra O1[kind=function] & O4 give?', 'O1[kind=function] & O4'],
  ['Evaluate `(O1 | O2[severity=high]) - O6`, please', '(O1 | O2[severity=high]) - O6'],
])('%s asks for %s', (text, expression) => {
  expect(setIn(text)).toBe(expression);
});

test.each([
  'Which functions in src/time.py are never called outside of tests?',
  'Which functions in src/ring.c are called from other files?',
  'How is the security of a session kept?',
  'Why is a dead letter kept?',
  'What does overlay O4 hold?',
  'Who calls kfree?',
])('%s is a question for a search', (text) => {
  expect(setIn(text)).toBeUndefined();
});
