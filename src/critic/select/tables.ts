import type {
  ContextVector,
  Criticality,
  Maturity,
  Phase,
  TargetType,
  TokenBudget,
} from '../shapes.js';
import { modeNames, strategies, type AdversarialMode, type ModeName } from '../strategies.js';

/** Which modes are applied where: the tables of jerry's EN-303 (TASK-001, TASK-004) and EN-304. */

type Modes = readonly AdversarialMode[];

/** `required` and `recommended` are applied; `optional` only where a phase names it. */
export const baseSets: Readonly<
  Record<Criticality, { required: Modes; recommended: Modes; optional: Modes }>
> = {
  C1: {
    required: ['self-refine'],
    recommended: [],
    optional: ['steelman', 'llm-as-judge'],
  },
  C2: {
    required: ['constitutional', 'devils-advocate', 'llm-as-judge'],
    recommended: ['steelman', 'self-refine'],
    optional: [],
  },
  C3: {
    required: [
      ...(['constitutional', 'devils-advocate', 'llm-as-judge'] as const),
      ...(['pre-mortem', 'fmea', 'inversion'] as const),
    ],
    recommended: ['steelman', 'self-refine', 'chain-of-verification'],
    optional: [],
  },
  C4: { required: modeNames, recommended: [], optional: [] },
};

/** What is applied in a phase instead of the base set; absent: all of that. */
export const phaseSets: Readonly<Record<Criticality, Partial<Record<Phase, Modes>>>> = {
  C1: {
    'PH-EXPLORE': ['self-refine'],
    'PH-DESIGN': ['self-refine', 'llm-as-judge'],
    'PH-IMPL': ['self-refine', 'llm-as-judge'],
    'PH-VALID': ['llm-as-judge'],
    'PH-MAINT': ['self-refine', 'llm-as-judge'],
  },
  C2: {
    'PH-VALID': ['constitutional', 'llm-as-judge'],
    'PH-MAINT': ['constitutional', 'llm-as-judge'],
  },
  C3: {
    'PH-IMPL': modeNames.filter((mode) => mode !== 'pre-mortem'),
    'PH-VALID': ['constitutional', 'llm-as-judge', 'chain-of-verification', 'fmea'],
    'PH-MAINT': ['constitutional', 'llm-as-judge', 'chain-of-verification', 'fmea'],
  },
  C4: {},
};

/** One level down: early a deep review comes too soon, and of what is maintained the scope decides. */
export const phaseDowngrades: Partial<Record<Phase, Partial<Record<Criticality, Criticality>>>> = {
  'PH-EXPLORE': { C2: 'C1', C3: 'C2', C4: 'C3' },
  'PH-MAINT': { C4: 'C3' },
};

/** What fits a budget; C4 without any is not reviewed at all. */
export const budgetSets: Readonly<
  Record<Exclude<TokenBudget, 'TOK-FULL'>, Record<Criticality, Modes>>
> = {
  'TOK-CONST': {
    C1: ['self-refine'],
    C2: ['steelman', 'llm-as-judge', 'self-refine'],
    C3: ['steelman', 'devils-advocate', 'llm-as-judge', 'inversion'],
    C4: ['steelman', 'devils-advocate', 'inversion', 'llm-as-judge', 'constitutional'],
  },
  'TOK-EXHAUST': {
    C1: ['self-refine'],
    C2: ['steelman', 'llm-as-judge'],
    C3: ['llm-as-judge'],
    C4: [],
  },
};

/**
 * What is left for an artifact that is approved or baselined, while it is not formally reopened: the lines of the decision
 * tree, and where they name no set (C3 baselined, C4) the table of maturities.
 */
export const maturitySets: Readonly<
  Record<Extract<Maturity, 'MAT-APPR' | 'MAT-BASE'>, Record<Criticality, Modes>>
> = {
  'MAT-APPR': {
    C1: ['llm-as-judge'],
    C2: ['constitutional', 'llm-as-judge'],
    C3: ['constitutional', 'llm-as-judge'],
    C4: ['constitutional', 'llm-as-judge', 'chain-of-verification'],
  },
  'MAT-BASE': {
    C1: ['llm-as-judge'],
    C2: ['llm-as-judge'],
    C3: ['constitutional', 'chain-of-verification'],
    C4: ['constitutional', 'chain-of-verification'],
  },
};

/** What one agent alone can do at C3. */
export const singleAgentModes: Modes = [
  'self-refine',
  'constitutional',
  'inversion',
  'llm-as-judge',
];

/** With rules at the beginning of a session and nothing else that enforces them. C4 is not reviewed. */
export const leastEnforced: Readonly<Record<Criticality, Modes>> = {
  C1: ['self-refine'],
  C2: ['self-refine', 'constitutional', 'llm-as-judge'],
  C3: ['self-refine', 'steelman', 'inversion', 'constitutional', 'llm-as-judge'],
  C4: [],
};

/** Under ENF-MIN: nothing can deliver them (`infeasible`), or not as they are meant; what is done instead. */
export const substitutes: Partial<
  Record<AdversarialMode, { isInfeasible: boolean; mode?: AdversarialMode; person?: string }>
> = {
  'pre-mortem': { isInfeasible: true, mode: 'inversion' },
  fmea: { isInfeasible: true, mode: 'inversion' },
  'red-team': { isInfeasible: true, person: 'a security review that a person directs' },
  'devils-advocate': { isInfeasible: false, mode: 'self-refine' },
  'chain-of-verification': { isInfeasible: false, person: 'a verification that a person directs' },
};

/** Nothing gates what they say when nothing enforces it. */
export const advisoryModes: readonly ModeName[] = ['constitutional', 'llm-as-judge'];

/** `full`: hooks, gates and continuous integration; `portable`: what any platform has. */
export const deliveries: Readonly<Record<AdversarialMode, { full: string; portable: string }>> = {
  'self-refine': {
    full: 'L1 rule, L2 reinforcement, L4 hook',
    portable: 'L1 rule alone, which a long context wears down',
  },
  steelman: { full: 'L1 rule, L2 reinforcement', portable: 'L1 rule alone' },
  inversion: { full: 'L1 rule, process', portable: 'L1 rule, process' },
  constitutional: { full: 'L1 rules, L3 hook, L5 tests', portable: 'L1 rules, L5 tests, process' },
  'devils-advocate': { full: 'process', portable: 'process' },
  'pre-mortem': { full: 'process', portable: 'process' },
  fmea: { full: 'process, L5 integration', portable: 'process, L5 integration' },
  'chain-of-verification': { full: 'process, L4 hook', portable: 'process alone' },
  'llm-as-judge': { full: 'process, L3 and L4 hooks', portable: 'process alone' },
  'red-team': { full: 'process, L3 hook', portable: 'process alone' },
};

/** How much a mode finds in an artifact of a kind; those that stand in neither are between. */
export const affinities: Readonly<Record<TargetType, { high: Modes; low: Modes }>> = {
  'TGT-CODE': {
    high: ['constitutional', 'fmea', 'chain-of-verification', 'self-refine', 'llm-as-judge'],
    low: ['red-team', 'pre-mortem', 'steelman'],
  },
  'TGT-ARCH': {
    high: ['red-team', 'pre-mortem', 'devils-advocate', 'inversion'],
    low: ['self-refine', 'chain-of-verification'],
  },
  'TGT-REQ': {
    high: ['inversion', 'fmea', 'chain-of-verification', 'constitutional'],
    low: ['red-team', 'pre-mortem', 'self-refine'],
  },
  'TGT-RES': {
    high: ['chain-of-verification', 'devils-advocate', 'steelman', 'llm-as-judge'],
    low: ['red-team', 'pre-mortem', 'self-refine', 'fmea'],
  },
  'TGT-DEC': {
    high: ['steelman', 'devils-advocate', 'pre-mortem', 'inversion', 'llm-as-judge'],
    low: ['self-refine', 'chain-of-verification'],
  },
  'TGT-PROC': {
    high: ['pre-mortem', 'fmea', 'constitutional', 'inversion'],
    low: ['steelman', 'self-refine', 'chain-of-verification'],
  },
};

/** Of less use in a phase than elsewhere. */
export const cautions: Readonly<Record<Phase, Modes>> = {
  'PH-EXPLORE': ['red-team', 'constitutional', 'llm-as-judge'],
  'PH-DESIGN': [],
  'PH-IMPL': ['pre-mortem', 'steelman'],
  'PH-VALID': ['inversion', 'pre-mortem'],
  'PH-MAINT': ['red-team'],
};

/** Where it is not given; criticality is detected from the artifact, enforcement follows from the platform. */
export const fallbacks = {
  phase: 'PH-DESIGN',
  target_type: 'TGT-DEC',
  maturity: 'MAT-DRAFT',
  team: 'TEAM-MULTI',
  platform: 'PLAT-GENERIC',
  token_budget: 'TOK-CONST',
} as const satisfies Partial<ContextVector>;

/** Remaining tokens: above `full` everything is applied, below `exhausted` hardly anything. */
export const budgetEdges = { full: 20_000, exhausted: 5_000 } as const;

/** A session longer than this forgets the rules that it began with. */
export const contextRotTokens = 20_000;

/** What the plain review is planned with. Ours: the documents name no figure. */
const standardTokens = 2_000;

export function tokensOf(mode: ModeName): number {
  return mode === 'standard' ? standardTokens : strategies[mode].tokens;
}

/** The dimension for so many tokens that are left. */
export function budgetOf(tokens: number): TokenBudget {
  if (tokens > budgetEdges.full) return 'TOK-FULL';
  return tokens >= budgetEdges.exhausted ? 'TOK-CONST' : 'TOK-EXHAUST';
}

/** Where no budget is named: rules alone cost nothing, a model what its settings give a task. */
export function detectedBudget({
  model,
}: {
  model?: { tokensPerTask?: number | undefined } | undefined;
}): TokenBudget {
  return model?.tokensPerTask === undefined ? 'TOK-FULL' : budgetOf(model.tokensPerTask);
}
