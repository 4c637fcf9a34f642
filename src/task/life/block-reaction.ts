import type { DelegatedTask } from '../../delegation/task/shapes.js';

/** What a manager does about a task that a worker could not ground. `ask`: it asks a person. */
export type Reaction = 'reassign' | 'regenerate' | 'relax' | 'ask';

export interface Block {
  task: DelegatedTask;
  /** Reactions that were tried before; none is tried twice. */
  tried: readonly string[];
  /** Other workers are there that did not fail at it yet. */
  hasOthers: boolean;
}

/** By error code, in the order in which they are tried. */
const reactionsByReason: Readonly<Record<string, readonly Reaction[]>> = {
  // The PGC of this worker fails, or the connection to it.
  PGC_FAILED: ['reassign', 'regenerate', 'relax'],
  OVERLAYS_MISSING: ['regenerate', 'reassign', 'relax'],
};

/**
 * Evidence is not given up where the task requires it explicitly or is critical (C3, C4). Other blocks (an unknown outcome, a failed dependency) only a person resolves.
 */
export function reactionToBlock(reason: string, { task, tried, hasOthers }: Block): Reaction {
  const { grounding, criticality } = task;
  const isCritical = criticality === 'C3' || criticality === 'C4';
  const applies: Readonly<Record<Reaction, boolean>> = {
    reassign: hasOthers,
    regenerate: (grounding?.overlay_hints.length ?? 0) > 0,
    relax: grounding !== null && grounding.evidence_required !== true && !isCritical,
    ask: true,
  };
  const order = reactionsByReason[reason] ?? [];
  return order.find((each) => applies[each] && !tried.includes(each)) ?? 'ask';
}
