import { expect, test } from 'vitest';
import { commandText, visible } from '../../../services/console/page/parts/command-text.js';

test('one argument is seen to be one', () => {
  expect(commandText(['git', 'push', '--force', 'origin', 'main'])).toBe(
    'git push --force origin main',
  );
  expect(commandText(['sh', '-c', 'rm -rf /; echo "it\'s gone"'])).toBe(
    `sh -c 'rm -rf /; echo "it'\\''s gone"'`,
  );
  expect(commandText(['rm', '', '*'])).toBe(`rm '' '*'`);
});

test('what turns or hides a text is written out', () => {
  expect(visible('rm \u202egpj.exe')).toBe('rm \\u{202e}gpj.exe');
  expect(visible('a\u200bb\u2066c\u0007\u001b[2J')).toBe('a\\u{200b}b\\u{2066}c\\u{7}\\u{1b}[2J');
  expect(visible('line one\n\tline two, ä 漢')).toBe('line one\n\tline two, ä 漢');
});
