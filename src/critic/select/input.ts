import type { ModeName } from '../strategies.js';
import type { ContextWords } from './dimensions.js';
import type { Standing } from './escalation.js';

/** What the selection of modes depends on. */
export interface SelectInput {
  /** Words of dimensions as they were given: of another meaning, or missing, they are replaced and that is said. */
  context: ContextWords;
  /** What rules of paths say of the artifact; see `standingOf`. */
  standing: Standing;
  /** Named explicitly; empty: by the context where `is_adversarial`, else `standard`. */
  modes: readonly ModeName[];
  strict_order: boolean;
  is_adversarial: boolean;
  /** The artifact is formally reopened. */
  is_revision: boolean;
  iteration: number;
  /** Of the iteration before. */
  previous_score?: number;
  threshold?: number;
  /** Tokens that the session has used already; absent: unknown. */
  session_tokens?: number;
}
