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
import { usage, writeLine } from '../output.js';

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
  const isDocument = options.json === true;
  const isTable = process.stdout.isTTY && !isDocument;
  const rows: Row[] = [];
  let number = 0;
  // One document, written as it comes: a file may hold more actions than memory does.
  const head = '{"actions":[';
  let before = head;
  try {
    for await (const text of linesIn(bytesOf(file), lineBytesMax)) {
      number += 1;
      if (text?.trim() === '') continue;
      const judging = { policy, inspector, explain: options.explain === true };
      const row = await rowOf(text, number, judging);
      const isStopped = row.classification?.findings.some(({ severity }) => severity === 'Gate');
      if (isStopped === true || row.error !== undefined) process.exitCode = 1;
      if (isTable) rows.push(row);
      else await writeLine(`${isDocument ? before : ''}${JSON.stringify(shown(row))}`);
      before = ',';
    }
  } catch (error) {
    if (!isDocument || before === head) throw error;
    const coded = asBusError(error);
    await writeLine(`],"error":${JSON.stringify(coded.toFailure())}}`);
    process.exitCode = coded.exit;
    return;
  }
  if (isDocument) await writeLine(`${before === head ? head : ''}]}`);
  if (isTable) process.stdout.write(`${rendered(rows)}\n`);
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

function shown({ line, id, classification, error }: Row): object {
  const name = id === undefined ? { line } : { id, line };
  if (classification === undefined) return { ...name, error };
  return { ...name, ...classification };
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
