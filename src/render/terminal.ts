/** Marks that make a terminal show a text in another order: a person would judge another command. */
const reordering = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Foreign text as one line: a terminal must not obey it. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?').replace(reordering, '?');
}

/** A line as it is written here, with foreign text in it. */
export function line(words: TemplateStringsArray, ...foreign: (string | number)[]): string {
  return String.raw({ raw: words }, ...foreign.map((each) => printable(String(each))));
}

export const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

/** As `printable`, of a text of several lines. In a pipe it stays as it is. */
export function printableText(text: string): string {
  return process.stdout.isTTY ? printableLines(text) : text;
}

/** The same for a reader that is no terminal, and obeys as one. */
export function printableLines(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '?').replace(reordering, '?');
}

/** A word of a command that people copy: their shell must not run foreign text. */
export function shellWord(text: string): string {
  const plain = printable(text);
  return /["$`\\!]/.test(plain) ? `'${plain.replaceAll("'", "'\\''")}'` : `"${plain}"`;
}

/** Lines that fit the terminal; in a pipe nothing is wrapped. */
export function wrap(text: string, indent = ''): string {
  const width = process.stdout.isTTY
    ? Math.max(40, Math.min(process.stdout.columns, 110)) - indent.length
    : Infinity;
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    for (const word of paragraph.split(' ')) {
      if (line !== '' && line.length + 1 + word.length > width) {
        lines.push(line);
        line = word;
      } else {
        line = line === '' ? word : `${line} ${word}`;
      }
    }
    lines.push(line);
  }
  return lines.map((line) => indent + line).join('\n');
}

/** Columns as wide as their widest cell; a cell is one line. */
export function table(cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map(printable));
  const widths =
    rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
