// Prompts by the ten thousand, right and wrong. Right ones are printed and read again; wrong ones are made of them by
// seeded mutations. Whatever comes, a prompt is read as a whole or refused with a code and a place within its text, and
// whoever executes it has seen all of its commands or none.
//
//   npm run campaign:prompts -- [--prompts N] [--mutated N] [--seed N] [--json]
//
// Exits with 1 when a claim does not hold.
import { isDeepStrictEqual } from 'node:util';
import { performance } from 'node:perf_hooks';
import { examinePrompt, parsePrompt } from '../../dist/src/prompt/grammar/parse.js';
import { printPrompt } from '../../dist/src/prompt/grammar/print.js';
import { promptLimits } from '../../dist/src/prompt/grammar/shapes.js';
import { mutated, promptText } from './prompts/texts.mjs';
import { Chance } from './random.mjs';
import { codes, numbersFrom, told } from './report.mjs';

/** Failures that are shown of each claim. */
const shownMax = 3;

const { json, ...options } = numbersFrom('campaign:prompts', {
  prompts: 10_000,
  mutated: 100_000,
  seed: 1,
});
const chance = new Chance(options.seed);
const failures = { roundTrip: [], longer: [], coded: [], place: [], whole: [] };
const counts = {};

/** What an executor would do, in the order it would do it. Throws before it does anything, or does all. */
function execute(text, calls) {
  const { setup, content, teardown } = parsePrompt(text);
  for (const { command, line } of setup) calls.push(`${line} ${command}`);
  if (content !== '') calls.push('content');
  for (const { command, line } of teardown) calls.push(`${line} ${command}`);
}

/** The same, told from the lines alone: what stands at the edges, without looking into it. */
function expected(text) {
  const lines = text
    .split('\n')
    .map((line, at) => ({ line: line.replace(/\r+$/, ''), at: at + 1 }));
  const full = lines.filter(({ line }) => !/^[ \t\r]*$/.test(line));
  const isCommand = ({ line }) => /^\/[A-Za-z][A-Za-z-]*(?![^ \t\r])/.test(line);
  const said = ({ line, at }) => `${at} ${/^\/([a-z-]+)/.exec(line)[1]}`;
  const first = full.findIndex((each) => !isCommand(each));
  if (first < 0) return full.map(said);
  const last = full.findLastIndex((each) => !isCommand(each));
  return [...full.slice(0, first).map(said), 'content', ...full.slice(last + 1).map(said)];
}

function isWithin(text, { line, column }) {
  const lines = text.split('\n');
  const found = Number.isInteger(line) && line >= 1 ? lines[line - 1] : undefined;
  if (found === undefined || !Number.isInteger(column)) return false;
  return column >= 1 && column <= Array.from(found).length + 1;
}

function checkRoundTrip(text) {
  const prompt = parsePrompt(text);
  const printed = printPrompt(prompt);
  if (!isDeepStrictEqual(parsePrompt(printed), prompt)) failures.roundTrip.push(text);
  if (printed.length > text.length) failures.longer.push(text);
}

function attempt(text) {
  const calls = [];
  try {
    execute(text, calls);
  } catch (error) {
    const code = String(error.code);
    counts[code] = (counts[code] ?? 0) + 1;
    if (calls.length > 0) failures.whole.push(text);
    if (code !== 'PROMPT_INVALID') failures.coded.push(`${error.stack} ${text}`);
    else if (!isWithin(text, error.data)) failures.place.push(text);
    return;
  }
  counts.read = (counts.read ?? 0) + 1;
  if (!isDeepStrictEqual(calls, expected(text))) failures.whole.push(text);
  checkRoundTrip(text);
}

/** Reading alone, whatever comes of it. */
function examined(text) {
  try {
    examinePrompt(text);
  } catch (error) {
    failures.coded.push(String(error.stack));
  }
}

function timed(work) {
  const begin = performance.now();
  work();
  return performance.now() - begin;
}

const perSecond = (count, ms) => `${Math.round((count / ms) * 1000)} a second`;
const texts = [];
const rightMs = timed(() => {
  for (let at = 0; at < options.prompts; at += 1) {
    texts.push(promptText(chance));
    try {
      checkRoundTrip(texts[at]);
    } catch (error) {
      failures.roundTrip.push(`${error.message}: ${texts[at]}`);
    }
  }
});
const mutatedMs = timed(() => {
  for (let at = 0; at < options.mutated; at += 1) attempt(mutated(chance, texts));
});

/** Texts that are bad for a reader that goes back, at a quarter of the limit and at the limit. */
const shapes = {
  'blank lines': (chars) => '\n'.repeat(chars),
  'carriage returns': (chars) => `a${'\r'.repeat(chars - 2)}b`,
  'spaces behind a command': (chars) => `/run${' '.repeat(chars - 5)}x`,
  'words of /run': (chars) => '/run x'.padEnd(chars, ' x'),
  'escapes that are none': (chars) => `/push "${'\\q'.repeat((chars - 8) / 2)}"`,
  slashes: (chars) => '/'.repeat(chars),
  'escaped lines': (chars) => '//a\n'.repeat(chars / 4),
  'lines like commands': (chars) => '/a\n'.repeat(Math.floor(chars / 3)),
  prose: (chars) => 'some words of prose\n'.repeat(Math.floor(chars / 20)),
};
const times = Object.entries(shapes).map(([name, make]) => {
  const [quarter, whole] = [promptLimits.bytes / 4, promptLimits.bytes].map((chars) => {
    const text = make(chars);
    const runs = Array.from({ length: 7 }, () => timed(() => examined(text)));
    return runs.toSorted((one, other) => one - other)[3];
  });
  return [`time, ${name}`, `${quarter.toFixed(2)} ms of 64 KiB, ${whole.toFixed(2)} ms of 256 KiB`];
});

const claim = (name, list) => ({
  name,
  holds: list.length === 0,
  detail: `${list.length}, such as ${JSON.stringify(list.slice(0, shownMax))}`,
});
process.exitCode = told('prompts', {
  json,
  figures: {
    seed: options.seed,
    prompts: `${options.prompts}, ${perSecond(options.prompts, rightMs)} made, read, printed and read again`,
    mutated: `${options.mutated}, ${perSecond(options.mutated, mutatedMs)}`,
    outcomes: codes(counts),
    ...Object.fromEntries(times),
  },
  claims: [
    claim('what is printed is read as the same prompt', failures.roundTrip),
    claim('what is printed is never longer than what was read', failures.longer),
    claim('what is refused has a code', failures.coded),
    claim('what is refused has a place within the text', failures.place),
    claim('all commands are executed, or none', failures.whole),
  ],
});
