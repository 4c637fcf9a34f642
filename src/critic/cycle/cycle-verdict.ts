import { atLeast } from '../score/decimals.js';
import { leniencyFlags } from '../score/leniency.js';
import { qualityGate, type Criticality, type Critique, type Verdict } from '../shapes.js';
import { findingsOf, improvementMin, isPlateau, periodOf, trackingLimits } from './tracking.js';

/** What a cycle has to know of one critique: of one version of an artifact. */
export interface Round {
  /** As the caller counted it; see `countedIteration`. */
  iteration: number;
  critique: string;
  digest: string;
  score: number | null;
  verdict: Verdict;
  /** Ids of open findings, worst first. */
  findings: string[];
  /** One of them breaks a rule that must not be broken. */
  is_hard: boolean;
  /** A person has to look at it: the code of the flag that says so; otherwise empty. */
  needs_person: string;
  /** Findings of the round before of which the creator says that they are wrong. */
  disputed: string[];
}

/** How the gate of one artifact is set. */
export interface CycleSettings {
  criticality: Criticality;
  /** Absent: C1 is reported and not gated, the others are gated by the threshold of the gate. */
  threshold?: number;
  /** Of `standard` the gate is lower, and an iteration has to improve more. */
  isAdversarial: boolean;
  /** 1 create, 2 critique, 3 revise. */
  iterationsMax: number;
}

/** Why a person is asked, or why it is not accepted yet. */
export const cycleReasons = {
  BELOW_GATE:
    'the limit of iterations is reached, and the score is too low even for a ratification',
  CONDITIONAL: 'the limit of iterations is reached; the score is below the threshold, but not far',
  PLATEAU: 'the last two iterations hardly improved the score',
  LOW: 'after three critiques the score is below 0.50',
  OSCILLATION: 'the artifact is again what it was some versions ago',
  DISPUTE: 'creator and critic do not agree: the same findings stay open',
  ABORTED: 'the review was ended: it breaks a rule that must not be broken',
  UNSCORED: 'it could not be judged: there is no score',
  HARD_FINDING: 'a rule that must not be broken is broken, at any score',
  PERSON: 'a rule asks for a person to accept it',
  EARLY: 'nothing is accepted before the first revision',
  BELOW: 'the score is below the threshold',
  OPEN_FINDING: 'a finding is open that must be settled first, at any score',
} as const;
export type CycleReason = keyof typeof cycleReasons;

export type CycleMove = 'accept' | 'report' | 'ratify' | 'escalate' | 'revise';

export interface CycleVerdict {
  move: CycleMove;
  /** Empty: of what is accepted or reported. */
  reason: CycleReason | '';
  /** Of a flag that says so, or empty. */
  flag: string;
}

const lowScore = 0.5;
const lowRounds = 3;
/** A creator that leaves the artifact as it was for so many rounds has answered. */
const unchangedRounds = 2;

export function thresholdOf({ threshold, isAdversarial }: CycleSettings): number {
  return threshold ?? (isAdversarial ? qualityGate.threshold : qualityGate.standardThreshold);
}

export function roundOf(critique: Critique, disputed: string[] = []): Round {
  const { iteration, id, digest, score, verdict, needs_person, flags, selection } = critique;
  const open = findingsOf(critique);
  const said = [...flags, ...selection.flags].find(({ level }) => level === 'mandatory');
  return {
    ...{ iteration, critique: id, digest, score, verdict, disputed },
    findings: open
      .filter(({ severity }) => severity !== 'note')
      .slice(0, trackingLimits.findings)
      .map((each) => each.id),
    is_hard: open.some((each) => each.is_hard),
    needs_person: needs_person ? (said?.code ?? 'PERSON') : '',
  };
}

/**
 * What follows from the last of these rounds, which is the critique of this iteration. Source: decisions on the quality
 * gate: accepted at the threshold and from iteration 3 on (C2 and above); between 0.85 and the threshold a person may
 * ratify it once the iterations or their use are at an end; below that a person takes over. C1 is reported. What needs a
 * person all the same goes to one when it would be accepted: a revision accepts nothing.
 */
export function verdictOn(
  rounds: readonly Round[],
  iteration: number,
  settings: CycleSettings,
): CycleVerdict {
  const last = rounds.at(-1);
  if (last === undefined) throw new Error('bug: a verdict on nothing');
  const { criticality, isAdversarial, iterationsMax } = settings;
  const escalate = (reason: CycleReason): CycleVerdict => ({ move: 'escalate', reason, flag: '' });
  if (last.verdict === 'ABORTED') return escalate('ABORTED');
  if (criticality === 'C1' && settings.threshold === undefined)
    return { move: 'report', reason: '', flag: '' };
  if (isAside(last)) return { move: 'report', reason: '', flag: '' };
  const { score } = last;
  if (score === null || last.verdict === 'UNSCORED') return escalate('UNSCORED');
  const period = periodOf(rounds.map(({ digest }) => digest));
  if (period > 0) return escalate('OSCILLATION');
  if (isDisputed(rounds)) return escalate('DISPUTE');
  const isPassed =
    last.verdict === 'PASS' && atLeast(score, thresholdOf(settings)) && !last.is_hard;
  if (isPassed && isLateEnough(iteration, criticality)) return passed(rounds, criticality);
  const scores = rounds.flatMap((each) => (each.score === null ? [] : [each.score]));
  if (scores.length >= lowRounds && !atLeast(score, lowScore)) return escalate('LOW');
  const improvement = isAdversarial ? improvementMin.adversarial : improvementMin.standard;
  const isAtLimit = iteration >= iterationsMax;
  if (isAtLimit || isPlateau(scores, improvement)) {
    if (last.is_hard) return escalate('HARD_FINDING');
    if (!atLeast(score, qualityGate.conditional))
      return escalate(isAtLimit ? 'BELOW_GATE' : 'PLATEAU');
    return { move: 'ratify', reason: isAtLimit ? 'CONDITIONAL' : 'PLATEAU', flag: '' };
  }
  const isHigh = atLeast(score, thresholdOf(settings));
  const open = isHigh && !isPassed ? 'OPEN_FINDING' : 'BELOW';
  return { move: 'revise', reason: isPassed ? 'EARLY' : open, flag: '' };
}

/** It was asked for no score, and needs no decision: it leaves an artifact where it was. */
export function isAside({ verdict, needs_person }: Round): boolean {
  return verdict === 'UNSCORED' && needs_person === '';
}

function isLateEnough(iteration: number, criticality: Criticality): boolean {
  return criticality === 'C1' || iteration >= qualityGate.iterationsMin;
}

/** Accepted, unless a person has to. C4 is always ratified (ESC-001). */
function passed(rounds: readonly Round[], criticality: Criticality): CycleVerdict {
  const last = rounds.at(-1);
  const leniency = leniencyFlags(rounds, criticality).find(({ level }) => level === 'mandatory');
  const flag = criticality === 'C4' ? 'ESC-001' : last?.needs_person || (leniency?.code ?? '');
  return flag === ''
    ? { move: 'accept', reason: '', flag }
    : { move: 'ratify', reason: 'PERSON', flag };
}

/**
 * The creator says of a finding that it is wrong, and the critic says it again; or the creator returns the artifact as it
 * was, twice, while the same findings are open.
 */
function isDisputed(rounds: readonly Round[]): boolean {
  const last = rounds.at(-1);
  if (last === undefined) return false;
  const open = new Set(last.findings);
  if (last.disputed.some((id) => open.has(id))) return true;
  const recent = rounds.slice(-(unchangedRounds + 1));
  if (recent.length <= unchangedRounds || recent.some(({ digest }) => digest !== last.digest))
    return false;
  return last.findings.some((id) => recent.every(({ findings }) => findings.includes(id)));
}
