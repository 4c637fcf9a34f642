import { FolderInspector } from '../../../src/attention/inspector.js';
import type { Policy } from '../../../src/attention/policy/policy.js';
import { loadPolicy } from '../../../src/attention/policy/policy-file.js';
import {
  actionOf,
  invalidLine as invalid,
  parseActionLine as parsed,
} from '../../../src/attention/action-line.js';
import { classify } from '../../../src/attention/classify/classify.js';
import type { Classification } from '../../../src/attention/shapes.js';
import { asBusError, BusError } from '../../../src/errors/bus-error.js';
import { bytesOf, linesIn } from '../input.js';
import { printable, table } from '../../../src/render/terminal.js';
import { printRows, usage } from '../output.js';

/** One line, with all that it carries. */
const lineBytesMax = 2 * 1024 * 1024;

export interface ClassifyOptions {
  classify?: boolean;
  root?: string;
  policy?: string;
  explain?: boolean;
  json?: boolean;
}

interface Row {
  line: number;
  id?: string | number;
  classification?: Classification;
  error?: ReturnType<BusError['toFailure']>;
}

/** Actions of a file, one a line: how risky each is. Throws USAGE, ATTENTION_POLICY_INVALID, TOO_LARGE. */
export async function classifyAll(file: string, options: ClassifyOptions): Promise<void> {
  const policy = loadPolicy(options.policy);
  const inspector = options.root === undefined ? undefined : await inspectorOf(options.root);
  const rows = rowsOf(file, { policy, inspector, explain: options.explain === true });
  const isTable = process.stdout.isTTY && options.json !== true;
  if (!isTable) return printRows(options, { rows: shownOf(rows), list: 'actions' });
  const all: Row[] = [];
  for await (const row of rows) all.push(row);
  process.stdout.write(`${rendered(all)}\n`);
}

/** What would stop, or is no action, is told by the exit code. */
async function* rowsOf(file: string, judging: Judging): AsyncGenerator<Row> {
  let number = 0;
  for await (const text of linesIn(bytesOf(file), lineBytesMax)) {
    number += 1;
    if (text?.trim() === '') continue;
    const row = await rowOf(text, number, judging);
    const isStopped = row.classification?.findings.some(({ severity }) => severity === 'Gate');
    if (isStopped === true || row.error !== undefined) process.exitCode = 1;
    yield row;
  }
}

async function* shownOf(rows: AsyncIterable<Row>): AsyncGenerator<object> {
  for await (const { line, id, classification, error } of rows) {
    const name = id === undefined ? { line } : { id, line };
    yield classification === undefined ? { ...name, error } : { ...name, ...classification };
  }
}

async function inspectorOf(root: string): Promise<FolderInspector> {
  try {
    return await FolderInspector.open(root);
  } catch {
    throw usage(`${root} is not a readable folder`);
  }
}

interface Judging {
  policy: Policy;
  inspector: FolderInspector | undefined;
  explain: boolean;
}

/** Never throws: a line that is no action does not stop the others. */
async function rowOf(text: string | undefined, line: number, judging: Judging): Promise<Row> {
  let id: string | number | undefined;
  try {
    if (text === undefined) throw invalid(line, `longer than ${lineBytesMax} bytes`);
    const wanted = parsed(text, line);
    id = wanted.id;
    const { policy, inspector, explain } = judging;
    const classification = await classify(actionOf(wanted, line), {
      policy,
      inspector,
      root: inspector?.root,
      ...(explain && { explain: (step) => process.stderr.write(`${line}: ${printable(step)}\n`) }),
    });
    return { line, ...(id !== undefined && { id }), classification };
  } catch (error) {
    return { line, ...(id !== undefined && { id }), error: asBusError(error).toFailure() };
  }
}

function rendered(rows: readonly Row[]): string {
  const cells = rows.map(({ line, id, classification, error }) => {
    if (classification === undefined)
      return [String(id ?? line), 'error', '', '', error?.text ?? ''];
    const { level, findings, description } = classification;
    const severity = findings.some((each) => each.severity === 'Gate')
      ? 'Gate'
      : (findings[0]?.severity ?? '');
    const signals = classification.pattern.signals.join(', ');
    return [String(id ?? line), level, severity, signals, findings[0]?.evidence ?? description];
  });
  return table(
    [['action', 'level', 'severity', 'signals', 'evidence'], ...cells].map((row) =>
      row.map(printable),
    ),
  );
}
