import type { CritiqueRequest } from '../shapes.js';
import type { ModeName } from '../strategies.js';
import type { ContextWords } from './dimensions.js';
import type { Standing } from './escalation.js';

/** What the selection of modes depends on. */
export interface SelectInput extends Pick<
  CritiqueRequest,
  'strict_order' | 'is_adversarial' | 'is_revision' | 'iteration' | 'previous_score' | 'threshold'
> {
  context: ContextWords;
  /** What rules of paths say of the artifact; see `standingOf`. */
  standing: Standing;
  modes: readonly ModeName[];
  /** Tokens that the session has used already; absent: unknown. */
  session_tokens?: number;
}
