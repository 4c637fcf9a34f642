import type { ActionInQuestion } from '../../attention/shapes.js';
import type { DelegatedTask } from './shapes.js';

/**
 * What a task would do, as its risk is judged; undefined: it can do nothing but answer. What an agent of somebody else will
 * do is not known beforehand: only what it is told is judged, and it stops by itself.
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
