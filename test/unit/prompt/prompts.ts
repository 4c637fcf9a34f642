import fc from 'fast-check';
import type { Prompt } from '../../../src/prompt/grammar/shapes.js';

/** Prompts as text that is valid by how it is made, in every spelling that the grammar has. */

const space = fc.constantFrom(' ', '  ', '\t', ' \t ');
const after = fc.constantFrom('', '', ' ', '\t ', '\r');
const lineEnd = fc.constantFrom('\n', '\n', '\r\n', '\r\r\n');
const blanks = fc.array(
  fc.tuple(fc.constantFrom('', ' ', '\t'), lineEnd).map((each) => each.join('')),
  { maxLength: 3 },
);
const letters = 'abyz019';
const word = fc.string({
  unit: fc.constantFrom(...Array.from(letters)),
  minLength: 1,
  maxLength: 8,
});
const seconds = fc.integer({ min: 1, max: 86_400 });
const unit = fc.constantFrom(
  ...Array.from('abz AZ09=/\\\\""..-_{}'),
  '\t',
  '\r',
  'é',
  '語',
  '😀',
  '\u00a0',
  '\u2028',
  '\ud800',
);
const anyText = fc.string({ unit, minLength: 1, maxLength: 24 });

const quoted = fc.array(
  fc.oneof(
    unit.filter((each) => each !== '"' && each !== '\\'),
    fc.constantFrom('\\n', '\\t', '\\"', '\\\\'),
  ),
  { minLength: 1, maxLength: 20 },
);
const quotedPrompt = quoted.map((parts) => `"x${parts.join('')}"`);
const plainPrompt = anyText
  .map((text) => text.trim())
  .filter((text) => text !== '' && !text.startsWith('"') && !/^[a-z][a-z_-]*=/.test(text));
const plainPath = anyText.map((text) => text.replace(/[\s"]/g, '')).filter((text) => text !== '');

const options = (...each: fc.Arbitrary<string>[]): fc.Arbitrary<string[]> =>
  fc
    .tuple(...each.map((option) => fc.option(option, { nil: '' })))
    .map((all) => all.filter(Boolean))
    .chain((all) => fc.shuffledSubarray(all, { minLength: all.length }));

const line = (parts: fc.Arbitrary<string[]>): fc.Arbitrary<string> =>
  fc
    .tuple(parts, fc.array(space, { minLength: 8, maxLength: 8 }), after)
    .map(([all, spaces, end]) =>
      all.map((each, at) => each + (at + 1 < all.length ? (spaces[at] ?? ' ') : end)).join(''),
    );

const read = line(fc.oneof(plainPath, quotedPrompt).map((path) => ['/read', path]));
const pushParts = fc
  .tuple(
    options(
      fc.constant('name=?'),
      word.map((each) => `model=${each}/${each}:7b`),
      seconds.map((each) => `timeout=${each}`),
    ),
    fc.oneof(plainPrompt, quotedPrompt),
  )
  .map(([given, prompt]) => ['/push', ...given, prompt]);
const push = line(pushParts);
const run = line(
  options(
    fc.integer({ min: 1, max: 1000 }).map(String),
    seconds.map((each) => `timeout=${each}`),
    fc.integer({ min: 1, max: 1000 }).map((each) => `concurrency=${each}`),
  ).map((given) => ['/run', ...given]),
);

const contentLine = fc.oneof(
  anyText,
  fc.constantFrom(
    '',
    ' ',
    '/etc/hosts is wrong',
    '/usr/bin',
    '// a comment',
    '//',
    '/',
    '///',
    '/Read',
    '/r2 x',
  ),
  fc.constantFrom('/push in prose', '/check', '/reed x', '//todo x', '///doc', '//read x'),
);
/** A line that is content wherever it stands. */
const safeLine = fc.constantFrom(
  'text',
  '//read x',
  '///push',
  '/etc/hosts',
  '//etc',
  ' /run',
  '"',
  '😀',
  '// c',
);
const content = fc
  .tuple(safeLine, fc.array(contentLine, { maxLength: 5 }), safeLine)
  .chain(([first, middle, last]) =>
    fc.tuple(
      fc.constant([first, ...middle, last]),
      fc.array(lineEnd, { minLength: 7, maxLength: 7 }),
    ),
  )
  .map(([lines, ends]) =>
    lines.map((each, at) => each + (at + 1 < lines.length ? (ends[at] ?? '\n') : '')).join(''),
  );

const block = (each: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .array(fc.tuple(blanks, each, lineEnd), { maxLength: 4 })
    .map((lines) => lines.map(([before, text, end]) => before.join('') + text + end).join(''));

export const promptText: fc.Arbitrary<string> = fc
  .tuple(
    block(fc.oneof(read, push, run)),
    blanks,
    fc.option(fc.tuple(content, lineEnd, blanks), { nil: undefined }),
    block(push),
  )
  .map(([setup, before, middle, teardown]) => {
    const inner = middle === undefined ? '' : middle[0] + middle[1] + middle[2].join('') + teardown;
    let names = 0;
    // Names are unique in a prompt.
    return (setup + before.join('') + inner).replace(/name=\?/g, () => `name=n${(names += 1)}`);
  });

/** Without places. */
export function meaning({ setup, content: text, teardown }: Prompt): object {
  const bare = (each: object): object => ({ ...each, line: 0, column: 0 });
  return { setup: setup.map(bare), content: text, teardown: teardown.map(bare) };
}
