import { shortFigure } from '../critic/score/decimals.js';
import type { CriticRow, CritiqueProgress } from '../critic/review/messages.js';
import {
  severities,
  type Critique,
  type DimensionScore,
  type Evidence,
  type Finding,
  type Flag,
  type ModeReport,
  type Selection,
} from '../critic/shapes.js';
import { printable, shellWord, table, wrap } from './terminal.js';
import { reportLines } from './critique-sections.js';
import { distinctFindings } from '../critic/cycle/tracking.js';

/** Critiques for people. What is quoted in them others have written: nothing of it reaches a terminal as it came. */

const findingsMax = 40;
const evidenceMax = 3;
const quoteChars = 110;
const levels = ['mandatory', 'recommended', 'warning', 'note'] as const;
/** Nothing is cut from a sentence before this. */
const textChars = 700;

/** The verdict first, then the score, what was found, worst first, what each mode wrote, and what was not done. */
export function renderCritique(critique: Critique, isWhole = false): string {
  const { verdict, why, artifact, iteration, reports, flags } = critique;
  const findings = distinctFindings(critique).sort(bySeverity);
  const isRead = reports.some(({ status }) => status !== 'skipped');
  return [
    `${verdict}  ${printable(artifact)}, iteration ${iteration}`,
    ...(why === '' ? [] : [line(why)]),
    ...standingLines(critique),
    ...scoreLines(critique),
    ...(isRead ? findingLines(findings) : ['', line('Nothing was looked at.')]),
    ...reportLines(reports, isWhole),
    ...undoneLines(reports),
    ...flagLines(flags),
    '',
    line(`${critique.id}  by ${engineWords(critique)}, ${seconds(critique.elapsed_ms)}`),
  ].join('\n');
}

/** Each step of the selection, and nothing run. */
export function renderSelection(selection: Selection, artifact: string, threshold: number): string {
  const { outcome, criticality, floor, modes, tokens, steps, flags, error } = selection;
  const names = modes.map(({ mode, is_advisory, is_single_pass }) => {
    const marks = [...(is_advisory ? ['advice'] : []), ...(is_single_pass ? ['single pass'] : [])];
    return marks.length === 0 ? mode : `${mode} (${marks.join(', ')})`;
  });
  return [
    `${outcome.toUpperCase()}  ${printable(artifact)}: ${criticality}, never below ${floor}, gate ${threshold}`,
    ...(error === '' ? [] : [line(error)]),
    line(names.length === 0 ? 'no modes' : `${names.join(' -> ')}, about ${tokens} tokens`),
    '',
    ...steps.flatMap(({ step, text, modes: left }, at) => [
      wrap(printable(`${step.padEnd(12)} ${text}`), '  '),
      ...(left.join() === (steps[at - 1]?.modes ?? []).join()
        ? []
        : [wrap(`= ${left.join(', ') || 'none'}`, ' '.repeat(15))]),
    ]),
    ...flagLines(flags),
  ].join('\n');
}

export function renderProgress({ done, total, next }: CritiqueProgress): string {
  return next === '' ? `${done} of ${total} modes` : `${done} of ${total} modes, now ${next}`;
}

export function renderRows(rows: readonly CriticRow[], more: boolean): string {
  if (rows.length === 0) return 'Nothing has been reviewed.';
  const cells = rows.map((row) => [
    row.artifact,
    String(row.iteration),
    row.score === null ? '-' : shortFigure(row.score),
    row.needs_person ? `${row.state}, a person decides` : row.state,
  ]);
  const head = ['ARTIFACT', 'ITERATION', 'SCORE', 'STATE'];
  return table([head, ...cells]) + (more ? '\n… and more' : '');
}

const nextWords: Readonly<Record<string, string>> = {
  accepted: 'It is accepted.',
  revising: 'Revise it, and have it reviewed again.',
  ratifying: 'A person decides about it:',
  escalated: 'A person decides about it:',
};

/** Where the artifact stands, why, and what to do next. */
function standingLines({ state, standing, needs_person, artifact }: Critique): string[] {
  const next = nextWords[state];
  const isDecided = state === 'ratifying' || state === 'escalated';
  return [
    ...(next === undefined && standing === '' ? [] : [line(standingWords(state, standing))]),
    ...(isDecided
      ? [`  sigma critic ratify ${shellWord(printable(artifact))} --judgement accept|refuse|revise`]
      : needs_person
        ? [line('A person has to look at it before anything goes on.')]
        : []),
  ];
}

function standingWords(state: string, standing: string): string {
  const next = nextWords[state] ?? '';
  if (standing === '') return next;
  if (next.endsWith(':')) return `${next} ${standing}.`;
  return `${next} ${standing.slice(0, 1).toUpperCase()}${standing.slice(1)}.`.trim();
}

function scoreLines({ score, threshold, reports }: Critique): string[] {
  const its = reports.findLast((report) => report.score !== null)?.score;
  if (its === undefined || its === null) return ['', line(`Score  none (gate ${threshold})`)];
  const head = score === null ? 'none' : shortFigure(score);
  const part =
    its.coverage < 1
      ? `; criteria with ${Math.floor(its.coverage * 100)} % of the weight were judged`
      : '';
  return [
    '',
    line(`Score  ${head} (gate ${threshold})${part}`),
    ...its.dimensions.flatMap(dimensionLines),
  ];
}

function dimensionLines({ name, weight, score, why }: DimensionScore): string[] {
  const value = score === null ? 'not judged' : shortFigure(score);
  const text = `${name.padEnd(22)} ${value.padEnd(10)} ×${weight.toFixed(2)}  ${why}`;
  return [wrap(printable(cut(text, textChars)), '    ')];
}

type Told = ReturnType<typeof distinctFindings>[number];

function findingLines(findings: readonly Told[]): string[] {
  if (findings.length === 0)
    return ['', line('Nothing was found in what was looked at; see what was not done.')];
  const left = findings.length - findingsMax;
  return [
    '',
    ...findings
      .slice(0, findingsMax)
      .flatMap((finding) => [
        wrap(printable(cut(headOf(finding), textChars)), '  '),
        ...finding.evidence.slice(0, evidenceMax).flatMap(evidenceLines),
        ...(finding.remedy === ''
          ? []
          : [wrap(printable(`→ ${cut(finding.remedy, textChars)}`), '      ')]),
      ]),
    ...(left > 0 ? [line(`… and ${left} more: --json tells all`)] : []),
  ];
}

function headOf({
  severity,
  is_hard,
  line_start,
  line_end,
  text,
  id,
  modes,
  rule,
  by,
}: Told): string {
  const lines = line_end > line_start ? `${line_start}-${line_end}` : String(line_start);
  const where = line_start === 0 ? '' : `line ${lines}: `;
  const hard = is_hard ? ', hard rule' : '';
  const who = by === 'model' ? ', by a model' : '';
  return `${severity.toUpperCase()}  ${where}${text}  [${modes.join(', ')} ${rule}${hard}${who}, ${id}]`;
}

function evidenceLines({ file_path, line_start, content }: Evidence): string[] {
  const [first = ''] = content.split('\n').filter((each) => each.trim() !== '');
  return [
    `      ${printable(`${file_path}:${line_start}`)}  ${printable(cut(first.trim(), quoteChars))}`,
  ];
}

function undoneLines(reports: readonly ModeReport[]): string[] {
  const undone = reports.flatMap(({ mode, unable, dropped }) => [
    ...unable.map((text) => `${mode}: ${text}`),
    ...(dropped > 0 ? [`${mode}: ${dropped} left out, because what they quote is not there`] : []),
  ]);
  if (undone.length === 0) return [];
  return [
    '',
    line('Not done'),
    ...undone.map((text) => wrap(printable(cut(text, textChars)), '    ')),
  ];
}

function flagLines(flags: readonly Flag[]): string[] {
  if (flags.length === 0) return [];
  const inOrder = [...flags].sort((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level));
  return [
    '',
    ...inOrder.map(({ level, code, text }) => wrap(printable(`${level} ${code}: ${text}`), '  ')),
  ];
}

function engineWords({ engine, tokens }: Critique): string {
  return engine === 'rules' ? 'rules alone' : `rules and a model (${tokens} tokens)`;
}

function bySeverity(one: Finding, other: Finding): number {
  const hard = Number(other.is_hard) - Number(one.is_hard);
  return (
    severities.indexOf(one.severity) - severities.indexOf(other.severity) ||
    hard ||
    one.line_start - other.line_start
  );
}

function seconds(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

function cut(text: string, chars: number): string {
  return text.length > chars ? `${text.slice(0, chars)}…` : text;
}

function line(text: string): string {
  return wrap(printable(text), '  ');
}
