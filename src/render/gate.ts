import type { Approval } from '../attention/approvals.js';
import type { Finding, Gate } from '../attention/shapes.js';
import { printable, table } from './terminal.js';

const rowChars = 60;

/** Gates for people. Their texts are foreign: none reaches a terminal unescaped. */

export function renderGates(gates: readonly Gate[], more: boolean): string {
  if (gates.length === 0) return 'No risky action waits for a judgement.';
  const rows = gates.map(({ id, state, judgement, classification, asked_ms, expires_ms }) => [
    id,
    judgement === '' ? state : `${state}: ${judgement}`,
    signalsOf(classification.findings),
    classification.pattern.environment,
    spanOf(Date.now() - asked_ms),
    state === 'open' ? spanOf(expires_ms - Date.now()) : '-',
    short(classification.description),
  ]);
  const head = ['GATE', 'STATE', 'SIGNALS', 'WHERE', 'AGE', 'LEFT', 'ACTION'];
  return table([head, ...rows]) + (more ? '\n… and more' : '');
}

/** What a person judges: the exact action, what is risky about it, and where it would have its effect. */
export function renderGate(gate: Gate): string {
  const { classification, task, seen_by, session, state } = gate;
  const { findings, pattern, digest, description, intensity } = classification;
  const files = Object.entries(digest.files);
  const stopping = findings.filter(({ severity }) => severity === 'Gate');
  const shown = intensity === 'heavy' ? findings : stopping;
  return [
    `Gate ${printable(gate.id)}: ${printable(state)}${verdictOf(gate)}`,
    '',
    `  Action       ${printable(description)}`,
    `  Environment  ${printable(pattern.environment)}`,
    `  Task         ${printable(task)}, session ${printable(session)}, seen by ${printable(seen_by)}`,
    `  Digest       ${printable(digest.action)}`,
    ...files.map(([path, sha256]) => `  Script       ${printable(path)} ${printable(sha256)}`),
    '',
    ...shown.flatMap(findingLines),
    ...(shown.length < findings.length
      ? [`  and ${findings.length - shown.length} in passing`]
      : []),
  ].join('\n');
}

/** How it may be judged, as commands. */
export function waysToJudge({ id, classification, state }: Gate): string[] {
  if (state !== 'open') return [];
  const name = printable(id);
  const remembered = classification.is_cacheable ? ', and the same for this session' : '';
  return [
    '',
    `  sigma gate approve ${name}    run it once${remembered}`,
    `  sigma gate dismiss ${name}    run it this once`,
    `  sigma gate modify ${name} --direction …    something else, judged anew`,
    `  sigma gate halt ${name}       do not run it; its task ends`,
    `  sigma gate withdraw ${name}   and nothing else of its session`,
  ];
}

export function renderApprovals(approvals: readonly Approval[]): string {
  if (approvals.length === 0) return 'Nothing is approved.';
  const rows = approvals.map(({ session, pattern, by, expires_ms }) => [
    session,
    pattern.tool,
    pattern.target,
    pattern.environment,
    pattern.signals.join(' '),
    by,
    spanOf(expires_ms - Date.now()),
  ]);
  const head = ['SESSION', 'TOOL', 'TARGET', 'WHERE', 'SIGNALS', 'BY', 'LEFT'];
  return table([head, ...rows]);
}

function findingLines({ signal, severity, evidence, rule, file }: Finding): string[] {
  const where = file === '' ? '' : ` in ${file}`;
  return [
    `  ${printable(severity === 'Gate' ? '!' : '·')} ${printable(signal)}${printable(where)}`,
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
