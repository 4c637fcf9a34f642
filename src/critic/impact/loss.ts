import type { Severity } from '../shapes.js';

/**
 * What a change takes from the text of the tree, or sets beside it. Each is told by one mode, to which it belongs by what
 * the mode asks.
 */
export const lossKinds = [
  // How it fails from now on.
  ...(['left-held', 'freed-used', 'lock-lost', 'result-unchecked', 'release-lost'] as const),
  ...(['await-lost', 'handler-lost'] as const),
  // What is noticed late, and by others.
  ...(['name-gone', 'arguments-left', 'field-gone', 'error-untold'] as const),
  // Defences that were taken away, ways in that were made.
  ...(['weakness-new', 'secret-told', 'environment-given', 'check-lost'] as const),
  // Guarantees.
  ...(['assertion-lost', 'bound-lost'] as const),
  // What is taken for granted.
  ...(['arguments-swapped', 'border-moved'] as const),
] as const;
export type LossKind = (typeof lossKinds)[number];

export interface Loss {
  kind: LossKind;
  severity: Severity;
  /** The function in which it stands; empty: outside of all. */
  unit: string;
  /** In the artifact, 1-based. */
  line: number;
  line_end: number;
  /** What is so now, in a sentence. */
  text: string;
  remedy: string;
  /** By which it is known in another version. */
  words: string;
  /** In the tree: what the artifact no longer has comes first. */
  places: { path: string; line: number; line_end?: number; symbol?: string }[];
}
