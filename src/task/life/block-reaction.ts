import type { DelegatedTask } from '../../delegation/task/shapes.js';

/** What a manager does by itself about a task that a worker could not ground. `ask`: nothing; a person has to. */
export type Reaction = 'reassign' | 'regenerate' | 'relax' | 'ask';

export interface Block {
  task: DelegatedTask;
  /** What was done about it before; nothing is tried twice. */
  tried: readonly string[];
  /** There are workers that did not fail at it yet. */
  hasOthers: boolean;
}

/** In this order, as far as they apply and were not tried. */
const reactionsByReason: Readonly<Record<string, readonly Reaction[]>> = {
  // The PGC of this worker, or its way to it.
  PGC_FAILED: ['reassign', 'regenerate', 'relax'],
  OVERLAYS_MISSING: ['regenerate', 'reassign', 'relax'],
};

/**
 * Nothing is relaxed that somebody insisted on: evidence that was asked for in so many words, or a task on which much
 * hangs (C3, C4). What else blocks a task (an outcome that is not known, a dependency that failed) only a person resolves.
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
