import { BusError, asBusError, type Failure } from '../../src/errors/bus-error.js';

/** Set by the first option that is read, because an error in the options must be told in the right form too. */
export interface OutputForm {
  json: boolean;
}

/** Results on stdout: one JSON document, or the text that the command renders. */
export function print(form: OutputForm, value: object, render: () => string): void {
  const text = form.json ? JSON.stringify(value) : render().trimEnd();
  process.stdout.write(`${text}\n`);
}

/** What failed and what to do next, on stderr or in the one JSON document; never a stack trace. Returns the exit code. */
export function printFailure(form: OutputForm, error: unknown): number {
  const coded = asBusError(error);
  const failure = { ...coded.toFailure(), next: coded.next };
  if (form.json) process.stdout.write(`${JSON.stringify({ error: failure })}\n`);
  else process.stderr.write(`sigma: ${coded.message} (${coded.code})\n  ${coded.next}\n`);
  return coded.exit;
}

/** An answer that came, but failed at what it was asked for: the first of its errors is also its `error`. */
export function withError<T extends { errors: Failure[] }>(
  answer: T,
  failed: boolean,
): T & { error?: Failure } {
  const [first] = answer.errors;
  if (!failed || first === undefined) return answer;
  return { ...answer, error: { code: first.code, text: first.text, retryable: first.retryable } };
}

export function usage(detail: string): BusError {
  return new BusError('USAGE', { detail });
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

/** Columns as wide as their widest cell. */
export function table(rows: string[][]): string {
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
