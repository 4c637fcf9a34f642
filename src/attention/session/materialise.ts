import { isOnlyAsked } from '../../base/asked.js';
import { sessionLimits, type Draft, type Prior, type Route } from './shapes.js';

/** What there is to make tasks of. */
export interface Materials {
  /** `C.tasks`: what the list holds and the caller gave. */
  tasks: readonly Draft[];
  prior: Prior | null;
  args: string;
  /** Sub-A0 was no mere passing through. */
  isFired: boolean;
}

export interface Materialised {
  route: Route;
  /** Of a conflict none: a person chooses between the two. */
  drafts: Draft[];
  /** `C.tasks`, and what was made of a prior protocol or of the arguments. */
  found: Draft[];
  proposed: Draft[];
}

/**
 * How tasks come to be, and with how many confirmations: the more is known, the fewer. Source: MATERIALIZATION ROUTING.
 * Tasks of the list are adopted (0), against the output of a protocol they are a conflict (1), that output alone crosses a
 * boundary (1), arguments that Sub-A0 has verified go on (0), others are confirmed (1).
 */
export function materialised({ tasks, prior, args, isFired }: Materials): Materialised {
  const found = [...tasks];
  if (found.length > 0 && prior === null)
    return { route: 'resume', drafts: found, found, proposed: [] };
  const proposed = prior === null ? tasksIn(args, 'task') : tasksOfPrior(prior);
  if (found.length > 0) return { route: 'conflict', drafts: [], found, proposed };
  const route = prior === null ? (isFired ? 'auto_proceed' : 'confirm') : 'confirm_boundary';
  return { route, drafts: proposed, found, proposed };
}

/** Of a conflict. Source: conflict Qc: resume(C.tasks) | refresh(C.prior) | merge. */
export const conflictChoices = ['resume', 'refresh', 'merge'] as const;
export type ConflictChoice = (typeof conflictChoices)[number];

export function resolved(
  choice: ConflictChoice,
  { found, proposed }: Pick<Materialised, 'found' | 'proposed'>,
): Draft[] {
  if (choice === 'resume') return found;
  if (choice === 'refresh') return proposed;
  const known = new Set(found.map(saidOf));
  const more = proposed.filter((each) => !known.has(saidOf(each)));
  return distinct([...found, ...more]).slice(0, sessionLimits.tasks);
}

function tasksOfPrior({ tasks, text }: Prior): Draft[] {
  return tasks.length > 0 ? tasks : tasksIn(text, 'prior');
}

const item = /^\s{0,8}(?:[-*•]|\d{1,3}[.)])\s+(?:\[[ xX]?\]\s*)?(?<words>\S.*)$/u;

/** The items of a list, if the text holds one; else all of it as one task. Nothing is made up. */
export function tasksIn(text: string, prefix: string): Draft[] {
  if (text.trim() === '') return [];
  const items = text.split('\n').flatMap((line) => item.exec(line)?.groups?.words?.trim() ?? []);
  const all = items.length > 0 ? items : [text.trim()];
  return all.slice(0, sessionLimits.tasks).map((said, at) => {
    const task = said.slice(0, sessionLimits.argsChars);
    // Of more than a task may say the rest stands beside it.
    // Words ask, or order a change, as they do for `sigma delegate`.
    const words = isOnlyAsked(task)
      ? { task, kind: 'question' }
      : { task, kind: 'simple_refactor', runner: 'agent' };
    const document = task === said ? words : { ...words, context: said };
    return { id: `${prefix}-${at + 1}`, role: '', document };
  });
}

/** Two of one name would be one entry of the list. */
function distinct(drafts: readonly Draft[]): Draft[] {
  const ids = new Set<string>();
  return drafts.map((draft) => {
    let { id } = draft;
    for (let n = 2; ids.has(id); n += 1) id = `${draft.id}-${n}`;
    ids.add(id);
    return { ...draft, id };
  });
}

function saidOf({ document }: Draft): string {
  const { task } = document;
  return typeof task === 'string' ? task.trim() : '';
}
