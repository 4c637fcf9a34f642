import { Command, Option } from 'commander';
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { completionFor, shells } from '../../../services/cli/manual/completion.js';
import { described } from '../../../services/cli/manual/described.js';
import { manPage } from '../../../services/cli/manual/man-page.js';

const sigma = new Command('sigma').helpCommand(false).description("It's for questions.");
const bus = sigma.command('bus').helpCommand(false).description('run the bus');
bus.command('backup').argument('<dir>', 'where to').description("copy the bus's store");
sigma
  .command('ask')
  .argument('[question]', '.dotted')
  .description('ask')
  .option('--repo <dir>', 'of this tree')
  .addOption(new Option('--secret', 'not shown').hideHelp())
  .option('-n, --no-wait', 'do not wait');
const commands = described(sigma);

/** What the shell offers for the last of these words. */
function offered(...words: string[]): string[] {
  const script = `${completionFor('bash', commands)}
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sigma; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = spawnSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line !== '');
}

test('commands and options are offered where they belong, and nothing in the place of a value', () => {
  expect(offered('sigma', '')).toEqual(['bus', 'ask', '--help']);
  expect(offered('sigma', 'bus', 'b')).toEqual(['backup']);
  expect(offered('sigma', 'bus', 'backup', '--')).toEqual(['--help']);
  expect(offered('sigma', 'ask', 'bus', '--')).toEqual(['--repo', '--no-wait', '--help']);
  expect(offered('sigma', 'ask', '--repo', '')).toEqual([]);
});

test.each(shells)('the script for %s has each command and option, and no loose quote', (shell) => {
  const script = completionFor(shell, commands);
  for (const word of ['backup', 'ask', 'repo', 'no-wait']) expect(script).toContain(word);
  expect(script).not.toContain('secret');
  expect(script.replace(/[^']/g, '').length % 2).toBe(0);
});

test('the manual has each command once, with its words as they are', () => {
  const page = manPage(commands, '1.2.3');
  expect(page.match(/^\.SS .*/gm)).toEqual([
    '.SS sigma bus',
    '.SS sigma bus backup',
    '.SS sigma ask',
  ]);
  expect(page).toContain("sigma \\- It's for questions\n");
  expect(page).toContain('.B [question]\n\\&.dotted\n');
  expect(page.match(/display help/g)).toHaveLength(1);
});
