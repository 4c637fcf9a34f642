/** A longer comment is not what documents one symbol. */
const commentLinesMax = 60;
/** Between a comment and its definition: decorators, attributes, the type in a line of its own. */
const betweenLinesMax = 4;

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
