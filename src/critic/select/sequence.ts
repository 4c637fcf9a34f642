import type { Flag } from '../shapes.js';
import type { AdversarialMode, ModeName } from '../strategies.js';

/** The whole pipeline of C4. Those of C2 and C3 are parts of it, in the same order. */
export const canonicalOrder = [
  'self-refine',
  'steelman',
  'inversion',
  'constitutional',
  'devils-advocate',
  'pre-mortem',
  'fmea',
  'chain-of-verification',
  'red-team',
  'llm-as-judge',
] as const satisfies readonly AdversarialMode[];

/** The canonical pipelines: named in any order, their modes run in this one. */
const pipelines: readonly (readonly AdversarialMode[])[] = [
  ['steelman', 'constitutional', 'devils-advocate', 'llm-as-judge'],
  [
    ...(['steelman', 'inversion', 'constitutional', 'devils-advocate'] as const),
    ...(['pre-mortem', 'fmea', 'llm-as-judge'] as const),
  ],
  canonicalOrder,
];

export interface OrderRule {
  /** `SEQ-001` to `SEQ-004`, `SYN-1` to `SYN-14`. SEQ-005 orders nothing. */
  rule: string;
  first: AdversarialMode;
  then: AdversarialMode;
}

/** The rules of sequence, then what the pairs that help each other ask beside them; a pair stands under its first rule. */
export const orderRules: readonly OrderRule[] = distinct([
  ...ordered('SEQ-001', 'steelman', ['devils-advocate', 'constitutional', 'red-team']),
  ...ordered('SEQ-002', 'inversion', ['constitutional', 'fmea', 'red-team']),
  ...canonicalOrder
    .filter((mode) => mode !== 'llm-as-judge')
    .flatMap((mode) => ordered('SEQ-003', mode, ['llm-as-judge'])),
  ...ordered(
    'SEQ-004',
    'self-refine',
    canonicalOrder.filter((mode) => mode !== 'self-refine'),
  ),
  ...ordered('SYN-6', 'constitutional', ['devils-advocate']),
  ...ordered('SYN-10', 'pre-mortem', ['fmea']),
  ...ordered('SYN-11', 'fmea', ['red-team']),
  ...ordered('SYN-12', 'constitutional', ['red-team']),
]);

/** What the order of a list breaks, rule by rule. */
export function brokenRules(modes: readonly ModeName[]): OrderRule[] {
  const places = new Map(modes.map((mode, at) => [mode, at]));
  return orderRules.filter(({ first, then }) => {
    const [one, other] = [places.get(first), places.get(then)];
    return one !== undefined && other !== undefined && one > other;
  });
}

/**
 * The modes in an order that breaks no rule: each time the earliest of those that nothing stands before any more (Kahn,
 * 1962), so that what no rule speaks of stays as it was named. A canonical pipeline comes as itself. `prefer`: `canonical`
 * for modes without an order of their own.
 */
export function inSequence(
  modes: readonly ModeName[],
  prefer: 'given' | 'canonical' = 'given',
): ModeName[] {
  const isCanonical = prefer === 'canonical' || isPipeline(modes);
  const left = isCanonical ? [...modes].sort((a, b) => rank(a) - rank(b)) : [...modes];
  const done: ModeName[] = [];
  while (left.length > 0) {
    const at = left.findIndex((mode) => !waits(mode, left));
    // The rules hold no circle, so there always is one.
    done.push(...left.splice(Math.max(at, 0), 1));
  }
  return done;
}

/** The two pairs that work against each other, and how that is managed (EN-303 TASK-003). */
export const tensionPairs = [
  {
    modes: ['red-team', 'devils-advocate'],
    management:
      'devils-advocate questions the reasoning and the decisions, red-team the security and the robustness: each keeps to its own',
  },
  {
    modes: ['steelman', 'self-refine'],
    management:
      'self-refine belongs to the author of the artifact, steelman to its reviewer: what self-refine finds goes back to the author and is no part of the critique',
  },
] as const satisfies readonly {
  modes: readonly [AdversarialMode, AdversarialMode];
  management: string;
}[];

/**
 * What is reported of pairs in tension: where they were named a warning, in the words of the document; of those that
 * the tables put together how they are kept apart.
 */
export function tensionFlags(modes: readonly ModeName[], isNamed: boolean): Flag[] {
  return tensionPairs.flatMap(({ modes: pair, management }): Flag[] => {
    const [one, other] = modes.filter((mode) => (pair as readonly ModeName[]).includes(mode));
    if (one === undefined || other === undefined) return [];
    if (!isNamed)
      return [{ code: 'TEN', level: 'note', text: `${pair.join(' and ')}: ${management}` }];
    const text = `Tension pair detected: ${one} and ${other}. Proceeding with caution. See EN-303 TASK-003 for tension management guidance.`;
    return [{ code: 'TEN', level: 'warning', text }];
  });
}

function waits(mode: ModeName, left: readonly ModeName[]): boolean {
  return orderRules.some(({ first, then }) => then === mode && left.includes(first));
}

function rank(mode: ModeName): number {
  return (canonicalOrder as readonly ModeName[]).indexOf(mode);
}

function isPipeline(modes: readonly ModeName[]): boolean {
  return pipelines.some(
    (its) => its.length === modes.length && its.every((mode) => modes.includes(mode)),
  );
}

function ordered(
  rule: string,
  first: AdversarialMode,
  then: readonly AdversarialMode[],
): OrderRule[] {
  return then.map((each) => ({ rule, first, then: each }));
}

function distinct(rules: readonly OrderRule[]): OrderRule[] {
  const known = new Map<string, OrderRule>();
  for (const rule of rules) {
    const key = `${rule.first} ${rule.then}`;
    if (!known.has(key)) known.set(key, rule);
  }
  return [...known.values()];
}
