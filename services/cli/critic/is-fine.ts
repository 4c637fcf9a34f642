import type { Critique } from '../../../src/critic/shapes.js';

/**
 * Whether the caller can go on: the gate is met, and no rule wants a person first. C1 is reported and not gated, unless a
 * gate was named; where no mode scores, something was looked at, and nothing critical or major was found.
 */
export function isFine(critique: Critique, isGated: boolean): boolean {
  const { verdict, selection, reports, needs_person } = critique;
  const isDone = reports.every(({ status }) => status === 'complete' || status === 'partial');
  const isUnread = reports.some(({ reason }) => reason === 'RULES_UNREAD');
  if (selection.outcome !== 'review' || !isDone || isUnread) return false;
  if (verdict === 'PASS') return !needs_person;
  if (verdict === 'ABORTED') return false;
  const isBlind = reports.every(({ reason }) => reason === 'NOTHING_LOOKED_AT');
  const isGrave = reports
    .flatMap(({ findings }) => findings)
    .some(({ severity }) => severity === 'critical' || severity === 'major');
  if (verdict === 'UNSCORED') return !needs_person && !isBlind && !isGrave;
  return selection.criticality === 'C1' && !isGated;
}
