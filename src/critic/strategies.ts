/**
 * The ten adversarial strategies and the mode that applies each. Facts of jerry's EN-303 and EN-304 (identifiers, costs,
 * families); the canonical cost is what a budget is planned with, not the published totals, which do not add up.
 */

export const modeNames = [
  'self-refine',
  'steelman',
  'inversion',
  'constitutional',
  'devils-advocate',
  'pre-mortem',
  'fmea',
  'chain-of-verification',
  'llm-as-judge',
  'red-team',
] as const;
/** In the order in which the document names them, as in the error on an unknown mode. */
export type AdversarialMode = (typeof modeNames)[number];
/** `standard`: the review by plain quality criteria, where no adversarial context is given. */
export type ModeName = AdversarialMode | 'standard';

export type Tier = 'Ultra-Low' | 'Low' | 'Low-Medium' | 'Medium';
export type Family =
  | 'Iterative Self-Correction'
  | 'Dialectical Synthesis'
  | 'Structured Decomposition'
  | 'Role-Based Adversarialism';

export interface Strategy {
  /** S-NNN */
  id: string;
  name: string;
  family: Family;
  tier: Tier;
  /** What a budget is planned with. */
  tokens: number;
  /** Of a review that reads and answers much. */
  tokensMost: number;
}

export const strategies: Readonly<Record<AdversarialMode, Strategy>> = {
  'self-refine': {
    ...{ id: 'S-010', name: 'Self-Refine', family: 'Iterative Self-Correction' },
    ...{ tier: 'Ultra-Low', tokens: 2_000, tokensMost: 4_000 },
  },
  steelman: {
    ...{ id: 'S-003', name: 'Steelman Technique', family: 'Dialectical Synthesis' },
    ...{ tier: 'Ultra-Low', tokens: 1_600, tokensMost: 7_500 },
  },
  inversion: {
    ...{ id: 'S-013', name: 'Inversion Technique', family: 'Structured Decomposition' },
    ...{ tier: 'Ultra-Low', tokens: 2_100, tokensMost: 6_000 },
  },
  constitutional: {
    ...{ id: 'S-007', name: 'Constitutional AI Critique', family: 'Iterative Self-Correction' },
    ...{ tier: 'Medium', tokens: 8_000, tokensMost: 16_000 },
  },
  'devils-advocate': {
    ...{ id: 'S-002', name: "Devil's Advocate", family: 'Role-Based Adversarialism' },
    ...{ tier: 'Low', tokens: 4_600, tokensMost: 6_000 },
  },
  'pre-mortem': {
    ...{ id: 'S-004', name: 'Pre-Mortem Analysis', family: 'Role-Based Adversarialism' },
    ...{ tier: 'Low', tokens: 5_600, tokensMost: 8_000 },
  },
  fmea: {
    ...{ id: 'S-012', name: 'FMEA', family: 'Structured Decomposition' },
    ...{ tier: 'Medium', tokens: 9_000, tokensMost: 16_000 },
  },
  'chain-of-verification': {
    ...{ id: 'S-011', name: 'Chain-of-Verification', family: 'Structured Decomposition' },
    ...{ tier: 'Low', tokens: 4_500, tokensMost: 12_000 },
  },
  'llm-as-judge': {
    ...{ id: 'S-014', name: 'LLM-as-Judge', family: 'Iterative Self-Correction' },
    ...{ tier: 'Ultra-Low', tokens: 2_000, tokensMost: 8_000 },
  },
  'red-team': {
    ...{ id: 'S-001', name: 'Red Team Analysis', family: 'Role-Based Adversarialism' },
    ...{ tier: 'Low-Medium', tokens: 6_500, tokensMost: 12_000 },
  },
};

export function isModeName(name: string): name is ModeName {
  return name === 'standard' || (modeNames as readonly string[]).includes(name);
}

export function isAdversarial(name: ModeName): name is AdversarialMode {
  return name !== 'standard';
}
