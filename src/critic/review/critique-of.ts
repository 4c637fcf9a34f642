import { isErrorCode } from '../../errors/catalogue.js';
import { BusError } from '../../errors/bus-error.js';
import type { ReviewRecord } from './review-store.js';
import {
  abortReasons,
  type AbortReason,
  type Critique,
  type CritiqueRequest,
  type Flag,
  type ModeReport,
  type Selection,
} from '../shapes.js';
import { isAsking } from '../cycle/cycle.js';
import { toAskModel } from '../mode.js';
import { unique } from '../score/leniency.js';
import type { ModeName } from '../strategies.js';

/** What is said of all reports together. */
export type Judged = Pick<
  Critique,
  'score' | 'threshold' | 'verdict' | 'why' | 'needs_person' | 'flags'
>;

/** Says it; pure. The flags are its own, beside those of the selection and of the pipeline. */
export type Judge = (
  request: CritiqueRequest,
  selection: Selection,
  reports: readonly ModeReport[],
) => Judged;

/** The whole review, when its pipeline is over. */
export function critiqueOf(
  {
    record,
    request,
    reports,
  }: {
    record: ReviewRecord;
    request: CritiqueRequest;
    reports: readonly ModeReport[];
  },
  judge: Judge,
  noted: readonly Flag[],
  nowMs: number,
): Critique {
  const { selection } = record;
  const { iteration } = record;
  const judged = judge({ ...request, iteration }, selection, reports.map(weighedBy(record)));
  const flags = unique([
    ...selection.flags,
    ...noted,
    ...flagsOf(reports, selection),
    ...judged.flags,
  ]);
  const asksPerson =
    selection.outcome !== 'review' || flags.some(({ level }) => level === 'mandatory');
  return {
    id: record.id,
    artifact: record.artifact,
    digest: record.digest,
    iteration,
    selection,
    reports: [...reports],
    score: judged.score,
    threshold: judged.threshold,
    verdict: judged.verdict,
    why: judged.why,
    needs_person: judged.needs_person || asksPerson,
    flags,
    engine: reports.some(({ engine }) => engine === 'model') ? 'model' : 'rules',
    tokens: reports.reduce((sum, { tokens }) => sum + tokens, 0),
    begun_ms: record.begun_ms,
    elapsed_ms: Math.max(0, nowMs - record.begun_ms),
    ...{ state: '', standing: '' },
  };
}

/** What the critiques before this one show of it. */
export function withFlags(critique: Critique, flags: readonly Flag[]): Critique {
  const needs_person = critique.needs_person || flags.some(({ level }) => level === 'mandatory');
  return { ...critique, flags: unique([...critique.flags, ...flags]), needs_person };
}

/** With where the artifact stands after it. */
export function withStanding(
  critique: Critique,
  { state, text }: { state: string; text: string } = { state: '', text: '' },
): Critique {
  // What was asked for no score asks for no decision by itself, also where a person is asked already.
  const needs_person = critique.needs_person || (isAsking(state) && critique.score !== null);
  return { ...critique, state, standing: text, needs_person };
}

/** Modes whose findings a person weighs. */
export function advisoryIn({ modes }: Selection): ReadonlySet<ModeName> {
  return new Set(modes.filter((each) => each.is_advisory).map(({ mode }) => mode));
}

/** Of an advisory mode: a person weighs it, and it ends nothing by itself. What no artifact may hold needs no weighing. */
export function isWeighed(abort: ModeReport['abort']): boolean {
  return abort !== 'HARD_RULE_BROKEN';
}

/** What did not end the review does not end it afterwards: an advisory mode, or governance where nothing is governed. */
function weighedBy({ selection }: ReviewRecord): (report: ModeReport) => ModeReport {
  const { criticality } = selection;
  const advisory = advisoryIn(selection);
  const isGoverned = criticality === 'C3' || criticality === 'C4';
  return (report) =>
    (advisory.has(report.mode) && isWeighed(report.abort)) ||
    (report.abort === 'GOVERNANCE_VIOLATION' && !isGoverned)
      ? { ...report, abort: '' }
      : report;
}

/** What became of the modes that did not end as they should: the gap is said, not only left. */
export function flagsOf(reports: readonly ModeReport[], selection: Selection): Flag[] {
  const flags = reports.flatMap((report): Flag[] => {
    const { mode, status, reason } = report;
    if (status === 'failed')
      return [
        { code: reason, level: 'warning', text: `${mode} failed: ${report.unable[0] ?? reason}` },
      ];
    if (status === 'partial')
      return [{ code: reason, level: 'warning', text: `${mode} is incomplete: ${whyOf(report)}` }];
    return [];
  });
  const advisory = advisoryIn(selection);
  for (const { mode, abort } of reports)
    if (abort !== '' && isWeighed(abort) && advisory.has(mode))
      flags.push({
        code: abort,
        level: 'mandatory',
        text: `${mode} is advisory here: a person weighs what it found`,
      });
  const skipped = reports.filter(({ status }) => status === 'skipped');
  const [first] = skipped;
  if (first !== undefined)
    flags.push({
      code: first.reason,
      level: isAbort(first.reason) ? 'mandatory' : 'warning',
      text: `not applied: ${skipped.map(({ mode }) => mode).join(', ')} (${textOf(first.reason, first.mode, selection.criticality)})`,
    });
  return flags;
}

export function isAbort(reason: string): reason is AbortReason {
  return (abortReasons as readonly string[]).includes(reason);
}

/** What a model did wrong is known from its report alone. */
function whyOf({ reason, mode, unable }: ModeReport): string {
  const said = unable.find((each) => each.startsWith(toAskModel));
  return said?.slice(toAskModel.length) ?? textOf(reason, mode);
}

function textOf(reason: string, mode: string, criticality = ''): string {
  if (reason === 'MODE_TIMED_OUT') return 'its time was over';
  if (reason === 'MODEL_BUDGET_SPENT') return 'the tokens of this review are spent';
  if (!isErrorCode(reason)) return reason;
  return new BusError(reason, { mode, criticality, times: 'several' }).message;
}
