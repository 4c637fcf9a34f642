import { signals, type Gate, type Signal } from '../../attention/shapes.js';
import { gatesOf, sessionOf } from '../life/gates.js';
import type { TaskRecord } from '../life/record.js';

/** Sessions with the same pattern from which a revision of the taxonomy is suggested. */
export const revisionSessions = 3;
/** Limits: sessions kept by name for one pattern, and patterns. */
const sessionsMax = 8;
const patternsMax = 200;

export interface SignalNumbers {
  /** Gates that named it. */
  asked: number;
  approve: number;
  dismiss: number;
  modify: number;
  halt: number;
  withdraw: number;
  expired: number;
  /** Milliseconds from question to judgement, summed over all judged gates. */
  judged_ms: number;
  judged_ms_max: number;
  /** Noted without a question. */
  advisory: number;
  /** Not detected, as a person reported afterwards. */
  missed: number;
}

/** Sums over finished tasks; a missed signal is counted when a person reports it. */
export interface AttentionNumbers {
  signals: Partial<Record<Signal, SignalNumbers>>;
  /** Tasks with an action, and those of them without a gate or finding. */
  actions: number;
  silent: number;
  /** Sessions by the pattern of an emergent risk, and by missed signal. */
  emergent: Record<string, string[]>;
  missed: Record<string, string[]>;
}

export const noAttentionNumbers: AttentionNumbers = {
  signals: {},
  actions: 0,
  silent: 0,
  emergent: {},
  missed: {},
};

const none: SignalNumbers = {
  ...{ asked: 0, approve: 0, dismiss: 0, modify: 0, halt: 0, withdraw: 0, expired: 0 },
  ...{ judged_ms: 0, judged_ms_max: 0, advisory: 0, missed: 0 },
};

/** The sums with one more finished task. */
export function attentionCounted(before: AttentionNumbers, record: TaskRecord): AttentionNumbers {
  const gates = gatesOf(record);
  const { findings, task } = record;
  const hasAction = task.action !== null || task.runner === 'agent';
  let after: AttentionNumbers = {
    ...before,
    actions: before.actions + (hasAction ? 1 : 0),
    silent: before.silent + (hasAction && gates.length === 0 && findings.length === 0 ? 1 : 0),
  };
  for (const gate of gates) {
    const named = new Set(gate.classification.findings.map(({ signal }) => signal));
    for (const signal of named) after = withSignal(after, signal, countsOf(gate));
  }
  for (const { signal } of findings) after = withSignal(after, signal, { advisory: 1 });
  const session = sessionOf(record);
  const all = [...findings, ...gates.flatMap(({ classification }) => classification.findings)];
  for (const { signal, rule } of all)
    if (signal === 'Emergent')
      after = { ...after, emergent: withSession(after.emergent, rule || 'unnamed', session) };
  return after;
}

/** The sums with one more missed risk. */
export function withMissed(
  before: AttentionNumbers,
  signal: Signal,
  session: string,
): AttentionNumbers {
  const counted = withSignal(before, signal, { missed: 1 });
  return { ...counted, missed: withSession(counted.missed, signal, session) };
}

/** Suggested revisions of the taxonomy: patterns and missed signals of enough sessions. */
export function revisionsOf({ emergent, missed }: AttentionNumbers): string[] {
  const due = (seen: Record<string, string[]>): string[] =>
    Object.keys(seen).filter((each) => (seen[each]?.length ?? 0) >= revisionSessions);
  return [
    ...due(emergent).map(
      (rule) => `${rule}: seen in ${revisionSessions} sessions or more, name it`,
    ),
    ...due(missed).map((signal) => `${signal}: missed in ${revisionSessions} sessions or more`),
  ];
}

function countsOf({ state, judgement, judged_ms, asked_ms }: Gate): Partial<SignalNumbers> {
  if (state === 'expired') return { asked: 1, expired: 1 };
  if (judgement === '') return { asked: 1 };
  const ms = Math.max(0, judged_ms - asked_ms);
  return { asked: 1, [judgement]: 1, judged_ms: ms, judged_ms_max: ms };
}

function withSignal(
  before: AttentionNumbers,
  signal: Signal,
  more: Partial<SignalNumbers>,
): AttentionNumbers {
  const now = before.signals[signal] ?? none;
  const sums = Object.fromEntries(
    (Object.keys(none) as (keyof SignalNumbers)[]).map((name) => [
      name,
      name === 'judged_ms_max'
        ? Math.max(now[name], more[name] ?? 0)
        : now[name] + (more[name] ?? 0),
    ]),
  ) as unknown as SignalNumbers;
  return { ...before, signals: { ...before.signals, [signal]: sums } };
}

function withSession(
  before: Record<string, string[]>,
  what: string,
  session: string,
): Record<string, string[]> {
  const known = before[what];
  if (known === undefined && Object.keys(before).length >= patternsMax) return before;
  if (known?.includes(session) === true || (known?.length ?? 0) >= sessionsMax) return before;
  return { ...before, [what]: [...(known ?? []), session] };
}

/** Figures for a table: judged gates, the approved share, and the mean time to judge in milliseconds. */
export function ratesOfSignal({
  approve,
  dismiss,
  modify,
  halt,
  withdraw,
  judged_ms,
}: SignalNumbers): {
  judged: number;
  approved: number;
  mean_ms: number;
} {
  const judged = approve + dismiss + modify + halt + withdraw;
  const share = (part: number): number => (judged === 0 ? 0 : part / judged);
  return { judged, approved: share(approve + dismiss), mean_ms: Math.round(share(judged_ms)) };
}

export const signalsInOrder = (numbers: AttentionNumbers): [Signal, SignalNumbers][] =>
  signals.flatMap((signal): [Signal, SignalNumbers][] => {
    const its = numbers.signals[signal];
    return its === undefined ? [] : [[signal, its]];
  });
