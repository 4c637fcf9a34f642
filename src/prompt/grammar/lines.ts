/** What a line is, by how it begins. Every function walks its text once: no pattern may go back over a long one. */

/** `/word`, then a space or nothing: `/etc/hosts` and `/usr/bin` are none. */
const commandWord = /^\/([A-Za-z][A-Za-z-]*)(?=[ \t\r]|$)/;
/** Two slashes or more, and something at once: `// a comment` is none. */
const escaped = /^\/{2,}[^ \t\r/]/;

/** Lines end in `\n`; `\r` characters before it belong to the line end. */
export function linesOf(text: string): string[] {
  return text.split('\n').map((line) => {
    let end = line.length;
    while (end > 0 && line[end - 1] === '\r') end -= 1;
    return line.slice(0, end);
  });
}

export function isSpace(char: string | undefined): boolean {
  return char === ' ' || char === '\t' || char === '\r';
}

export function isBlank(line: string): boolean {
  return trimmed(line) === '';
}

/** Without spaces, tabs and `\r` at both ends; other white space of Unicode is text. */
export function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text[start])) start += 1;
  while (end > start && isSpace(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

/** The word of a line that reads like a command; undefined: it is none. */
export function wordOf(line: string): string | undefined {
  return commandWord.exec(line)?.[1];
}

/**
 * Takes one slash from each line of the unbroken runs of escaped lines at both ends. Lines amid the content stay as they
 * are: no command stands there, and code is full of `//`.
 */
export function unescapeEdges(lines: readonly string[]): string[] {
  return changed(lines, edgeRuns(lines, isEscaped), (line) => line.slice(1));
}

/** The inverse, and never longer than what it came from: escapes only what would be read otherwise. */
export function escapeEdges(lines: readonly string[]): string[] {
  const isDue = (line: string, isEdge: boolean): boolean =>
    isEscaped(line) || (isEdge && wordOf(line) !== undefined);
  return changed(lines, edgeRuns(lines, isDue), (line) => `/${line}`);
}

function isEscaped(line: string): boolean {
  return escaped.test(line);
}

/** Where lines stand that belong to a run at one of both ends; blank lines do not break one. */
function edgeRuns(
  lines: readonly string[],
  belongs: (line: string, isEdge: boolean) => boolean,
): Set<number> {
  const forwards = [...lines.keys()];
  const found = new Set<number>();
  for (const order of [forwards, forwards.toReversed()]) {
    let isEdge = true;
    for (const at of order) {
      const line = lines[at] ?? '';
      if (isBlank(line)) continue;
      if (!belongs(line, isEdge)) break;
      found.add(at);
      isEdge = false;
    }
  }
  return found;
}

function changed(
  lines: readonly string[],
  places: ReadonlySet<number>,
  change: (line: string) => string,
): string[] {
  return lines.map((line, at) => (places.has(at) ? change(line) : line));
}
