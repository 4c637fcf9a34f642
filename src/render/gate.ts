import type { Approval } from '../attention/approvals.js';
import { reportRule } from '../attention/gate-block.js';
import { choicesOf, weightText } from '../attention/gates.js';
import type { Finding, Gate, Judgement } from '../attention/shapes.js';
import { printable, table } from './terminal.js';

const rowChars = 60;

/** Gates for people. Their texts are foreign: none reaches a terminal unescaped. */

export function renderGates(gates: readonly Gate[], more: boolean): string {
  if (gates.length === 0) return 'No risky action waits for a judgement.';
  const rows = gates.map(({ id, state, judgement, classification, asked_ms, expires_ms }) => [
    id,
    judgement === '' ? state : `${state}: ${judgement}`,
    signalsOf(classification.findings),
    classification.intensity,
    classification.pattern.environment,
    spanOf(Date.now() - asked_ms),
    state === 'open' ? spanOf(expires_ms - Date.now()) : '-',
    short(classification.description),
  ]);
  const head = ['GATE', 'STATE', 'SIGNALS', 'WEIGHT', 'WHERE', 'AGE', 'LEFT', 'ACTION'];
  return table([head, ...rows]) + (more ? '\n… and more' : '');
}

/**
 * What a person judges: the exact action, what is risky about it, and where it would have its effect. One clear risk is said in
 * short; of what weighs heavily all is shown.
 */
export function renderGate(gate: Gate): string {
  const { classification, task, seen_by, session, state } = gate;
  const { findings, pattern, digest, description } = classification;
  const weight = weightText(classification);
  const isHeavy = weight !== '';
  const files = Object.entries(digest.files);
  const stopping = findings.filter(({ severity }) => severity === 'Gate');
  const shown = isHeavy ? findings : stopping;
  const left = findings.length - shown.length;
  return [
    `Gate ${printable(gate.id)}: ${printable(state)}${verdictOf(gate)}`,
    ...(isHeavy ? [`This weighs heavily: ${weight}.`] : []),
    '',
    `  Action       ${printable(description)}`,
    `  Environment  ${printable(pattern.environment)}`,
    `  Task         ${printable(task)}, session ${printable(session)}, seen by ${printable(seen_by)}`,
    ...(isHeavy ? [`  Digest       ${printable(digest.action)}`] : []),
    ...files.map(([path, sha256]) => `  Script       ${printable(path)} ${printable(sha256)}`),
    '',
    ...shown.flatMap((each) => findingLines(each, isHeavy)),
    ...(left > 0 ? [`  and ${left} ${left === 1 ? 'note' : 'notes'} that would not stop it`] : []),
  ].join('\n');
}

/** How it may be judged, as commands. */
export function waysToJudge({ id, classification, state }: Gate): string[] {
  if (state !== 'open') return [];
  const { first, besides } = choicesOf(classification);
  const remembered = classification.is_cacheable ? ', and the same for this session' : '';
  const ways: Readonly<Record<Judgement, [command: string, means: string]>> = {
    approve: ['approve ID', `run it once${remembered}`],
    dismiss: ['dismiss ID', 'run it this once'],
    modify: ['modify ID --direction …', 'something else, judged anew'],
    halt: ['halt ID', 'do not run it; its task ends'],
    withdraw: ['withdraw ID', 'and nothing else of its session'],
  };
  const name = printable(id);
  const written = first.map((each) => ways[each][0].replace('ID', name));
  const width = Math.max(...written.map(({ length }) => length));
  return [
    '',
    ...first.map((each, at) => `  sigma gate ${written[at]?.padEnd(width)}  ${ways[each][1]}`),
    ...(besides.length === 0 ? [] : [`  or, in the same way: ${besides.join(', ')}`]),
  ];
}

export function renderApprovals(approvals: readonly Approval[]): string {
  if (approvals.length === 0) return 'Nothing is approved.';
  const rows = approvals.map(({ session, pattern, action, by, expires_ms }) => [
    session,
    short(action),
    pattern.environment,
    pattern.signals.join(' '),
    by,
    spanOf(expires_ms - Date.now()),
  ]);
  const head = ['SESSION', 'ACTION', 'WHERE', 'SIGNALS', 'BY', 'LEFT'];
  return table([head, ...rows]);
}

/** `isWhole`: with what was seen and by which rule. */
function findingLines(
  { signal, severity, evidence, action_description, rule, file }: Finding,
  isWhole: boolean,
): string[] {
  const where = file === '' ? '' : ` in ${file}`;
  const head = `  ${severity === 'Gate' ? '!' : '·'} ${printable(signal)}${printable(where)}`;
  // What an agent says of its stop is not what it was about to do.
  const isSaid =
    rule === reportRule && action_description !== '' && action_description !== evidence;
  if (!isWhole)
    return [
      `${head}: ${printable(action_description || evidence)}`,
      ...(isSaid ? [`      because: ${printable(evidence)}`] : []),
    ];
  return [
    `${head}: ${printable(action_description)}`,
    `      ${printable(evidence)}${rule === '' ? '' : `  (${printable(rule)})`}`,
  ];
}

function verdictOf({ judgement, judged_by, direction }: Gate): string {
  if (judgement === '') return '';
  const how = direction === '' ? '' : `: ${direction}`;
  return printable(` · ${judgement} by ${judged_by}${how}`);
}

function signalsOf(findings: readonly Finding[]): string {
  return [...new Set(findings.map(({ signal }) => signal))].join(' ');
}

function short(text: string): string {
  return text.length <= rowChars ? text : `${text.slice(0, rowChars - 1)}…`;
}

function spanOf(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1_000));
  if (s < 120) return `${s} s`;
  return s < 7_200 ? `${Math.round(s / 60)} min` : `${Math.round(s / 3_600)} h`;
}
