import { readTask } from '../../../src/delegation/task/schema.js';
import { parsePrompt } from '../../../src/prompt/grammar/parse.js';
import type { PushCommand, RunCommand } from '../../../src/prompt/grammar/shapes.js';
import { taskMessages } from '../../../src/task/requests/messages.js';
import type { AgentBus } from './agent-bus.js';

/** What is pushed, under an id that follows from where it is pushed. */
export interface Pushed extends Omit<PushCommand, 'command' | 'line' | 'column'> {
  id: string;
  toParent: boolean;
}

/** Answers in words. Throws TASK_INVALID, and what the manager refuses it with: NAME_TAKEN, SPAWN_DEPTH, QUEUE_FULL, … */
export async function push(bus: AgentBus, pushed: Pushed): Promise<string> {
  const { id, name, prompt, model, timeoutMs, toParent } = pushed;
  const limits = timeoutMs > 0 ? { limits: { timeout_ms: timeoutMs } } : {};
  const task = readTask({ task: prompt, runner: 'prompt', name, model, ...limits }, id);
  const view = await bus.ask(taskMessages.push, { owner: '', task, to_parent: toParent });
  const whose = toParent ? "the parent's queue" : 'your queue';
  return `${view.task.name || view.id} stands in ${whose} as ${view.id}.`;
}

/** The same of what a model made up. Throws PROMPT_INVALID, TOO_LARGE before anything is sent. */
export function pushParsed(bus: AgentBus, pushed: Pushed): Promise<string> {
  parsePrompt(pushed.prompt);
  return push(bus, pushed);
}

/** Answers in words. Started once under its key. */
export async function run(
  bus: AgentBus,
  key: string,
  { count, concurrency, timeoutMs }: Pick<RunCommand, 'count' | 'concurrency' | 'timeoutMs'>,
): Promise<string> {
  const asked = { owner: '', count, concurrency, timeout_ms: timeoutMs, key, supervised: false };
  const { started, queued, running } = await bus.ask(taskMessages.run, asked);
  const which = started.length === 0 ? '' : `: ${started.join(', ')}`;
  return `${started.length} started${which}. ${queued} queued, ${running} running.`;
}
