import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BusError } from '../../../src/errors/bus-error.js';
import { parsePrompt } from '../../../src/prompt/grammar/parse.js';
import { printPrompt } from '../../../src/prompt/grammar/print.js';
import { promptText } from './prompts.js';
import { runs } from '../../support/runs.js';

test('what is printed is read as the same prompt, places included, and is never longer', () => {
  const seen = { commands: 0, contents: 0, teardowns: 0 };
  fc.assert(
    fc.property(promptText, (text) => {
      const prompt = parsePrompt(text);
      const printed = printPrompt(prompt);
      expect(parsePrompt(printed)).toEqual(prompt);
      expect(printed.length).toBeLessThanOrEqual(text.length);
      expect(printPrompt(parsePrompt(printed))).toBe(printed);
      seen.commands += prompt.setup.length;
      seen.contents += prompt.content === '' ? 0 : 1;
      seen.teardowns += prompt.teardown.length;
    }),
    { numRuns: runs(2_000) },
  );
  // What was made is not all prose.
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(runs(500));
});

test('whatever the text, it is a prompt that prints, or refused at a place within it', () => {
  const piece = fc.constantFrom(
    '/read ',
    '/push ',
    '/run',
    '/reed ',
    '//',
    '/',
    '"',
    '\\',
    '\\n',
    'name=',
    'timeout=',
    'x',
    '1',
    ' ',
    '\t',
    '\n',
    '\r\n',
    '\r',
    '\0',
    '😀',
  );
  const text = fc.array(fc.oneof(piece, piece, fc.string({ unit: 'binary' })), { maxLength: 30 });
  const seen = { valid: 0, refused: 0 };
  fc.assert(
    fc.property(text, (parts) => {
      const whole = parts.join('');
      try {
        const prompt = parsePrompt(whole);
        expect(parsePrompt(printPrompt(prompt))).toEqual(prompt);
        seen.valid += 1;
      } catch (error) {
        if (!(error instanceof BusError)) throw error;
        expect(error.code).toBe('PROMPT_INVALID');
        const line = whole.split('\n')[Number(error.data.line) - 1];
        expect(line).toBeDefined();
        expect(Number(error.data.column)).toBeGreaterThan(0);
        expect(Number(error.data.column)).toBeLessThanOrEqual(Array.from(line!).length + 1);
        seen.refused += 1;
      }
    }),
    { numRuns: runs(1_000) },
  );
  expect(Math.min(seen.valid, seen.refused)).toBeGreaterThan(runs(30));
});
