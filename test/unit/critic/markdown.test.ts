import { expect, test } from 'vitest';
import { markdownLimits, partAt, readMarkdown } from '../../../src/critic/artifact/markdown.js';
import { criticLimits } from '../../../src/critic/shapes.js';

const page = `---
title: A page
---
Before all headings.

# The *Broker* \`b\`

It keeps mail, e.g. letters. It is
fast! See [the log](docs/log.md#top) and
\`a
b\` and [next][n].

## Limits

> A quote of somebody.

1. first
   - [x] done [here](#limits)
   - [ ] open

| Name | Value |
|------|-------|
| [cap](cap.md) | 64 |

\`\`\`ts
const a = 1;
\`\`\`

## Limits

<a name="own"></a>![img](p.png)[^1]

[n]: http://next
[^1]: a note
`;

const read = readMarkdown('page.md', page);

test('headings have their lines, plain titles and the anchors that GitHub gives', () => {
  const { headings, anchors } = read;
  expect(
    headings.map(({ title, level, line_start, anchor }) => [title, level, line_start, anchor]),
  ).toEqual([
    ['The Broker b', 1, 6, 'the-broker-b'],
    ['Limits', 2, 13, 'limits'],
    ['Limits', 2, 29, 'limits-1'],
  ]);
  expect([...anchors]).toEqual(['the-broker-b', 'limits', 'limits-1', 'own']);
});

test('parts go from a heading to the next, and say under which they stand', () => {
  expect(read.parts.map(({ path, line_start, line_end }) => [path, line_start, line_end])).toEqual([
    [[], 1, 5],
    [['The Broker b'], 6, 12],
    [['The Broker b', 'Limits'], 13, 28],
    [['The Broker b', 'Limits'], 29, read.lines.length],
  ]);
  expect([1, 6, 12, 13, 28, 29, 400].map((line) => partAt(read.parts, line))).toEqual([
    ...[0, 1, 1, 2, 2, 3, 3],
  ]);
});

test('sentences have the lines in which they stand, and an abbreviation ends none', () => {
  expect(
    read.sentences
      .map(({ text, line_start, line_end, part }) => [text, line_start, line_end, part])
      .slice(0, 5),
  ).toEqual([
    ['Before all headings.', 4, 4, 0],
    ['It keeps mail, e.g. letters.', 8, 8, 1],
    ['It is fast!', 8, 9, 1],
    ['See [the log](docs/log.md#top) and `a b` and [next][n].', 9, 11, 1],
    ['A quote of somebody.', 15, 15, 2],
  ]);
  expect(read.sentences.filter(({ isQuote }) => isQuote)).toHaveLength(1);
});

test('links, items, tables, code and front matter have their lines', () => {
  expect(read.links).toEqual([
    { text: 'the log', target: 'docs/log.md#top', kind: 'link', line: 9 },
    { text: 'next', target: 'http://next', kind: 'link', line: 11 },
    { text: 'here', target: '#limits', kind: 'link', line: 18 },
    { text: 'cap', target: 'cap.md', kind: 'link', line: 23 },
    { text: 'img', target: 'p.png', kind: 'image', line: 31 },
  ]);
  expect(read.items).toEqual([
    { text: 'first', line_start: 17, line_end: 20, isOrdered: true },
    {
      ...read.items[1],
      text: 'done [here](#limits)',
      line_start: 18,
      line_end: 18,
    },
    {
      ...read.items[2],
      text: 'open',
      line_start: 19,
      line_end: 20,
      isOrdered: false,
    },
  ]);
  expect(read.rows).toEqual([
    { cells: ['Name', 'Value'], line: 21, isHeader: true },
    { cells: ['[cap](cap.md)', '64'], line: 23, isHeader: false },
  ]);
  expect(read.fences).toEqual([
    { language: 'ts', text: 'const a = 1;\n', line_start: 25, line_end: 27 },
  ]);
  expect(read.codes).toEqual([
    { text: 'b', line: 6 },
    { text: 'a b', line: 10 },
  ]);
  expect(read.labels).toEqual(new Set(['n', '^1']));
  expect(read.frontMatter).toEqual({ line_start: 1, line_end: 3, text: 'title: A page' });
});

test('a text without headings is one part, an empty one too', () => {
  expect(readMarkdown('a.md', 'one\n').parts).toEqual([
    { heading: undefined, path: [], line_start: 1, line_end: 2 },
  ]);
  const { parts, sentences } = readMarkdown('a.md', '');
  expect([parts.length, sentences.length]).toEqual([1, 0]);
});

test.each([
  ['a.ts', '/** Keeps mail.\n * Never twice. */\nconst a = "x";\n// Once.\n#no', [1, 2, 4]],
  ['a.py', '"""Keeps mail.\nNever twice.\n"""\nx = 1\n  # Once.\n', [1, 2, 5]],
  ['Makefile', '# Keeps mail. Never twice.\nall:\n\n# Once.\n', [1, 1, 4]],
  ['a.sql', '-- Keeps mail.\nselect 1;\n/* Never twice.\n*/\n-- Once.\n', [1, 3, 5]],
])('of %s only the comments are read, in their lines', (path, text, lines) => {
  const { sentences, isCode } = readMarkdown(path, text);
  expect(isCode).toBe(true);
  expect(sentences.map(({ text: each }) => each)).toEqual(['Keeps mail.', 'Never twice.', 'Once.']);
  expect(sentences.map(({ line_start }) => line_start)).toEqual(lines);
});

const whole = (piece: string): string =>
  piece.repeat(Math.ceil(criticLimits.artifactBytes / piece.length));

test.each([
  '[',
  '[a](',
  '*a _b ',
  '> ',
  '- ',
  'a**b',
  '`a``',
  '<a ',
  '![]',
  '.',
  '.)',
  '. ',
  '|a|b|\n',
  '"a.',
  '[a]: /b "\n',
  '# ',
  '\n',
  'e.g. ',
])('whatever is repeated to the limit is read in one go: %j', (piece) => {
  // A reader that goes back takes hours for some of these; the time limit of the test is the claim.
  const { lines } = readMarkdown('a.md', whole(piece));
  expect(lines.length).toBeGreaterThan(0);
});

test('what is beyond the limit of parts is not read, and said so', () => {
  const many = readMarkdown('a.md', 'A b. '.repeat(markdownLimits.parts + 1));
  expect([many.sentences.length, many.isCut]).toEqual([markdownLimits.parts, true]);
  expect(read.isCut).toBe(false);
});
