// Bad questions, over an index and over a running lattice, and an index that is not all there.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startLattice } from '../../bench/kernel/process.mjs';
import { tried } from './answers.mjs';
import { asking, goodQuestion, goodReport, indexed, locating } from './indexed.mjs';
import { texts } from './texts.mjs';

const readyMsMax = 60_000;
const bracketCount = 100_000;
const namesCount = 20_000;

/** Words behind `ask QUESTION`, and how that ends over an index. */
const options = [
  [['--overlays', 'O8'], 'UNKNOWN_OVERLAY'],
  [['--overlays', 'O1,all'], 'UNKNOWN_OVERLAY'],
  [['--overlays', '\u001b[31m'], 'UNKNOWN_OVERLAY'],
  [['--overlays', 'O1,'.repeat(namesCount)], 'an answer'],
  [['--overlays', 'o1'], 'an answer'],
  [['--overlays', ' o4 , O1 '], 'an answer'],
  [['--overlays', ',,,'], 'an answer'],
  [['--overlays', ''], 'an answer'],
  ...['0', '-1', '11', '1e9', '1.5', 'NaN', '', '9'.repeat(400)].map((count) => [
    ['--top-k', count],
    'USAGE',
  ]),
  ...['0', '-1s', '1y', '99h'].map((time) => [['--deadline', time], 'USAGE']),
  [['--agent', 'nobody'], 'UNKNOWN_AGENT'],
  // A shard of Python alone: it has neither what is asked for nor these overlays.
  [['--agent', 'tower'], 'NOT_FOUND'],
  [['--agent', 'tower', '--overlays', 'O6'], 'NOT_FOUND'],
  [['--agent', 'tower', '--overlays', 'O2,O4,O5'], 'NOT_FOUND'],
];
/** What is asked of the running lattice besides the texts. */
const commands = [
  [['ask', goodQuestion, '--overlays', 'O8'], 'UNKNOWN_OVERLAY'],
  [['ask', goodQuestion, '--overlays', 'o1'], 'an answer'],
  [['ask', goodQuestion, '--top-k', '0'], 'USAGE'],
  [['ask', goodQuestion, '--agent', 'nobody'], 'UNKNOWN_AGENT'],
  [['ask', goodQuestion, '--agent', 'tower', '--overlays', 'O6'], 'NOT_FOUND'],
  [['query', 'gate', ''], 'EMPTY_QUESTION'],
  [['query', 'gate', '('.repeat(bracketCount)], 'EMPTY_QUESTION'],
  [['query', 'gate', '\ufffd'.repeat(namesCount)], 'QUESTION_UNREADABLE'],
  [['query', 'gate', 'a_'.repeat(bracketCount / 2)], 'NOT_FOUND'],
  [['query', 'nobody', goodQuestion], 'UNKNOWN_AGENT'],
  [['ask', goodQuestion], 'an answer'],
];

/** `{ name, run }`, as in contents.mjs. */
export const questions = [
  { name: 'ask: texts that are no question', run: askTexts },
  { name: 'ask: options', run: askOptions },
  { name: 'ask: the running lattice', run: askLattice },
  { name: 'ask: an overlay that failed, and is made again', run: askWhileBuilt },
];

async function askTexts(at) {
  await indexed(at);
  for (const { name, text, ask } of texts)
    await tried(at, { input: name, words: asking(at, '-'), stdin: text, expected: ask });
  for (const text of ['', ' \t\n'])
    await tried(at, {
      input: `as an argument: ${JSON.stringify(text)}`,
      words: asking(at, text),
      expected: 'EMPTY_QUESTION',
    });
  await at.answers('what it answered from all the time');
}

async function askOptions(at) {
  await indexed(at);
  for (const [more, expected] of options) {
    const input = shownAs(more);
    await tried(at, { input, words: [...asking(at, goodQuestion), ...more], expected });
  }
}

/** One line of the table. */
function shownAs(words) {
  return words
    .map((word) => (/^[\w-]+$/.test(word) ? word : JSON.stringify(word)))
    .join(' ')
    .slice(0, 60);
}

async function askLattice(at) {
  await indexed(at);
  const lattice = await startLattice(at.root, { home: at.home, timeoutMs: readyMsMax });
  try {
    for (const { name, text, ask } of texts)
      await tried(at, { input: name, words: ['ask', '-'], stdin: text, expected: ask });
    for (const [words, expected] of commands)
      await tried(at, { input: shownAs(words), words, expected });
    const isWhole = !/starting it again|"level":"error"/.test(lattice.log());
    at.claim('nothing of it failed', isWhole, lattice.log());
  } finally {
    await lattice.stop();
  }
}

/** Its history cannot be read, for a tree of git is gone: O3 fails alone. A run that tries again is stopped midway. */
async function askWhileBuilt(at) {
  await indexed(at);
  const [tree] = at.git('rev-parse', 'HEAD^{tree}').split('\n');
  at.write({ 'src/second.c': 'int second_gate(void) { return sentinel_count(2); }\n' });
  at.commitAll('second');
  rmSync(at.at(`.git/objects/${tree.slice(0, 2)}/${tree.slice(2)}`), { force: true });
  const { code, output } = await at.index();
  at.claim('the run ends with 0', code === 0, output);
  const words = asking(at, goodQuestion, '--overlays', 'O3');
  const failed = 'an answer but OVERLAY_FAILED';
  await tried(at, { input: 'calls without their history', words, expected: failed });
  const others = { words: asking(at, goodQuestion), expected: 'an answer' };
  await tried(at, { input: 'the others', ...others });
  const child = await stoppedWhileBuilding(at);
  try {
    await tried(at, {
      input: 'while it is made',
      words,
      expected: 'an answer but OVERLAY_BUILDING',
    });
    await tried(at, { input: 'the others, while it is made', ...others });
    const locate = locating(at);
    await tried(at, {
      ...{ input: 'a report, while it is made', words: locate, stdin: goodReport },
      expected: 'files',
    });
  } finally {
    child.kill('SIGKILL');
  }
  await tried(at, { input: 'that run was killed', words, expected: failed });
}

/** A run that has told what it makes, and goes no further. */
async function stoppedWhileBuilding(at) {
  const child = spawn(process.execPath, at.program(['index', at.root]), {
    ...{ env: { ...process.env, ...at.environment() }, stdio: 'ignore' },
  });
  const notice = path.join(at.place, 'building.json');
  for (;;) {
    if (child.exitCode !== null) throw new Error('the run was over before it could be stopped');
    if (existsSync(notice) && readFileSync(notice, 'utf8').includes('O3')) break;
    await wait(1);
  }
  child.kill('SIGSTOP');
  return child;
}
