import { hyperlinked, opensHyperlinks } from '../../src/render/hyperlinks.js';
import { printable, printableText } from '../../src/render/terminal.js';
import { BusError, asBusError } from '../../src/errors/bus-error.js';
import { isJournal, journalLine } from '../../src/observe/journal.js';

/** Errors in the options are printed in this form, too. */
export interface OutputForm {
  json?: boolean;
}

/** Results on stdout: one JSON document, or the rendered text, which may hold foreign names and texts. */
export function print(form: OutputForm, value: object, render: () => string): void {
  const text =
    form.json === true ? JSON.stringify(value) : linked(printableText(render().trimEnd()), value);
  process.stdout.write(`${text}\n`);
}

/** Places can be clicked where the terminal can; the files are those of the answer's tree, or of this folder. */
function linked(text: string, value: object): string {
  if (!process.stdout.isTTY || !opensHyperlinks(process.env)) return text;
  const root =
    'root' in value && typeof value.root === 'string' && value.root !== '' ? value.root : '';
  return hyperlinked(text, [...(root === '' ? [] : [root]), process.cwd()]);
}

/** A failure with what the command knows beside it: `facts` for scripts, `hint` for people. */
export class FailureWith extends Error {
  constructor(
    override readonly cause: unknown,
    readonly facts: object,
    readonly hint: string,
  ) {
    super(asBusError(cause).message);
  }
}

/** What failed and what to do next, on stderr or in the one JSON document; never a stack trace. Returns the exit code. */
export function printFailure(form: OutputForm, error: unknown): number {
  const { cause, facts, hint } =
    error instanceof FailureWith ? error : { cause: error, facts: {}, hint: '' };
  const coded = asBusError(cause);
  const failure = { ...coded.toFailure(), next: coded.next };
  const next = hint === '' ? coded.next : `${coded.next}\n  ${hint}`;
  if (form.json === true) process.stdout.write(`${JSON.stringify({ error: failure, ...facts })}\n`);
  else if (isJournal(2))
    process.stderr.write(journalLine('error', { msg: coded.message, code: coded.code, next }));
  else
    process.stderr.write(`sigma: ${printable(coded.message)} (${coded.code})
  ${next}
`);
  return coded.exit;
}

export function usage(detail: string): BusError {
  return new BusError('USAGE', { detail });
}

/** Of an answer that comes row by row; one with an `error` says that not all is well. */
interface Rows {
  rows: AsyncIterable<object>;
  /** A row for people; absent: as JSON, too. */
  row?: (row: object) => string;
  /** With --json the rows are this list of one document; absent: a line of JSON each. */
  list?: string;
}

/** Each as it comes: there may be more than memory holds. */
export async function printRows(form: OutputForm, { rows, row: said, list }: Rows): Promise<void> {
  const isJson = form.json === true;
  if (isJson && list !== undefined) return printList(list, rows);
  for await (const row of rows) {
    noteTrouble(row);
    await writeLine(isJson || said === undefined ? JSON.stringify(row) : said(row));
  }
}

/** One document, an entry a line. What breaks it off stands at its end; before the first entry, it throws that. */
async function printList(name: string, rows: AsyncIterable<object>): Promise<void> {
  const open = `{${JSON.stringify(name)}:[`;
  let before = open;
  try {
    for await (const row of rows) {
      noteTrouble(row);
      await writeLine(before + JSON.stringify(row));
      before = ',';
    }
  } catch (error) {
    if (before === open) throw error;
    const coded = asBusError(error);
    const failure = { ...coded.toFailure(), next: coded.next };
    await writeLine(`],"error":${JSON.stringify(failure)}}`);
    process.exitCode = coded.exit;
    return;
  }
  await writeLine(before === open ? `${open}]}` : ']}');
}

function noteTrouble(row: object): void {
  if ('error' in row) process.exitCode = 1;
}

/** Waits while the reader of the output is behind. */
async function writeLine(text: string): Promise<void> {
  if (process.stdout.write(`${text}\n`)) return;
  await new Promise<void>((resolve) => process.stdout.once('drain', resolve));
}
