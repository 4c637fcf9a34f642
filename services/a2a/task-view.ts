import { Role, TaskState, type Artifact, type Message, type Part, type Task } from '@a2a-js/sdk';
import { answerTokens } from '../../src/operations/bounds.js';
import { replied } from '../../src/operations/operation.js';
import { outcome } from '../../src/operations/tasks/tasks.js';
import { isAsking, isOver } from '../../src/remote/tasks.js';
import type { TaskView } from '../../src/task/requests/messages.js';

/** Between the context of a task and its own part of its id: the context need not be kept anywhere else. */
const ownIdChars = 20;

export function taskIdOf(context: string, own: string): string {
  return `${context}-${own.slice(0, ownIdChars)}`;
}

export function contextOf({ id }: Pick<TaskView, 'id'>): string {
  return id.slice(0, -ownIdChars - 1);
}

const ends: Readonly<Record<string, TaskState>> = {
  completed: TaskState.TASK_STATE_COMPLETED,
  cancelled: TaskState.TASK_STATE_CANCELED,
};

export function stateOf(view: TaskView): TaskState {
  if (isOver(view)) return ends[view.state] ?? TaskState.TASK_STATE_FAILED;
  if (isAsking(view)) return TaskState.TASK_STATE_INPUT_REQUIRED;
  return view.attempt === 0 ? TaskState.TASK_STATE_SUBMITTED : TaskState.TASK_STATE_WORKING;
}

/** `historyLength` absent: all that was said. */
export function taskOf(view: TaskView, historyLength = Infinity): Task {
  const said = historyOf(view);
  return {
    id: view.id,
    contextId: contextOf(view),
    status: statusOf(view),
    artifacts: artifactsOf(view),
    history: historyLength === 0 ? [] : said.slice(-Math.min(historyLength, said.length)),
    metadata: { sigmaState: view.state, assignedTo: view.assigned_to },
  };
}

export function statusOf(view: TaskView): NonNullable<Task['status']> {
  const { state, asks, error, progress, updated_ms } = view;
  const told = [asks && `${asks} ${whoDecides(view)}`, error && `${error.code}: ${error.text}`];
  const words = told.find(Boolean) || progress || state;
  return {
    state: stateOf(view),
    timestamp: new Date(updated_ms).toISOString(),
    message: messageOf(view, `status-${view.revision}`, Role.ROLE_AGENT, words),
  };
}

/** An answer is for who delegated; a decision is for a person. */
function whoDecides({ id, may }: TaskView): string {
  return may.includes('answer') ? '' : `(a person decides: sigma task review ${id})`;
}

/** The result in words, and what proves it. */
export function artifactsOf(view: TaskView): Artifact[] {
  if (!isOver(view) || view.response === null) return [];
  const { result, ...its } = replied(outcome(view), answerTokens.max).structured;
  return [
    {
      ...{ artifactId: 'result', name: 'result', description: '' },
      parts: [...(result === '' ? [] : [textPart(String(result))]), dataPart(its)],
      ...{ metadata: undefined, extensions: [] },
    },
  ];
}

function historyOf(view: TaskView): Message[] {
  const { task, clarifications } = view.task;
  const said: [Role, string][] = [
    [Role.ROLE_USER, task],
    ...clarifications.flatMap(({ question, answer }): [Role, string][] => [
      [Role.ROLE_AGENT, question],
      [Role.ROLE_USER, answer],
    ]),
  ];
  return said.map(([role, words], at) => messageOf(view, `said-${at}`, role, words));
}

function messageOf(view: TaskView, own: string, role: Role, words: string): Message {
  return {
    ...{ messageId: `${view.id}-${own}`, contextId: contextOf(view), taskId: view.id, role },
    parts: [textPart(words)],
    ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
  };
}

export function textPart(value: string): Part {
  const content = { $case: 'text', value } as const;
  return { content, metadata: undefined, filename: '', mediaType: 'text/markdown' };
}

export function dataPart(value: object): Part {
  const content = { $case: 'data', value } as const;
  return { content, metadata: undefined, filename: '', mediaType: 'application/json' };
}
