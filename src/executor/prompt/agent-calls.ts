import { type ActionPlace, actionId } from '../../prompt/agent/action-ids.js';
import type { ModelCall, TakenMessage } from '../../prompt/agent/transcript.js';
import { resolveName } from '../../task/queue/queue.js';
import { newId } from '../../base/ids.js';
import { readTask } from '../../delegation/task/schema.js';
import { asBusError, BusError, RemoteError } from '../../errors/bus-error.js';
import { fencedData } from '../../model/fenced.js';
import { shortCall } from '../../prompt/agent/agent-steps.js';
import {
  agentTools,
  argumentsFor,
  checkInput,
  delegateInput,
  isAgentTool,
  pushInput,
  readInput,
  receiveInput,
  runInput,
  sendInput,
  type AgentToolName,
} from '../../prompt/agent/agent-tools.js';
import { readEntries, type FilePort, type ToolResult } from '../../prompt/grammar/read-result.js';
import { taskMessages, type QueueAnswer, type QueueRow } from '../../task/requests/messages.js';
import type { ResultMessage } from '../../task/requests/result-message.js';
import type { MessageAnswer } from '../../wire/messages.js';
import { bodyOf } from '../../remote/message-body.js';
import { receiveOne } from '../../remote/receive.js';
import { failureText } from '../../operations/operation.js';
import type { AgentBus } from './agent-bus.js';
import { askIndex } from './index-tools.js';
import { pushParsed, run } from './pushing.js';

/** Of the text of one message, or of one foreign error, that a model sees. */
const messageCharsMax = 64 * 1024;
const inboxRows = 50;
/** Of what came of one task, in the result of another. */
const toldCharsMax = 2_000;

/** What came of a call. */
export interface Called {
  /** As the model reads it. */
  text: string;
  /** Empty: it went well. */
  code: string;
  /** It was not run, because of what the model said. */
  isInvalid: boolean;
  message: TakenMessage | null;
}

export interface CallsParts {
  bus: AgentBus;
  files: FilePort;
  /** Of a push that names none. */
  model: string;
  /** Messages that stand in the history already, by number. */
  isTaken: (message: { seq: number; id: string }) => boolean;
  signal: AbortSignal;
  progress: (summary: string) => void;
}

type Said = string | { text: string; message: TakenMessage };

const invalid: ReadonlySet<string> = new Set(['MODEL_CALL_INVALID', 'TOOL_INPUT']);

/** Runs the tool calls of a model. A failure is an answer, too; foreign text is only data in it. */
export class AgentCalls {
  readonly #parts: CallsParts;

  constructor(parts: CallsParts) {
    this.#parts = parts;
  }

  /** Throws only when the task is over. */
  async call(call: ModelCall, place: ActionPlace): Promise<Called> {
    this.#parts.progress(`${call.name} ${shortCall(call.arguments)}`.slice(0, 200));
    try {
      if (call.invalid !== '')
        throw new BusError('MODEL_CALL_INVALID', { tool: call.name, detail: call.invalid });
      const said = await this.#said(call, place);
      const { text, message } = typeof said === 'string' ? { text: said, message: null } : said;
      return { text, code: '', isInvalid: false, message };
    } catch (error) {
      if (this.#parts.signal.aborted) throw error;
      const { code } = asBusError(error);
      const text = failed(call.name, error);
      return { text, code, isInvalid: invalid.has(code), message: null };
    }
  }

  /** As a call would say it, of a file that the prompt names. */
  async read(path: string): Promise<{ text: string; result: ToolResult }> {
    const [, result] = await readEntries(path, this.#parts.files);
    if (!result.is_error) return { text: fence(`the file ${named(path)}`, result.text), result };
    return { text: failureText(new BusError(result.code, { path })), result };
  }

  /** What comes of the tasks that were started, one after the other; undefined: nothing can come any more. */
  async nextResult(): Promise<{ text: string; message: TakenMessage } | undefined> {
    // An agent that started nothing has nothing to wait for.
    const { rows } = await this.#parts.bus.queue();
    if (rows.every(({ state }) => state === 'queued')) return undefined;
    try {
      const taken = await this.#next('', false, Infinity);
      const { seq, id, from, type } = taken.view;
      const { body } = bodyOf({ type, body: taken.body });
      return { text: toldOf(from, type, body), message: { seq, id, from } };
    } catch (error) {
      if (asBusError(error).code === 'NOBODY_LEFT') return undefined;
      throw error;
    }
  }

  async #said({ name, arguments: given }: ModelCall, place: ActionPlace): Promise<Said> {
    const { bus, signal, progress } = this.#parts;
    if (isAgentTool(name)) return this.#own(name, given, place);
    const told = await askIndex(name, given, { bus, signal, tell: progress });
    if (told !== undefined) return fence(`what the index says (${name})`, told);
    throw new BusError('MODEL_CALL_INVALID', { tool: name, detail: 'there is no such tool' });
  }

  #own(name: AgentToolName, given: unknown, place: ActionPlace): Promise<Said> {
    const { bus } = this.#parts;
    switch (name) {
      case 'push': {
        const its = argumentsFor(name, pushInput, given);
        const { name: called = '', prompt, model = this.#parts.model } = its;
        const timeoutMs = (its.timeout_seconds ?? 0) * 1_000;
        const id = actionId(called || 'task', place);
        return pushParsed(bus, { name: called, prompt, model, timeoutMs, id, toParent: false });
      }
      case 'run': {
        const { count = 0, concurrency = 0 } = argumentsFor(name, runInput, given);
        return run(bus, actionId('run', place), { count, concurrency, timeoutMs: 0 });
      }
      case 'check': {
        const { from = '', lifo } = argumentsFor(name, checkInput, given);
        return this.#receive(from, lifo, 0).catch(nothingThere);
      }
      case 'receive': {
        const { from = '', lifo, wait_seconds } = argumentsFor(name, receiveInput, given);
        return this.#receive(from, lifo, wait_seconds * 1_000);
      }
      case 'send': {
        const { to, message } = argumentsFor(name, sendInput, given);
        return this.#send(to, message, actionId('message', place));
      }
      case 'queue':
        argumentsFor(name, agentTools.queue.input, given);
        return this.#queue();
      case 'inbox':
        argumentsFor(name, agentTools.inbox.input, given);
        return this.#inbox();
      case 'read':
        return this.#read(argumentsFor(name, readInput, given).path);
      case 'delegate':
        return this.#delegate(argumentsFor(name, delegateInput, given), actionId('work', place));
    }
  }

  async #receive(from: string, lifo: boolean, waitMs: number): Promise<Said> {
    const taken = await this.#next(from, lifo, waitMs);
    const { seq, id, from: sender } = taken.view;
    return { text: this.#shown(taken, await this.#known()), message: { seq, id, from: sender } };
  }

  /** A message that does not stand in the history yet. */
  async #next(from: string, lifo: boolean, waitMs: number): Promise<MessageAnswer> {
    const { bus, signal } = this.#parts;
    const untilMs = performance.now() + waitMs;
    // Whose name it is only the manager says: another agent may be called so.
    let isUnknown = from !== '';
    const queueOf = async (): Promise<QueueAnswer> => {
      const queue = await (isUnknown ? bus.queue() : bus.queueNow());
      isUnknown = false;
      return queue;
    };
    for (;;) {
      const taken = await bus.patiently((client) =>
        receiveOne(client, {
          ...{ agent: bus.agent, from, lifo, signal, queueOf },
          waitMs: Math.max(0, untilMs - performance.now()),
        }),
      );
      const { seq, id } = taken.view;
      // It was read, and its settling was lost.
      if (!this.#parts.isTaken({ seq, id })) return taken;
      bus.settle([seq]);
    }
  }

  #shown({ view, body: bytes }: MessageAnswer, queue: QueueAnswer | undefined): string {
    const { body } = bodyOf({ type: view.type, body: bytes });
    const what = `a message from ${whoIs(view.from, queue)} of the type ${named(view.type)}`;
    return fence(what, cut(body));
  }

  async #send(to: string, message: string, id: string): Promise<string> {
    const { bus } = this.#parts;
    // Waited for, too: under an unresolved name it could be stored for a stranger.
    const agent = resolveName(await bus.queue(), to);
    await bus.post(`agent:${agent}`, 'text', Buffer.from(message), id);
    return `Stored for ${agent}.`;
  }

  async #queue(): Promise<string> {
    const { rows, siblings, parent } = await this.#parts.bus.queue();
    const { agent } = this.#parts.bus;
    const others = siblings.filter(({ id }) => id !== agent);
    return [
      rows.length === 0 ? 'Nothing stands in your queue.' : 'Your queue:',
      ...rows.map(rowLine),
      ...(others.length === 0 ? [] : [`Beside you, in the queue of ${parent}:`]),
      ...others.map(rowLine),
    ].join('\n');
  }

  async #inbox(): Promise<string> {
    const { bus } = this.#parts;
    const client = await bus.client();
    const page = await client.mail.inbox({ mailbox: `agent:${bus.agent}`, limit: inboxRows });
    const messages = page.messages.filter((each) => !this.#parts.isTaken(each));
    if (messages.length === 0) return 'Your inbox is empty.';
    const queue = await this.#known();
    const lines = messages.map(({ from, type, bytes, stored_ms }) => {
      const ago = Math.max(0, Math.round((Date.now() - stored_ms) / 1_000));
      return `- from ${whoIs(from, queue)}: ${named(type)}, ${bytes} bytes, ${ago} s ago`;
    });
    return [`${messages.length} wait, oldest first:`, ...lines].join('\n');
  }

  async #read(path: string): Promise<string> {
    const { text, result } = await this.read(path);
    if (result.is_error) throw new BusError(result.code, { path });
    return text;
  }

  async #delegate(given: object, id: string): Promise<string> {
    const task = readTask(given, id);
    // A prompt of a prompt stands in a queue, which says how many and how deep.
    if (task.runner === 'prompt')
      throw new BusError('TOOL_INPUT', { tool: 'delegate', detail: 'runner: push a prompt' });
    const view = await this.#parts.bus.ask(taskMessages.delegate, task);
    return `Task ${view.id} is ${view.state}; its result comes into your inbox.`;
  }

  /** Undefined: no manager says what is in the queue; then names stand for themselves. */
  async #known(): Promise<QueueAnswer | undefined> {
    try {
      return await this.#parts.bus.queueNow();
    } catch (error) {
      if (this.#parts.signal.aborted) throw error;
      return undefined;
    }
  }
}

/** To look and find nothing is no failure. */
function nothingThere(error: unknown): string {
  if (asBusError(error).code === 'INBOX_EMPTY') return 'Nothing is there.';
  throw error;
}

/** One result, or one message, as a part of the result of who waited for it. */
function toldOf(from: string, type: string, body: string): string {
  const short = (text: string): string =>
    text.length <= toldCharsMax ? text : `${text.slice(0, toldCharsMax - 1)}…`;
  if (type !== taskMessages.finished.type) return `- ${from} says: ${short(body)}`;
  const { name, success, result, error } = JSON.parse(body) as ResultMessage;
  const who = name === '' ? from : name;
  if (success) return `- ${who}, done: ${short(result ?? '')}`;
  return `- ${who}, without a result: ${short(error?.text ?? '')} (${error?.code ?? ''})`;
}

/** What a shard says has gone wrong is its own text, and no shorter than it likes. */
function failed(tool: string, error: unknown): string {
  const text = failureText(error);
  if (isAgentTool(tool) || !(error instanceof RemoteError)) return text;
  return fence(`an error that the index gives (${tool})`, cut(text));
}

function cut(text: string): string {
  const over = text.length - messageCharsMax;
  return over <= 0 ? text : `${text.slice(0, messageCharsMax)}\n… ${over} more characters`;
}

/** Under an unpredictable mark. */
function fence(what: string, data: string): string {
  return fencedData(newId('data'), what, data);
}

/** Of what others chose, beside our own words. */
function named(text: string): string {
  const plain = text.replace(/[^\w./@: -]/g, '?');
  return plain.length <= 200 ? plain : `${plain.slice(0, 199)}…`;
}

function whoIs(id: string, queue: QueueAnswer | undefined): string {
  const row = [...(queue?.rows ?? []), ...(queue?.siblings ?? [])].find((each) => each.id === id);
  if (row !== undefined) return row.name === '' ? id : `${row.name} (${id})`;
  return id === queue?.parent ? `parent (${id})` : id;
}

function rowLine({ id, name, status, state }: QueueRow): string {
  return `- ${name || id}: ${status} (${state})${name === '' ? '' : `, id ${id}`}`;
}
