import type { ActionInQuestion } from '../../attention/shapes.js';
import type { DelegatedTask } from './shapes.js';

/**
 * The action of a task for its risk classification; undefined: the runner only answers. What an external agent will do is not known beforehand: its instructions are classified, and it stops by itself at a risky step.
 */
export function actionOf(task: DelegatedTask): ActionInQuestion | undefined {
  const { runner, action, context, clarifications, feedback, scope } = task;
  if (runner === 'answer') return undefined;
  const { argv = [], cwd = '', env = {}, stdin = '' } = action ?? {};
  return {
    ...{ runner, argv, cwd, env, stdin, scope },
    read_only: action?.read_only ?? false,
    idempotency_key: action?.idempotency_key ?? '',
    data: [context, ...clarifications.map(({ answer }) => answer), ...feedback].filter(
      (each) => each !== '',
    ),
  };
}
