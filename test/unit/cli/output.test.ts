import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printable, shellWord } from '../../../src/render/terminal.js';

test('a word that is copied into a shell is the text, and runs nothing', () => {
  expect(shellWord('How does `touch x` work?')).toBe("'How does `touch x` work?'");
  const hostile = fc.string({
    unit: fc.constantFrom(...Array.from('a "\'`$(){}\\!;|&\n#*~')),
    maxLength: 20,
  });
  fc.assert(
    fc.property(hostile, (text) => {
      const said = execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`]).toString();
      expect(said).toBe(printable(text));
    }),
    { numRuns: 50 },
  );
});

test('what others have written neither moves the cursor nor changes the order of what is read', () => {
  expect(printable('a\u001b[2J\u0007\u009bb\nc')).toBe('a?[2J??b?c');
  // Shown, the first would read as another command than is run.
  for (const mark of ['\u202e', '\u202a', '\u2066', '\u2069', '\u200f', '\u061c', '\u2028'])
    expect(printable(`rm ${mark}x`)).toBe('rm ?x');
  expect(printable('äöü · 漢字 → 🙂')).toBe('äöü · 漢字 → 🙂');
});
