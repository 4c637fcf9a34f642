/** A longer comment is not what documents one symbol. */
const commentLinesMax = 60;
/** Between a comment and its definition: decorators, attributes, the type in a line of its own. */
const betweenLinesMax = 4;
/** Lines of attributes and signature. */
const headLinesMax = 60;

const oneLineComment = /^\s*(?:\/\/|#(?![[!])|\/\*.*\*\/\s*$)/;
const between =
  /^\s*(?:@\w|#\[|\[\[|template\b|export\b|static\b|inline\b|const\b|extern\b|[A-Z_]+\b|\w+(?:\s*\*)?\s*$)/;

/**
 * First line of the comment above a definition (1-based); undefined when there is none. `read`: lines of the file, from
 * the first to the last of these.
 */
export function commentAbove(
  read: (from: number, to: number) => string[] | undefined,
  definition: number,
): number | undefined {
  const first = Math.max(1, definition - commentLinesMax);
  const lines = read(first, definition - 1) ?? [];
  let at = lines.length - 1;
  for (let skipped = 0; skipped < betweenLinesMax; skipped += 1, at -= 1) {
    const line = lines[at] ?? '';
    if (line.trimEnd().endsWith('*/') || oneLineComment.test(line) || !between.test(line)) break;
  }
  const last = lines[at] ?? '';
  if (oneLineComment.test(last)) {
    while (at > 0 && oneLineComment.test(lines[at - 1] ?? '')) at -= 1;
    return first + at;
  }
  if (!last.trimEnd().endsWith('*/')) return undefined;
  while (at >= 0 && !(lines[at] ?? '').includes('/*')) at -= 1;
  return at < 0 ? undefined : first + at;
}

/** Behind how many lines of a definition its code begins: after attributes, signature and docstring, at least after its first line. */
export function codeFrom(lines: readonly string[]): number {
  let depth = 0;
  const end = lines.slice(0, headLinesMax).findIndex((line) => {
    const signs = line.replaceAll(/\/\/.*|"(?:\\.|[^"\\])*"/g, '').trimEnd();
    depth += signs.replaceAll(/[^([]/g, '').length - signs.replaceAll(/[^)\]]/g, '').length;
    return depth <= 0 && /(?:[{:=]|=>)$/.test(signs);
  });
  if (end + 1 >= lines.length) return 1;
  const code = docstringEnd(lines, end + 1);
  return code < lines.length ? Math.max(1, code) : 1;
}

/** The line behind a docstring that begins at a line. */
function docstringEnd(lines: readonly string[], from: number): number {
  const [opening, quotes] = /^\s*\w{0,2}("""|''')/.exec(lines[from] ?? '') ?? [];
  if (opening === undefined || quotes === undefined) return from;
  if (lines[from]?.includes(quotes, opening.length) === true) return from + 1;
  const more = lines.slice(from + 1).findIndex((line) => line.includes(quotes));
  return more < 0 ? lines.length : from + more + 2;
}
