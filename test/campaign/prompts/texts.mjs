/** Prompts as text: right by how they are made, and wrong ones made of them. `chance`: see `../random.mjs`. */

const ends = ['\n', '\n', '\n', '\r\n'];
const gaps = [' ', ' ', '  ', '\t'];
const prompts = [
  'do it',
  'x = 1 is wrong, "see" it',
  '"Write tests"',
  '"/read a.md\\nDo \\"it\\"\\tnow \\\\ then"',
  '"name=x is an option"',
  '/read b',
  '語 and 😀',
];
const paths = ['a.md', 'src/auth/token.c', '"my files/a b.md"', '../up', '/etc/hosts', 'é"x'];
const inner = [
  ...[
    '',
    '  ',
    'prose',
    '/push in prose',
    '/check',
    '/reed x',
    '// a comment',
    '//todo',
    '/etc/hosts',
  ],
  ...['///doc', ' /run', 'with "quotes" and \\n', '語😀', '\ttab'],
];
const outer = [
  'Implement it.',
  '//read x',
  '/etc/hosts is wrong',
  '// c',
  '///push x',
  '/R',
  ' /run',
];
/** What mutations put in. */
const pieces = [
  ...[
    '/',
    '//',
    '/read ',
    '/push ',
    '/run ',
    '/reed ',
    '/check',
    '/receive\n',
    'name=',
    'timeout=',
    'model=',
  ],
  ...[
    'concurrency=2 ',
    'nmae=x ',
    '0',
    '-1',
    '99999999999',
    '"',
    '\\',
    '\\n',
    '\\q',
    '\n',
    '\r',
    '\r\n',
    '\t',
  ],
  ...[' ', '\0', '\u00a0', '\u2028', '\ud83d', '😀', '='],
];

export function promptText(chance) {
  let names = 0;
  const options = () =>
    chance
      .shuffled([
        chance.next() < 0.5 ? `name=n${(names += 1)}` : '',
        chance.next() < 0.3 ? `model=${chance.pick(['m', 'a/b:7b', 'gpt-4.1'])}` : '',
        chance.next() < 0.3 ? `timeout=${chance.between(1, 86_400)}` : '',
      ])
      .filter(Boolean);
  const push = () => words(chance, ['/push', ...options(), chance.pick(prompts)]);
  const read = () => words(chance, ['/read', chance.pick(paths)]);
  const run = () => {
    const given = [
      chance.next() < 0.5 ? String(chance.between(1, 1000)) : '',
      chance.next() < 0.3 ? `timeout=${chance.between(1, 86_400)}` : '',
      chance.next() < 0.3 ? `concurrency=${chance.between(1, 1000)}` : '',
    ];
    return words(chance, ['/run', ...chance.shuffled(given).filter(Boolean)]);
  };
  const setup = listOf(chance, 4, () => chance.pick([read, push, run])());
  const content =
    chance.next() < 0.1
      ? []
      : [chance.pick(outer), ...listOf(chance, 5, () => chance.pick(inner)), chance.pick(outer)];
  const teardown = content.length === 0 ? [] : listOf(chance, 3, push);
  return [...setup, ...content, ...teardown]
    .map((line) => (chance.next() < 0.2 ? chance.pick(ends) : '') + line + chance.pick(ends))
    .join('');
}

function words(chance, parts) {
  return parts.reduce((line, part) => line + chance.pick(gaps) + part);
}

function listOf(chance, max, make) {
  return Array.from({ length: chance.between(0, max) }, make);
}

/** One to four changes to one of the texts. */
export function mutated(chance, texts) {
  let text = chance.pick(texts);
  for (let left = chance.between(1, 4); left > 0; left -= 1)
    text = chance.pick(mutations)(text, chance, texts);
  return text;
}

const cut = (text, from, to, put = '') => text.slice(0, from) + put + text.slice(to);
const placeIn = (text, chance) => chance.between(0, text.length);

const mutations = [
  (text, chance) => {
    const at = placeIn(text, chance);
    return cut(text, at, at, chance.pick(pieces));
  },
  (text, chance) => {
    const at = placeIn(text, chance);
    return cut(text, at, at + chance.between(1, 6));
  },
  (text, chance) => {
    const at = placeIn(text, chance);
    return cut(text, at, at + 1, String.fromCharCode(chance.between(0, 0xffff)));
  },
  (text, chance) => chance.shuffled(text.split('\n')).join('\n'),
  (text, chance) => {
    const lines = text.split('\n');
    lines.splice(chance.between(0, lines.length), 0, chance.pick(lines));
    return lines.join('\n');
  },
  (text, chance) => text.slice(0, placeIn(text, chance)),
  (text, chance, texts) => text + chance.pick(texts),
  (text, chance) => {
    const line = `${chance.pick(['/reed x', '/check', '/run', '/read a', '/receive from=b'])}\n`;
    return chance.next() < 0.5 ? line + text : text + line;
  },
];
