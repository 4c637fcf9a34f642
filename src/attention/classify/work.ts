import { attentionLimits } from '../shapes.js';

/** What of one action is looked at, counted in steps and not in time: the same action has the same answer on any machine. */

/** `chars`: of all texts that are parsed; `words`: of all commands; `steps`: expansions, substitutions, alternatives. */
export type WorkKind = 'chars' | 'words' | 'steps';

export class Work {
  readonly spent: Record<WorkKind, number> = { chars: 0, words: 0, steps: 0 };

  /** False: beyond the limit; the caller goes no further. */
  spend(kind: WorkKind, count: number): boolean {
    this.spent[kind] += count;
    return this.spent[kind] <= attentionLimits[kind];
  }
}
