import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printable, shellWord } from '../../../services/cli/output.js';

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
