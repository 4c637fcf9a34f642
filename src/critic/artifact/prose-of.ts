/** Endings of documents; any other file is code. */
const documents = new Set([
  ...'md markdown mdx mdown txt text rst adoc asciidoc org tex html htm'.split(' '),
  '',
]);

/** How a comment begins, by the ending of the file. */
const hash = /^\s*#+(?!!)/;
const slashes = /^\s*\/\/[/!]?/;
const dashes = /^\s*--+/;

const hashEndings = new Set(
  (
    'py pyi sh bash zsh rb pl pm yaml yml toml cfg conf ini mk cmake tf r jl nix ex exs ' +
    'dockerfile makefile kconfig properties'
  ).split(' '),
);
const dashEndings = new Set(['sql', 'lua', 'hs', 'elm', 'adb', 'ads']);
const tripleQuoted = new Set(['py', 'pyi']);

/** Code files without an ending. */
const namedFiles =
  /^(?:makefile|gnumakefile|dockerfile|kconfig|kbuild|rakefile|gemfile|vagrantfile)/;

/**
 * The text of a document as Markdown; of code the comments, on their own lines, the rest blank. Only comments that begin a
 * line count: finding the others needs a parser of the language.
 */
export function proseOf(path: string, lines: readonly string[]): { isCode: boolean; text: string } {
  const ending = endingOf(path);
  if (ending === 'rst') return { isCode: false, text: markdownOf(lines).join('\n') };
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

/** reStructuredText as Markdown, line by line: headings, literal blocks and directives. */
function markdownOf(lines: readonly string[]): string[] {
  let literal = -1;
  return lines.map((line) => {
    const indent = line.length - line.trimStart().length;
    if (line.trim() === '') return '';
    if (literal >= 0 && indent > literal) return `\t${line.trim()}`;
    const isDirective = /^\s*\.\.\s/.test(line);
    const isNote = /^\s*\.\.\s+(?:note|warning|important|tip|caution)::/.test(line);
    literal = (isDirective && !isNote) || (!isDirective && /::\s*$/.test(line)) ? indent : -1;
    if (isDirective) return '';
    return /^([=\-~^"'*+#`])\1{2,}\s*$/.test(line) ? '---' : line;
  });
}
