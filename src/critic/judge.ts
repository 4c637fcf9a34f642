import type { Judge } from './critique-of.js';
import { isAbort } from './critique-of.js';
import { qualityGate, type ModeReport, type Verdict } from './shapes.js';

/** What a review comes to, by the gate: compared unrounded; what nobody scored is for a person. */
export const judge: Judge = ({ is_adversarial, threshold: asked }, selection, reports) => {
  const gate = is_adversarial ? qualityGate.threshold : qualityGate.standardThreshold;
  const threshold = asked ?? gate;
  const score = reports.findLast((each) => each.score !== null)?.score?.score ?? null;
  const aborted = reports.find(({ status, reason }) => status === 'skipped' && isAbort(reason));
  const verdict = verdictOf(score, threshold, aborted, openOf(reports, selection));
  const why = whyOf(verdict, { score, threshold, aborted, text: selection.error });
  return { score, threshold, verdict, why, needs_person: verdict === 'UNSCORED', flags: [] };
};

function verdictOf(
  score: number | null,
  threshold: number,
  aborted: ModeReport | undefined,
  open: number,
): Verdict {
  if (aborted !== undefined) return 'ABORTED';
  if (score === null) return 'UNSCORED';
  if (score >= threshold) return open > 0 ? 'REVISE' : 'PASS';
  return score >= Math.min(threshold, qualityGate.conditional) ? 'REVISE' : 'REJECTED';
}

/** Critical findings that a person need not weigh first. */
function openOf(reports: readonly ModeReport[], { modes }: Parameters<Judge>[1]): number {
  const advisory = new Set(modes.filter((each) => each.is_advisory).map(({ mode }) => mode));
  const findings = reports.flatMap((each) => (advisory.has(each.mode) ? [] : each.findings));
  return findings.filter(({ severity, is_hard }) => severity === 'critical' || is_hard).length;
}

function whyOf(
  verdict: Verdict,
  its: { score: number | null; threshold: number; aborted: ModeReport | undefined; text: string },
): string {
  if (verdict === 'ABORTED') return `it was ended: ${its.aborted?.reason ?? ''}`;
  if (its.score === null) return its.text === '' ? 'nothing was scored' : its.text;
  return `${its.score} against ${its.threshold}`;
}
