import { runners, taskLimits, type Assignment } from './shapes.js';

/** Task and attempt of an assignment, so that a malformed one can be refused; undefined: even these are missing. */
export function idsOf(assignment: Assignment): { task: string; attempt: number } | undefined {
  const task = (assignment.task as Assignment['task'] | null)?.id ?? '';
  const { attempt } = assignment;
  return isId(task) && attempt > 0 ? { task, attempt } : undefined;
}

/** Why the assignment is malformed; empty: it is well formed. A decoded message may lack fields that its type has. */
export function objectionTo({ task, until_ms }: Assignment): string {
  const { action, runner, grounding, limits } = task;
  if (task.task.trim() === '') return 'task.task is empty';
  const charsMax = runner === 'prompt' ? taskLimits.promptChars : taskLimits.taskChars;
  if (task.task.length > charsMax) return 'task.task is too long';
  if (!runners.includes(runner)) return `task.runner: there is no runner "${runner as string}"`;
  if (runner === 'command' && (action === null || action.argv.length === 0))
    return 'task.action: the runner command needs one';
  if (action !== null && action.argv.some((each) => each.includes('\0')))
    return 'task.action.argv holds a NUL';
  if ((limits as typeof limits | null) === null || limits.timeout_ms <= 0)
    return 'task.limits.timeout_ms is missing';
  if (until_ms <= 0) return 'until_ms is missing';
  const hints =
    grounding === null ? 0 : grounding.query_hints.length + grounding.analysis_hints.length;
  return hints > 2 * taskLimits.hints ? 'task.grounding has too many hints' : '';
}

function isId(text: string): boolean {
  return text !== '' && text.length <= taskLimits.idChars && /^[a-z0-9][a-z0-9_-]*$/.test(text);
}
