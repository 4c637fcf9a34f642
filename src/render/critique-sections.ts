import type { ModeReport, Section } from '../critic/shapes.js';
import { printable, printableText, wrap } from './terminal.js';

const gistChars = 160;
const titleChars = 30;

/** What each mode wrote beside its findings: the gist of its sections, or all of them as they are. */
export function reportLines(reports: readonly ModeReport[], isWhole: boolean): string[] {
  if (reports.length === 0) return [];
  const told = reports.flatMap((report) => [
    wrap(printable(headOf(report)), '    '),
    ...report.sections.flatMap(isWhole ? wholeOf : gistOf),
  ]);
  const hasMore = !isWhole && reports.some(({ sections }) => sections.length > 0);
  return ['', `  Modes${hasMore ? ' (--full prints all of their sections)' : ''}`, ...told];
}

function headOf({ mode, status, reason, findings }: ModeReport): string {
  const found = `${findings.length} found`;
  if (status === 'complete') return `${mode}: ${found}`;
  // Nothing is found by what was not applied.
  if (status === 'skipped') return `${mode}: not applied${reason === '' ? '' : `, ${reason}`}`;
  return `${mode}: ${status}${reason === '' ? '' : ` ${reason}`}, ${found}`;
}

/** One line; none for a section that has nothing to say. */
function gistOf({ title, text }: Section): string[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const [first = ''] = lines;
  if (first === '' || /^(?:None|There is none)\b/.test(first)) return [];
  const rows = Math.max(0, lines.filter((line) => line.startsWith('|')).length - 2);
  const items = lines.filter((line) => line.startsWith('- ')).length;
  const more = first.startsWith('- ') && items > 1 ? ` (and ${items - 1} more)` : '';
  const its = (first.endsWith(':') ? `${first} ${lines[1] ?? ''}` : first).replace(/^- /, '');
  const short = its.length > gistChars ? `${its.slice(0, gistChars)}…` : its;
  const gist = first.startsWith('|') ? `${rows} ${rows === 1 ? 'row' : 'rows'}` : short + more;
  return [`      ${printable(`${title.padEnd(titleChars)} ${gist}`)}`];
}

/** Markdown as the mode wrote it: a table is not wrapped. */
function wholeOf({ title, text }: Section): string[] {
  const lines = printableText(text).split('\n');
  return ['', `      ${printable(title)}`, '', ...lines.map((line) => `        ${line}`.trimEnd())];
}
