/** Documents; everything else that has a known ending is code. */
const documents = new Set([
  'md',
  'markdown',
  'mdx',
  'mdown',
  'txt',
  'text',
  'rst',
  'adoc',
  'asciidoc',
  'org',
  'tex',
  'html',
  'htm',
  '',
]);

/** How a line of a comment begins, by the ending of the file. */
const hash = /^\s*#+(?!!)/;
const slashes = /^\s*\/\/[/!]?/;
const dashes = /^\s*--+/;

const hashEndings = new Set([
  ...[
    'py',
    'pyi',
    'sh',
    'bash',
    'zsh',
    'rb',
    'pl',
    'pm',
    'yaml',
    'yml',
    'toml',
    'cfg',
    'conf',
    'ini',
    'mk',
  ],
  ...[
    'cmake',
    'tf',
    'r',
    'jl',
    'nix',
    'ex',
    'exs',
    'dockerfile',
    'makefile',
    'kconfig',
    'properties',
  ],
]);
const dashEndings = new Set(['sql', 'lua', 'hs', 'elm', 'adb', 'ads']);
const tripleQuoted = new Set(['py', 'pyi']);

/** Names without an ending that are code all the same. */
const namedFiles =
  /^(?:makefile|gnumakefile|dockerfile|kconfig|kbuild|rakefile|gemfile|vagrantfile)/;

/**
 * The text of a document; of code its comments, in the lines in which they stand, everything else blank. Only comments that
 * begin a line: to know the others one has to know the language, and they are remarks on a line, not statements.
 */
export function proseOf(path: string, lines: readonly string[]): { isCode: boolean; text: string } {
  const ending = endingOf(path);
  if (documents.has(ending)) return { isCode: false, text: lines.join('\n') };
  const wanted = hashEndings.has(ending) ? hash : dashEndings.has(ending) ? dashes : slashes;
  const hasBlocks = wanted === slashes || ending === 'sql';
  const quotes = tripleQuoted.has(ending);
  let until: '*/' | '"""' | "'''" | undefined;
  const text = lines.map((line) => {
    if (until !== undefined) {
      const end = line.indexOf(until);
      const inner = end < 0 ? line : line.slice(0, end);
      const isBlock = until === '*/';
      if (end >= 0) until = undefined;
      return isBlock ? inner.replace(/^\s*\*(?!\/) ?/, '') : inner.trim();
    }
    const opening = hasBlocks
      ? /^\s*\/\*+!?/.exec(line)
      : quotes
        ? /^\s*(?:"""|''')/.exec(line)
        : null;
    if (opening !== null) {
      const mark = quotes ? (opening[0].trim() as '"""' | "'''") : '*/';
      const rest = line.slice(opening[0].length);
      const end = rest.indexOf(mark);
      if (end < 0) until = mark;
      return (end < 0 ? rest : rest.slice(0, end)).trim();
    }
    const [comment] = wanted.exec(line) ?? [];
    return comment === undefined ? '' : line.slice(comment.length).replace(/^ /, '');
  });
  return { isCode: true, text: text.join('\n') };
}

function endingOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const [own] = namedFiles.exec(name) ?? [];
  if (own !== undefined)
    return own.replace('gnu', '').replace(/^(?:kbuild|rakefile|gemfile|vagrantfile)$/, 'sh');
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? '' : name.slice(dot + 1);
}
