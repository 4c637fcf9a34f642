// Texts that are no question and no report, or more of one than anybody reads.
import { Chance } from '../random.mjs';

const mebibyte = 1024 * 1024;
const bracketCount = 100_000;
const manyCount = 20_000;
const seed = 7;

const repeated = (text, chars = mebibyte) =>
  text.repeat(Math.ceil(chars / text.length)).slice(0, chars);
const listed = (line) => Array.from({ length: manyCount }, (_, at) => line(at)).join('\n');
const asked = 'What counts the sentinels that stand at the gate?';
/** Signs that stand above and below each letter. */
const combining = '\u0300\u0323\u0336\u0489'.repeat(8);

const found = { ask: 'an answer', locate: 'files' };
const unknown = { ask: 'NOT_FOUND', locate: 'NOT_FOUND' };
/** What is asked is one line of thousands: whether it is answered depends on the time that the model has to judge. */
const drowned = { ask: 'an answer or NOT_FOUND', locate: 'files' };
/** A call of what nothing defines is asked for by its name. */
const unclear = { ask: 'NOT_FOUND', locate: 'files' };
/** No word that is short enough for one, or only such as stand in every report. */
const wordless = { ask: 'NOT_FOUND', locate: 'REPORT_EMPTY' };
/** More of a report is read than of a question. */
const beyond = { ask: 'EMPTY_QUESTION', locate: 'files' };
const empty = { ask: 'EMPTY_QUESTION', locate: 'REPORT_EMPTY' };
const unreadable = { ask: 'QUESTION_UNREADABLE', locate: 'REPORT_UNREADABLE' };

/**
 * `{ name, text, ask, locate }`: text or bytes, and how both end: `an answer`, `files`, or a code. Where a word of the
 * tree stands in it, that word is found.
 */
export const texts = [
  { name: 'nothing', text: '', ...empty },
  {
    name: 'blanks',
    text: ' \t\r\n\u00a0\u2003\u3000\n',
    ...empty,
  },
  {
    name: 'signs without a letter',
    text: '?! … --- ()[]{} ;;;\n',
    ...empty,
  },
  ...binaries(),
  ...scripts(),
  ...masses(),
  ...logs(),
];

function binaries() {
  const chance = new Chance(seed);
  const bytes = Buffer.from(Array.from({ length: mebibyte }, () => chance.between(0, 255)));
  return [
    { name: '1 MB of random bytes', text: bytes, ...unreadable },
    { name: '1 MB of NUL', text: Buffer.alloc(mebibyte), ...unreadable },
    { name: 'UTF-16', text: Buffer.from('\ufeffsentinel gate opens', 'utf16le'), ...unreadable },
    {
      name: 'some bytes that are not UTF-8, a NUL, half of a character',
      text: Buffer.concat([
        Buffer.from('sentinel gate '),
        Buffer.from([0xff, 0xc0, 0x80, 0x00, 0xed, 0xa0, 0x80]),
        Buffer.from(' opens '),
        Buffer.from([0xe2, 0x82]),
      ]),
      ...found,
    },
    {
      name: 'signs of a terminal',
      text: '\u001b[31msentinel\u001b[0m\u0007 \u009b2J gate',
      ...found,
    },
  ];
}

function scripts() {
  return [
    { name: 'Cyrillic', text: 'Почему ворота не открываются, когда считают часовых?', ...unknown },
    { name: 'Cyrillic with a name of the tree', text: 'Что делает sentinel_count?', ...found },
    { name: 'Chinese', text: '为什么哨兵数到三的时候门不打开？', ...unknown },
    { name: 'Chinese with a name of the tree', text: '函数sentinel_count做什么？', ...found },
    { name: 'Arabic', text: 'لماذا لا تفتح البوابة عندما يعد الحراس؟', ...unknown },
    { name: 'emoji', text: '🚪👮🏽‍♀️🔢❓🏳️‍🌈', ...empty },
    {
      name: 'letters under combining marks',
      text: [...'sentinel gate'].map((letter) => letter + combining).join(''),
      ...unknown,
    },
    { name: '1 MB of Chinese', text: repeated('哨兵数到三门打开'), ...wordless },
    { name: '1 MB of combining marks', text: `gate ${repeated(combining)}`, ...found },
  ];
}

/** What a pattern that looks back would never come to an end with. */
function masses() {
  return [
    {
      name: '1 MB question',
      text: repeated('why does the gate not open for a sentinel? '),
      ...found,
    },
    {
      name: '100 000 open brackets',
      text: '('.repeat(bracketCount),
      ...empty,
    },
    { name: '100 000 open brackets behind names', text: 'gate(['.repeat(bracketCount), ...unclear },
    { name: '1 MB of one letter', text: repeated('a'), ...wordless },
    { name: '1 MB of a_a_a_', text: repeated('a_'), ...wordless },
    { name: '1 MB of aAaA', text: repeated('aA'), ...wordless },
    { name: '1 MB of digits', text: repeated('1234567890'), ...wordless },
    { name: '1 MB of a.a.a.', text: repeated('a.'), ...wordless },
    { name: '1 MB of a/a/a/', text: repeated('a/'), ...wordless },
    { name: '1 MB of a::a::', text: repeated('a::'), ...wordless },
    { name: '1 MB of a-a-a-', text: repeated('a-'), ...wordless },
    {
      name: '1 MB of quotation marks',
      text: repeated('"'),
      ...empty,
    },
    { name: '1 MB of quoted letters', text: repeated('"ab" '), ...unknown },
    { name: '1 MB of back-ticks and backslashes', text: repeated('`\\a'), ...wordless },
    { name: '1 MB of blanks before a word', text: `${repeated(' ')}gate`, ...beyond },
    { name: '1 MB of line ends before a word', text: `${repeated('\r\n')}gate`, ...beyond },
    { name: '1 MB of "in the"', text: repeated('in the '), ...wordless },
    { name: '1 MB of CONFIG_', text: repeated('CONFIG_'), ...wordless },
    { name: '1 MB of 0x0x', text: repeated('0x'), ...wordless },
    { name: '1 MB of 8086:8086:', text: repeated('8086:'), ...wordless },
    { name: '1 MB of [ 1.0] [ 1.0]', text: repeated('[    1.0] '), ...wordless },
    {
      name: '1 MB of different words',
      text: listed((at) => `w${at.toString(36)}q gate${at}`),
      ...unknown,
    },
  ];
}

function logs() {
  const stamp = (at) => `[ ${(1_000 + at / 100).toFixed(6)}]`;
  const line = (at) =>
    `${stamp(at)} gate ${at % 7}: sentinel ${at} does not open, error -${at % 110} at 0x${(at * 4_099).toString(16)}`;
  const traced = (at) =>
    `${stamp(at)}  ${at % 3 === 0 ? '? ' : ''}sentinel_count_${at}+0x${(at % 999).toString(16)}/0x400 [gate]`;
  return [
    { name: '1 MB of kernel log', text: repeated(`${listed(line)}\n`), ...drowned },
    {
      name: 'a log with one line of 1 MB',
      text: `${line(1)}\n${stamp(2)} ${repeated('gate 1: ')}\n${line(3)}`,
      ...drowned,
    },
    {
      name: '20 000 frames of a kernel',
      text: `${asked}\n Call Trace:\n${listed(traced)}`,
      ...drowned,
    },
    {
      name: '20 000 frames of Python',
      text: `${asked}\nTraceback (most recent call last):\n${listed((at) => `  File "/srv/gate/f${at}.py", line ${at}, in gate_${at}\n    sentinel()`)}\nValueError: gate`,
      ...drowned,
    },
    {
      name: '20 000 frames of JavaScript',
      text: `${asked}\nError: gate\n${listed((at) => `    at Gate.open${at} (/srv/gate/f${at}.js:${at}:7)`)}`,
      ...drowned,
    },
    {
      name: '20 000 paths',
      text: `${asked}\n${listed((at) => `drivers/gate/f${at}.c:${at}: error`)}`,
      ...drowned,
    },
    {
      name: '20 000 identifiers',
      text: `${asked}\n${listed((at) => `sentinel_${at}_count()`)}`,
      ...drowned,
    },
  ];
}
