import type { PersonJudgement } from '../shapes.js';
import { start, stateName, step, type Snapshot } from '../../machine/step.js';
import { cycleMachine, type CycleEvent, type CycleInput } from './cycle.machine.js';
import { cycleReasons, type CycleReason, type Round } from './cycle-verdict.js';

/** A round, and what a person said about it; empty: nobody was asked, or nobody has answered. */
export interface JudgedRound extends Round {
  judged: PersonJudgement | '';
}

/** Where an artifact stands. */
export interface Standing {
  /** Of the machine: `revising`, `ratifying`, `escalated`, `accepted`, … */
  state: string;
  reason: CycleReason | '';
  /** Of the flag for which a person is asked. */
  flag: string;
  /** Of the last critique; 1: there was none. */
  iteration: number;
  iterations_max: number;
  /** In words. */
  text: string;
}

/**
 * Where an artifact stands after these rounds, oldest first. Nothing else is kept of a cycle: the same rounds lead to the
 * same standing. A critique of what was over already begins another cycle; one of what a person was asked about stands
 * for their wish to see it revised. `isExpired`: whoever was asked last has had their time.
 */
export function standingAfter(
  rounds: readonly JudgedRound[],
  input: CycleInput,
  isExpired = false,
): Standing {
  let snapshot = start(cycleMachine, input).snapshot;
  const tell = (event: CycleEvent): void => {
    ({ snapshot } = step(cycleMachine, snapshot, event));
  };
  for (const { judged, ...round } of rounds) {
    if (isAsking(snapshot)) {
      const again: CycleEvent = { type: 'person.judged', judgement: 'revise' };
      if (snapshot.can(again)) tell(again);
      else snapshot = start(cycleMachine, input).snapshot;
    }
    if (snapshot.status !== 'active') snapshot = start(cycleMachine, input).snapshot;
    tell({ type: 'artifact.made' });
    tell({ type: 'critique.done', round });
    if (judged !== '' && isAsking(snapshot)) {
      const said: CycleEvent = { type: 'person.judged', judgement: judged };
      if (snapshot.can(said)) tell(said);
    }
  }
  if (isExpired && isAsking(snapshot)) tell({ type: 'timer.due', timer: 'ratification' });
  return standingOf(snapshot);
}

function isAsking(snapshot: Snapshot<typeof cycleMachine>): boolean {
  return ['ratifying', 'escalated'].includes(stateName(snapshot));
}

function standingOf(snapshot: Snapshot<typeof cycleMachine>): Standing {
  const { reason, flag, iteration, iterationsMax } = snapshot.context;
  const said = reason === '' ? '' : cycleReasons[reason];
  return {
    state: stateName(snapshot),
    reason,
    flag,
    iteration,
    iterations_max: iterationsMax,
    text: flag === '' ? said : `${said} (${flag})`,
  };
}
