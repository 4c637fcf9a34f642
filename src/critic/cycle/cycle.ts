import { criticLimits, type PersonJudgement } from '../shapes.js';
import {
  cycleReasons,
  isAside,
  verdictOn,
  type CycleMove,
  type CycleReason,
  type CycleSettings,
  type Round,
} from './cycle-verdict.js';
import { countedIteration } from './tracking.js';

/** How long a person may take over a ratification; then it is refused. */
export const ratificationMs = 7 * 24 * 3_600_000;

/** A round, and what a person said about it; empty: no person was asked, or has answered. */
export interface JudgedRound extends Round {
  judged: PersonJudgement | '';
}

export type CycleState =
  | 'creating'
  | 'revising'
  /** A person decides: good, but not good enough to be accepted unseen; or a revision would not help. */
  | 'ratifying'
  | 'escalated'
  | 'accepted'
  | 'ratified'
  /** C1 without a threshold: told, not gated. */
  | 'reported'
  | 'refused'
  | 'expired';

/** Where an artifact stands. */
export interface Standing {
  state: CycleState;
  reason: CycleReason | '';
  /** Of the flag for which a person is asked. */
  flag: string;
  /** Of the last critique; 1: there was none. */
  iteration: number;
  iterations_max: number;
  /** In words. */
  text: string;
}

interface Cycle extends Pick<Standing, 'state' | 'reason' | 'flag' | 'iteration'> {
  iterationsMax: number;
  /** Oldest first, the last ones. */
  rounds: Round[];
}

const stateAfter: Readonly<Record<CycleMove, CycleState>> = {
  ...{ accept: 'accepted', report: 'reported', ratify: 'ratifying' },
  ...{ revise: 'revising', escalate: 'escalated' },
};

/**
 * Where an artifact stands after these rounds, oldest first. Nothing else is kept of a cycle: the same rounds lead to the
 * same standing. A critique of what was over already begins another cycle; one of what a person was asked about stands
 * for their wish to see it revised. `isExpired`: the person who was asked last has had their time.
 */
export function standingAfter(
  rounds: readonly JudgedRound[],
  settings: CycleSettings,
  isExpired = false,
): Standing {
  let cycle = begun(settings);
  for (const { judged, ...round } of rounds) {
    if (isAside(round) && stands(cycle, round)) {
      cycle = { ...cycle, iteration: countedIteration(cycle.iteration, round.iteration) };
      continue;
    }
    if (isAsking(cycle.state)) cycle = judgedBy(cycle, 'revise');
    if (cycle.state !== 'creating' && cycle.state !== 'revising') cycle = begun(settings);
    cycle = critiqued(cycle, round, settings);
    if (judged !== '' && isAsking(cycle.state)) cycle = judgedBy(cycle, judged);
  }
  const { reason, flag, iteration, iterationsMax } = cycle;
  const state = isExpired && isAsking(cycle.state) ? 'expired' : cycle.state;
  const said = reason === '' ? '' : cycleReasons[reason];
  const asked = flag === '' ? said : `${said} (${flag})`;
  const text = settledWords[state] ?? asked;
  return { state, reason, flag, iteration, iterations_max: iterationsMax, text };
}

/** What was decided of another text is not decided of this one. */
function stands({ state, rounds }: Cycle, { digest }: Round): boolean {
  return state === 'revising' || isAsking(state) || rounds.at(-1)?.digest === digest;
}

/** Why a person was asked is over then. */
const settledWords: Partial<Record<CycleState, string>> = {
  ratified: 'a person accepted it',
  refused: 'a person refused it',
  expired: 'no person decided in time',
};

/** A person is asked. */
export function isAsking(state: string): boolean {
  return state === 'ratifying' || state === 'escalated';
}

function begun({ iterationsMax }: CycleSettings): Cycle {
  return { state: 'creating', reason: '', flag: '', iteration: 1, iterationsMax, rounds: [] };
}

function critiqued(cycle: Cycle, round: Round, settings: CycleSettings): Cycle {
  const { iterationsMax } = cycle;
  const rounds = [...cycle.rounds, round].slice(-criticLimits.iterations);
  const iteration = countedIteration(cycle.iteration, round.iteration);
  const { move, reason, flag } = verdictOn(rounds, iteration, { ...settings, iterationsMax });
  return { state: stateAfter[move], reason, flag, iteration, iterationsMax, rounds };
}

/** A person may have it revised beyond the limit, by one iteration each time, and never beyond `criticLimits.iterations`. */
function judgedBy(cycle: Cycle, judgement: PersonJudgement): Cycle {
  if (judgement === 'accept') return { ...cycle, state: 'ratified' };
  if (judgement === 'refuse') return { ...cycle, state: 'refused' };
  if (cycle.iteration >= criticLimits.iterations) return cycle;
  const iterationsMax = Math.max(cycle.iterationsMax, cycle.iteration + 1);
  return { ...cycle, state: 'revising', iterationsMax };
}
