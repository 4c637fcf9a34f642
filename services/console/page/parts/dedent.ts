/** Without the indent that all lines have: a method stands as far left as a function. */
export function dedented<Line extends { text: string }>(lines: readonly Line[]): Line[] {
  const indents = lines
    .filter(({ text }) => text.trim() !== '')
    .map(({ text }) => /^[ \t]*/.exec(text)?.[0] ?? '');
  const [first = '', ...others] = indents;
  const common = others.reduce((indent, other) => {
    let at = 0;
    while (at < indent.length && indent[at] === other[at]) at += 1;
    return indent.slice(0, at);
  }, first);
  return lines.map((line) => ({ ...line, text: line.text.slice(common.length) }));
}
