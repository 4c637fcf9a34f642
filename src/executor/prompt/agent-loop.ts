import { type ActionPlace, actionId } from '../../prompt/agent/action-ids.js';
import {
  type AgentProgress,
  type ModelCall,
  afterEntry,
  afterPause,
  assertRoom,
  callsIn,
  lastTextIn,
  messagesOf,
  progressAfter,
  spentIn,
  takenIn,
  turnsIn,
  type Entry,
} from '../../prompt/agent/transcript.js';
import { type Outcome, outcome } from '../../delegation/worker/runner-outcome.js';
import { pauseAfter } from '../../prompt/retry-policy.js';
import { systemClock } from '../../base/clock.js';
import { pause } from '../../base/pause.js';
import { answer } from '../../delegation/worker/extractive-answer.js';
import type { Gathered, Pgc } from '../../delegation/grounding/gathered.js';
import { failureOf } from '../../delegation/worker/task-response.js';
import {
  evidenceLimits,
  responseLimits,
  type DelegatedTask,
  type TaskFailure,
} from '../../delegation/task/shapes.js';
import { withStrategy } from '../../delegation/manager/strategy.js';
import { asBusError, BusError, type Failure } from '../../errors/bus-error.js';
import { Budget, type BudgetLevel } from '../../model/budget.js';
import type { Chat } from '../../model/chat.js';
import type { ToolCall } from '../../model/conversation.js';
import { filled, textOf } from '../../model/texts.js';
import type { AgentEffect } from '../../prompt/agent/agent.machine.js';
import { doneLines, shortCall, stepsOf } from '../../prompt/agent/agent-steps.js';
import { toolsAt } from '../../prompt/agent/agent-tools.js';
import { accountOf, needsModel, undoneText, unreadIn } from '../../prompt/agent/account.js';
import { isOnlyAsked } from '../../base/asked.js';
import type { Command, Prompt } from '../../prompt/grammar/shapes.js';
import type { AgentBus } from './agent-bus.js';
import type { AgentCalls } from './agent-calls.js';
import type { History } from './history.js';
import { indexTools } from './index-tools.js';
import { push, run } from './pushing.js';

/** Of what a model had said when its answer broke off. */
const brokenCharsMax = 16_000;
/** Of a name that a model made up, when it is repeated. */
const callNameChars = 64;

export interface LoopParts {
  task: DelegatedTask;
  attempt: number;
  parent: string;
  prompt: Prompt;
  /** The content, with what belongs to it. */
  content: string;
  tokensMax: number;
  /** Null: there is no language model. */
  chat: Pick<Chat, 'converse'> | null;
  pgc: Pgc | null;
  gathered: Gathered | null;
  history: History;
  bus: AgentBus;
  calls: AgentCalls;
  signal: AbortSignal;
  progress: (summary: string) => void;
}

const noModel =
  'No language model is configured here: this is what the index says, and nothing more.';

/** What the index warns of: that nothing clearly answers, what was left out. */
function doubtsOf(gathered: Gathered | null): string {
  return (gathered?.warnings ?? []).map((each) => `Note: ${each}`).join('\n');
}

/** Entries without the time, which they are given when they are written. */
type Happened = Entry extends infer E ? (E extends Entry ? Omit<E, 'at_ms'> : never) : never;

/**
 * The conversation of one agent, from wherever it is: the machine says what is due, what came of it is written down, and
 * only then the next is done. What is done twice after a crash has the same id as before.
 */
export class AgentLoop {
  readonly #parts: LoopParts;
  /** Of the answer that is coming. */
  #streamed = '';
  #budget: Budget;

  constructor(parts: LoopParts) {
    this.#parts = parts;
    this.#budget = new Budget(parts.tokensMax, spentIn(parts.history.entries));
  }

  /** Throws RECORD_DAMAGED, STORE_UNAVAILABLE, CANCELLED when the signal is given: see `stopped`. */
  async run(): Promise<Outcome> {
    const { history, signal, bus } = this.#parts;
    bus.settle([...takenIn(history.entries).keys()]);
    let now = this.#begin();
    while (now.effect.type !== 'end') {
      if (now.effect.type === 'pause') {
        await pause(systemClock, now.effect.ms, signal);
        this.#assertWanted();
        now = afterPause(now);
        continue;
      }
      const happened = await this.#untilStopped(this.#perform(now.effect));
      const entry: Entry = { at_ms: systemClock.nowMs(), ...happened };
      await history.append(entry);
      if ((entry.kind === 'result' || entry.kind === 'gathered') && entry.message !== null)
        bus.settle([entry.message.seq]);
      now = afterEntry(now, entry);
    }
    return this.#ended(now.effect);
  }

  /** The part that exists of a stopped one. */
  stopped(): Outcome {
    return this.#failed(new BusError('CANCELLED').toFailure(), this.#streamed);
  }

  #begin(): AgentProgress {
    const { prompt, history, task, attempt } = this.#parts;
    const { setup, teardown, content } = prompt;
    const input = { commands: setup.length, teardown: teardown.length, hasContent: content !== '' };
    try {
      return progressAfter(input, history.entries);
    } catch (cause) {
      const detail = 'its entries do not follow from one another';
      throw new BusError(
        'RECORD_DAMAGED',
        { key: `history/${task.id}/${attempt}`, detail },
        { cause },
      );
    }
  }

  async #perform(effect: Exclude<AgentEffect, { type: 'pause' | 'end' }>): Promise<Happened> {
    const { prompt, chat } = this.#parts;
    switch (effect.type) {
      case 'begin':
        return { kind: 'begin', hasModel: chat !== null };
      case 'command.do':
        return this.#command('setup', effect.place, prompt.setup[effect.place]);
      case 'teardown.do':
        return this.#command('teardown', effect.place, prompt.teardown[effect.place]);
      case 'model.ask':
        return this.#ask(effect.tries);
      case 'call.do':
        return this.#call(effect.at);
      case 'result.await':
        return this.#gather();
      case 'index.ask':
        return isOnlyAsked(prompt.content) ? this.#askIndex() : this.#undone();
    }
  }

  async #command(
    kind: 'setup' | 'teardown',
    at: number,
    command: Command | undefined,
  ): Promise<Happened> {
    if (command === undefined) throw new BusError('INTERNAL', { detail: `no command ${at}` });
    const { calls, progress } = this.#parts;
    const { command: name } = command;
    const shown = asToolOf(command);
    const its = { kind, name, arguments: shown } as const;
    progress(`${name} ${shortCall(shown)}`.slice(0, 200));
    if (command.command === 'read') {
      const { text, result } = await calls.read(command.path);
      const failure = result.is_error
        ? { code: result.code, text: result.text, retryable: false }
        : null;
      return { ...its, text, failure };
    }
    try {
      return { ...its, text: await this.#queue(command, this.#place(kind, at)), failure: null };
    } catch (error) {
      this.#assertWanted();
      const failure = asBusError(error).toFailure();
      return { ...its, text: failure.text, failure };
    }
  }

  #queue(command: Exclude<Command, { command: 'read' }>, place: ActionPlace): Promise<string> {
    const { bus, task } = this.#parts;
    if (command.command === 'run') return run(bus, actionId('run', place), command);
    const { name, prompt, model, timeoutMs } = command;
    return push(bus, {
      ...{ name, prompt, timeoutMs, model: model || task.model },
      ...{ id: actionId(name || 'task', place), toParent: place.step === 'teardown' },
    });
  }

  async #ask(tries: number): Promise<Happened> {
    const { chat, content, history, task, tokensMax, signal, progress } = this.#parts;
    const { entries } = history;
    const spent = spentIn(entries);
    this.#budget = new Budget(tokensMax, spent);
    this.#streamed = '';
    progress(`asking the model, turn ${turnsIn(entries) + 1}`);
    try {
      if (chat === null)
        throw new BusError('NO_RUNNER', {
          runner: 'prompt',
          detail: 'it began with a language model',
        });
      assertRoom(task.id, entries, history.bytes);
      const { level } = this.#budget;
      const said = await chat.converse(messagesOf(this.#system(level), content, entries), {
        ...{ signal, budget: this.#budget, tools: toolsAt(level, indexTools) },
        onDelta: (delta) => {
          if (delta.kind === 'text') this.#streamed += delta.text;
        },
      });
      const isLast = level === 'EXHAUST';
      if (isLast && said.text.trim() === '')
        throw new BusError('MODEL_BUDGET_SPENT', { spent: this.#budget.spent, max: tokensMax });
      const calls = isLast ? [] : said.calls.map(saidCall);
      const tokens = this.#budget.spent - spent;
      return { kind: 'answer', text: said.text, calls, tokens, isLast };
    } catch (error) {
      this.#assertWanted();
      const failure = asBusError(error).toFailure();
      const text = this.#streamed.slice(0, brokenCharsMax);
      const tokens = this.#budget.spent - spent;
      return { kind: 'mishap', text, tokens, failure, pauseMs: pauseAfter(failure, tries) };
    }
  }

  #system(level: BudgetLevel): string {
    const { task, parent } = this.#parts;
    const who = filled('agent', { id: task.id, parent });
    if (level === 'FULL') return who;
    return `${who}\n\n${textOf(level === 'CONST' ? 'agent-ending' : 'agent-last').text}`;
  }

  async #call(at: number): Promise<Happened> {
    const { history, calls } = this.#parts;
    const call = callsIn(history.entries)[at];
    if (call === undefined) throw new BusError('INTERNAL', { detail: `no call ${at}` });
    const came = await calls.call(call, this.#place(turnsIn(history.entries), at));
    const { id: callId, name } = call;
    return { kind: 'result', callId, name, told: shortCall(call.arguments), ...came };
  }

  async #gather(): Promise<Happened> {
    const { calls, progress } = this.#parts;
    progress('waiting for the tasks that it started');
    const { text, message } = (await calls.nextResult()) ?? { text: '', message: null };
    return { kind: 'gathered', text, message };
  }

  /** Without a model: the work is not done, and what there is of it is told. */
  #undone(): Happened {
    const { prompt, history } = this.#parts;
    const failure = new BusError('NOT_DONE', { why: needsModel }).toFailure();
    return { kind: 'index', text: undoneText(prompt, history.entries), gathered: null, failure };
  }

  /** Without a model: what the index says, with its places. */
  async #askIndex(): Promise<Happened> {
    const { task, prompt, pgc, gathered, history, progress } = this.#parts;
    progress('asking the index');
    try {
      // A prompt says of itself how it is grounded; the index is asked in any case.
      const kind = task.kind || 'question';
      const question = withStrategy({ ...task, kind, task: prompt.content });
      const said = await answer(question, gathered, pgc);
      const [failed] = said.errors;
      if (said.kind === 'failed' && failed !== undefined)
        return { kind: 'index', text: '', gathered: said.gathered, failure: failed };
      const text = [
        noModel,
        doubtsOf(said.gathered),
        accountOf(history.entries).join('\n'),
        said.kind === 'asked' ? said.question : said.result,
        sourceLines(said.gathered),
      ];
      return {
        ...{ kind: 'index', text: text.filter(Boolean).join('\n\n') },
        ...{ gathered: said.gathered, failure: null },
      };
    } catch (error) {
      this.#assertWanted();
      const failure = asBusError(error).toFailure();
      return { kind: 'index', text: '', gathered: null, failure };
    }
  }

  #ended({ isWell, code }: Extract<AgentEffect, { type: 'end' }>): Outcome {
    const { entries } = this.#parts.history;
    if (!isWell) return this.#failed(failureIn(entries, code), '');
    const said = lastTextIn(entries);
    const steps = this.#steps('finished');
    const answered = said !== '' ? said : `There was nothing to answer. Done:\n${doneLines(steps)}`;
    // The answer of the index gives its account itself.
    const isTold = entries.some(({ kind }) => kind === 'index');
    const account = said === '' ? accountOf(entries) : unreadIn(entries);
    const result = [answered, isTold ? '' : account.join('\n')].filter(Boolean).join('\n\n');
    return outcome('finished', { result, steps, ...this.#cost() });
  }

  /** The result is the last message and the actions so far. */
  #failed(failure: Failure, streamed: string): Outcome {
    const { entries } = this.#parts.history;
    const { code, text, retryable } = failure;
    const steps = this.#steps(`${code}: ${text}`);
    const said = streamed.trim() !== '' ? streamed : lastTextIn(entries);
    const done = code === 'NOT_DONE' ? '' : doneLines(steps);
    const result = [said, done === '' ? '' : `Done until then:\n${done}`];
    const errors: TaskFailure[] = [
      { code, text: text.slice(0, responseLimits.textChars), retryable },
    ];
    return outcome('failed', {
      ...{ result: result.filter(Boolean).join('\n\n'), reason: code, errors, steps },
      ...this.#cost(),
    });
  }

  #cost(): Pick<Outcome, 'tokens' | 'gathered'> {
    const { entries } = this.#parts.history;
    const index = entries.findLast(({ kind }) => kind === 'index');
    const gathered = index?.kind === 'index' ? index.gathered : null;
    // Of a request that was broken off nothing is on disk.
    return { tokens: Math.max(spentIn(entries), this.#budget.spent), gathered };
  }

  #steps(end: string): Outcome['steps'] {
    const { prompt, history } = this.#parts;
    const last = { at_ms: systemClock.nowMs(), what: 'end', text: end };
    return stepsOf(prompt.content, history.entries, last);
  }

  #place(step: ActionPlace['step'], at: number): ActionPlace {
    const { task, attempt } = this.#parts;
    return { task: task.id, attempt, step, at };
  }

  #assertWanted(): void {
    if (this.#parts.signal.aborted) throw new BusError('CANCELLED');
  }

  /** At once; what was on its way has its id, or gives back what it took. */
  async #untilStopped<T>(work: Promise<T>): Promise<T> {
    const { signal } = this.#parts;
    this.#assertWanted();
    let stop = (): void => undefined;
    const stopped = new Promise<never>((_, reject) => {
      stop = () => reject(new BusError('CANCELLED'));
      signal.addEventListener('abort', stop, { once: true });
    });
    // After a stop its end interests no caller.
    work.catch(() => undefined);
    try {
      return await Promise.race([work, stopped]);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }
}

function sourceLines(gathered: Gathered | null): string {
  const citations = (gathered?.citations ?? []).slice(0, evidenceLimits.citations);
  const lines = citations.map(
    ({ file_path, line_start, line_end, overlay }) =>
      `- ${file_path}:${line_start}-${line_end} (${overlay})`,
  );
  return lines.length === 0 ? '' : ['Sources:', ...lines].join('\n');
}

/** As the conversation repeats it: endpoints refuse invalid names. */
function saidCall({ id, name, arguments: its, error }: ToolCall): ModelCall {
  const plain = name.slice(0, callNameChars).replace(/[^\w-]/g, '_') || 'unnamed';
  const detail = error?.data.detail;
  return { id, name: plain, arguments: its, invalid: error === undefined ? '' : String(detail) };
}

function failureIn(entries: readonly Entry[], code: string): Failure {
  const last = entries.at(-1);
  if (last !== undefined && 'failure' in last && last.failure?.code === code) return last.failure;
  if (code !== 'MODEL_CALL_INVALID' || last?.kind !== 'result') return failureOf(code);
  const detail = 'as all that it called in several answers in a row';
  return new BusError('MODEL_CALL_INVALID', { tool: last.name, detail }).toFailure();
}

/** The arguments with which a model would call the tool of that name. */
function asToolOf(command: Command): Record<string, unknown> {
  const { command: _command, line: _line, column: _column, ...given } = command;
  const named = Object.entries(given).map(([key, value]): [string, unknown] =>
    key === 'timeoutMs' ? ['timeout_seconds', Number(value) / 1_000] : [key, value],
  );
  return Object.fromEntries(named.filter(([, value]) => value !== '' && value !== 0));
}
