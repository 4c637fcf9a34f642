import { type Outcome, outcome } from '../../delegation/worker/runner-outcome.js';
import { newId } from '../../base/ids.js';
import type { Config } from '../../config/config.js';
import { promptOf } from '../../delegation/worker/task-prompt.js';
import type { DelegatedTask } from '../../delegation/task/shapes.js';
import { asBusError } from '../../errors/bus-error.js';
import type { FilePort } from '../../prompt/grammar/read-result.js';
import { parsePrompt } from '../../prompt/grammar/parse.js';
import type { Prompt } from '../../prompt/grammar/shapes.js';
import { progressLine } from '../../prompt/agent/agent-steps.js';
import { takenIn } from '../../prompt/agent/transcript.js';
import type { Store } from '../../store/port.js';
import { openClient } from '../../remote/open-client.js';
import { FilesBelow } from '../../pgc/source/files-below.js';
import { withShipped } from '../../prompt/shipped-files.js';
import { AgentBus } from '../prompt/agent-bus.js';
import { systemClock } from '../../base/clock.js';
import { openHistory } from '../prompt/history.js';
import type { Runner, Turn } from './runner.js';

export const tokensDefault = 200_000;
/** Of an agent that a task is. It has no right that others have not. */
const taskRole = 'task';

export interface PromptSettings {
  config: Config;
  /** Of the executor: conversations stand there as long as their assignments. */
  store: Store;
  /** Folder that may be read; undefined: none. */
  root: string | undefined;
  env: NodeJS.ProcessEnv;
}

/**
 * A prompt: its commands, its content by a language model with tools, and what is to be done after it. The task is an agent
 * of its own on the bus, called by its id.
 */
export function promptRunner(settings: PromptSettings): Runner {
  return async (turn) => {
    try {
      const prompt = parsePrompt(turn.task.task);
      return await converse(settings, turn, prompt);
    } catch (error) {
      const { code, message: text, retryable } = asBusError(error);
      return outcome('failed', { reason: code, errors: [{ code, text, retryable }] });
    }
  };
}

/** Throws what keeps it from being begun or gone on with: RECORD_DAMAGED, STORE_UNAVAILABLE. */
async function converse(
  { config, store, root, env }: PromptSettings,
  turn: Turn,
  prompt: Prompt,
): Promise<Outcome> {
  const { task, attempt, signal, parent, pgc, gathered } = turn;
  // What it needs is read when a prompt is run: most executors of most tasks never do.
  const [{ AgentCalls }, { AgentLoop }] = await Promise.all([
    import('../prompt/agent-calls.js'),
    import('../prompt/agent-loop.js'),
  ]);
  const history = await openHistory(store, {
    ...{ task: task.id, attempt, clock: systemClock, until: signal },
  });
  const progress = (doing: string): void => turn.progress(progressLine(doing, history.entries));
  const identity = { agent: task.id, role: taskRole, isEphemeral: false };
  await using bus = new AgentBus({
    ...{ agent: task.id, signal },
    open: () => openClient(config, identity),
  });
  const isTaken = ({ seq, id }: { seq: number; id: string }): boolean =>
    takenIn(history.entries).get(seq) === id;
  const files = await filesOf(root);
  const calls = new AgentCalls({ bus, files, model: task.model, isTaken, signal, progress });
  const loop = new AgentLoop({
    ...{ task, attempt, parent, prompt, history, bus, calls, signal, progress, pgc, gathered },
    content: contentOf(turn, prompt.content),
    tokensMax: task.limits.tokens || (config.model?.tokensPerTask ?? tokensDefault),
    chat: await chatFor(config, task, env),
  });
  try {
    // Visible from the beginning: agents that wait for it see that it is there.
    await bus.client();
    return await loop.run();
  } catch (error) {
    if (!signal.aborted) throw error;
    return loop.stopped();
  }
}

/** Tries are counted by the conversation, which survives this process: the client of the endpoint makes none of its own. */
async function chatFor({ model }: Config, task: DelegatedTask, env: NodeJS.ProcessEnv) {
  if (model === undefined) return null;
  const { Chat } = await import('../../model/chat.js');
  const settings = { ...model, model: task.model || model.model };
  return new Chat(settings, { env, retries: 0 });
}

async function filesOf(root: string | undefined): Promise<FilePort> {
  return withShipped(root === undefined ? undefined : await FilesBelow.of(root));
}

/** The content as it stands; with what else the task says, where it says more. */
function contentOf(turn: Turn, content: string): string {
  const { task, gathered, conflicts, earlier } = turn;
  const { acceptance_criteria, context, clarifications, feedback } = task;
  const lists = [acceptance_criteria, clarifications, feedback, conflicts];
  const isPlain = lists.every(({ length }) => length === 0) && context === '' && gathered === null;
  if (isPlain) return content;
  const mark = newId('data');
  return promptOf({ ...task, task: content }, { gathered, conflicts, earlier, mark }).text;
}
