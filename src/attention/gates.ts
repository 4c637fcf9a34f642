import {
  attentionLimits,
  judgements,
  productionEnvironment,
  unknownEnvironment,
  type ActionDigest,
  type Classification,
  type Finding,
  type Gate,
  type Grant,
  type Judgement,
  type Pattern,
} from './shapes.js';

/** What a gate of the next number is called. */
export const gateId = (task: string, n: number): string => `gate-${task}-${n}`;
/** Task of a gate; undefined: no gate is called so. */
export const taskOfGate = (id: string): string | undefined => /^gate-(.+)-\d+$/.exec(id)?.[1];

export interface Asked {
  task: string;
  classification: Classification;
  seenBy: string;
  session: string;
  nowMs: number;
  expiresMs: number;
}

/** A question to a person. Undefined: this task has asked so often that it is given up (`attentionLimits.gates`). */
export function opened(
  gates: readonly Gate[],
  { task, classification, seenBy, session, nowMs, expiresMs }: Asked,
): Gate[] | undefined {
  if (gates.length >= attentionLimits.gates) return undefined;
  const gate: Gate = {
    id: gateId(task, gates.length + 1),
    task,
    state: 'open',
    classification,
    seen_by: seenBy,
    session,
    asked_ms: nowMs,
    expires_ms: nowMs + expiresMs,
    judgement: '',
    judged_by: '',
    judged_ms: 0,
    direction: '',
  };
  return [...gates, gate];
}

/** What a gate offers first, and what it offers besides: one clear risk is a short question, more than that a long one. */
export function choicesOf({ intensity }: Pick<Classification, 'intensity'>): {
  first: readonly Judgement[];
  besides: readonly Judgement[];
} {
  if (intensity === 'heavy') return { first: judgements, besides: [] };
  const first: Judgement[] = ['approve', 'halt'];
  return { first, besides: judgements.filter((each) => !first.includes(each)) };
}

/** Why it weighs heavily; empty: it is one clear risk. */
export function weightText({ intensity, findings, pattern }: Classification): string {
  if (intensity !== 'heavy') return '';
  const stopping = findings.filter(({ severity }) => severity === 'Gate');
  const why = [
    ...(stopping.length > 1 ? [`${stopping.length} risks at once`] : []),
    ...(pattern.environment === productionEnvironment ? ['in production'] : []),
    ...(stopping.some(({ signal }) => signal === 'PromptInjection')
      ? ['instructions stand in its data']
      : []),
  ];
  return why.join(', ') || 'all of it has to be read';
}

/** The question of a gate, in one line. */
export function questionOfGate({ id, classification }: Gate): string {
  const { first, besides } = choicesOf(classification);
  const weight = weightText(classification);
  const before = weight === '' ? '' : `${weight}: `;
  const after = besides.length === 0 ? '' : ` Or ${listed(besides)}.`;
  return `${before}${listed(first)} ${id}?${after}`;
}

function listed(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`;
}

/** The one that waits for a judgement. */
export function openGate(gates: readonly Gate[]): Gate | undefined {
  return gates.find(({ state }) => state === 'open');
}

/** The open gate with its answer. */
export function judged(
  gates: readonly Gate[],
  said: { judgement: Judgement; by: string; direction: string; nowMs: number },
): Gate[] {
  return gates.map((gate) =>
    gate.state === 'open'
      ? {
          ...gate,
          state: 'judged',
          judgement: said.judgement,
          judged_by: said.by,
          judged_ms: said.nowMs,
          direction: said.direction,
        }
      : gate,
  );
}

/** A permission for one exact action; the oldest used ones make room. */
export function granted(
  grants: readonly Grant[],
  given: {
    task: string;
    digest: ActionDigest;
    gate: string;
    by: string;
    nowMs: number;
    n: number;
    findings?: Finding[];
  },
): Grant[] {
  const { task, digest, gate, by, nowMs, n, findings = [] } = given;
  const grant: Grant = {
    ...{ id: `grant-${task}-${n}`, task, digest, gate, by, given_ms: nowMs },
    ...{ used_ms: 0, used_attempt: 0, findings },
  };
  return [...grants, grant].slice(-attentionLimits.grants);
}

/** Numbers go on where older grants were dropped. */
export function nextGrant(grants: readonly Grant[]): number {
  return 1 + Math.max(0, ...grants.map(({ id }) => Number(/\d+$/.exec(id)?.[0] ?? 0)));
}

/**
 * Whether the permission of one action holds for this one: the very same action, none of the scripts changed that were shown,
 * and no risk from a script that was not.
 */
export function covers(
  leave: ActionDigest,
  { digest, findings }: Pick<Classification, 'digest' | 'findings'>,
): boolean {
  if (leave.action !== digest.action) return false;
  const shown = Object.entries(leave.files);
  if (shown.some(([path, sha256]) => digest.files[path] !== sha256)) return false;
  // A script may be called like what every object has.
  return findings.every(({ file }) => file === '' || Object.hasOwn(leave.files, file));
}

/** A permission of this action that was not used yet. */
export function leaveFor(
  grants: readonly Grant[],
  seen: Pick<Classification, 'digest' | 'findings'>,
): Grant | undefined {
  return grants.find(({ used_ms, digest }) => used_ms === 0 && covers(digest, seen));
}

/** Whether something of it stops; what is only advisory is noted in passing. */
export function isGated({ level, findings }: Pick<Classification, 'level' | 'findings'>): boolean {
  return level === 'Elevated' && findings.some(({ severity }) => severity === 'Gate');
}

/** Whether an approval of it may be remembered: never of an injection, and never where it is not known what it reaches. */
export function isMemorable({ is_cacheable, pattern }: Classification): boolean {
  const { environment, signals } = pattern;
  return is_cacheable && environment !== unknownEnvironment && !signals.includes('PromptInjection');
}

/** Tool, target, environment and the set of signals: one more risk, and what was approved is not this. */
export function patternKey({ tool, target, environment, signals }: Pattern): string {
  return JSON.stringify([tool, target, environment, [...signals].sort()]);
}
