import type { End } from './session.machine.js';
import type { Counts, Granularity, Row, SituatedBy } from './shapes.js';

/** What the trace has to know of a task's end. */
export type Judged = Pick<Row, 'risk' | 'findings' | 'is_approved' | 'judgements' | 'open_gate'>;

/**
 * By what a task is not executed blindly. Source: CONVERGENCE, `situated(t) = (p(t) = Low) ∨ (∀ f ∈ Fi(t): approved ∨
 * adapted)`; leave for one time (dismiss) counts as approved, an action that was changed, halted or given up as adapted.
 */
export function situatedBy({
  risk,
  findings,
  is_approved,
  judgements,
  open_gate,
}: Judged): SituatedBy {
  if (open_gate !== '') return '';
  const said = judgements.map(({ judgement }) => judgement);
  if (said.some((each) => each === 'modify' || each === 'halt' || each === 'expired'))
    return 'adapted';
  if (said.includes('withdraw')) return '';
  if (said.length > 0 || is_approved) return 'approved';
  if (risk === 'Low') return 'low';
  const isGate = findings.some(({ severity }) => severity === 'Gate');
  return risk === 'Elevated' && !isGate && findings.length > 0 ? 'noted' : '';
}

/** `completed(t) ⟹ situated(t)`; what was never completed was not executed blindly either. */
export function isSituated(rows: readonly Row[]): boolean {
  return rows.every((row) => row.outcome !== 'completed' || row.situated_by !== '');
}

/** Tasks that are over, and neither completed nor given up by a judgement. */
export function undoneOf<R extends Pick<Row, 'is_over' | 'outcome'>>(rows: readonly R[]): R[] {
  return rows.filter(
    ({ is_over, outcome }) => is_over && !['completed', 'halted', 'removed'].includes(outcome),
  );
}

/** What a session has come to. Source: the loop ends where no task is left that is neither completed nor halted. */
export function endOf(rows: readonly Row[]): End {
  if (!rows.every(({ is_over }) => is_over)) return 'none';
  if (!isSituated(rows)) return 'unsituated';
  return undoneOf(rows).length > 0 ? 'undone' : 'situated';
}

/** After an escape: what nothing else situated is so by the escape alone. */
export function escaped(rows: readonly Row[]): Row[] {
  return rows.map((row) => ({
    ...row,
    situated_by: row.is_over && row.situated_by !== '' ? row.situated_by : 'escape',
  }));
}

/** A gate makes it Micro, the end of its task Meso again. */
export function granularityOf(rows: readonly Row[]): Granularity {
  return rows.some((row) => row.gates > 0 && !row.is_over) ? 'Micro' : 'Meso';
}

/** Source: Σ, `{ assessed, surfaced, halted }`. */
export function countsOf(rows: readonly Row[]): Counts {
  return {
    assessed: rows.filter(({ risk }) => risk !== '').length,
    surfaced: rows.reduce((sum, { gates }) => sum + gates, 0),
    halted: rows
      .filter(({ outcome }) => outcome === 'halted')
      .map(({ description, content }) => description || content),
  };
}
