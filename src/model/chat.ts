import OpenAI, { APIConnectionError, APIError, APIUserAbortError } from 'openai';
import type { ChatCompletion } from 'openai/resources';
import { systemClock, type Clock } from '../base/clock.js';
import { BusError } from '../errors/bus-error.js';
import { AnswerParts, type MessagePart } from './answer-parts.js';
import { readBy, repairOf } from './answer-schema.js';
import { estimatedTokens } from './budget.js';
import { addedUsage, bodyOf, usageOf, type ChatBody } from './chat-wire.js';
import {
  chatLimits,
  type Answer,
  type Delta,
  type Message,
  type Usage,
  type Wanted,
} from './conversation.js';
import { askedWaitMs, BodyGivenUp, WatchedFetch } from './watched-fetch.js';

/** Until an answer begins, of each attempt; the client of the endpoint tries again by itself, with backoff. */
const requestMsMax = 120_000;
/** Between two parts of an answer that has begun. */
const silenceMsMax = 60_000;
/** Of an answer, from its first part to its last. */
const answerMsMax = 600_000;
const retriesMax = 2;
/** What the other side asks for is granted up to this. */
const retryAfterMsMax = 30_000;
const detailCharsMax = 200;

export interface ChatSettings {
  /** `https://…`, or `http://` on this machine; `/chat/completions` is put behind it. */
  url: string;
  model: string;
  /** Name of the environment variable that holds the key. */
  keyEnv: string;
  /** Until an answer begins. */
  requestMs?: number | undefined;
  /** Between two parts of an answer. */
  silenceMs?: number | undefined;
}

export interface ChatOptions {
  env: Readonly<Record<string, string | undefined>>;
  clock?: Clock;
  retries?: number;
  answerMs?: number;
}

export interface Said {
  text: string;
  /** Of the question and the answer; estimated where the endpoint does not count. */
  tokens: number;
}

type FailureCode = 'MODEL_UNAVAILABLE' | 'MODEL_REFUSED' | 'MODEL_INVALID' | 'MODEL_TRUNCATED';

/** One request under way, with the answer so far. */
interface Turn {
  parts: AnswerParts;
  watched: WatchedFetch;
  promptChars: number;
  /** As the endpoint counts it. */
  counted: unknown;
  finish: string | null;
}

/** Any server that answers `POST {url}/chat/completions` as OpenAI's does. */
export class Chat {
  readonly #client: OpenAI;
  readonly #settings: ChatSettings;
  readonly #options: ChatOptions;
  readonly #key: string;

  constructor(settings: ChatSettings, options: ChatOptions) {
    this.#settings = settings;
    this.#options = options;
    // An endpoint on this machine may want none; the library wants a text.
    this.#key = options.env[settings.keyEnv] ?? '';
    this.#client = new OpenAI({
      baseURL: settings.url,
      apiKey: this.#key === '' ? 'none' : this.#key,
      timeout: settings.requestMs ?? requestMsMax,
      maxRetries: options.retries ?? retriesMax,
      // Other environment variables of that service are not meant for this endpoint.
      organization: null,
      project: null,
      logLevel: 'off',
    });
  }

  /** One question, one answer. Throws as `converse` does. */
  async ask(system: string, user: string, signal: AbortSignal): Promise<Said> {
    const messages: Message[] = [
      { role: 'system', text: system },
      { role: 'user', text: user },
    ];
    const { text, usage } = await this.converse(messages, { signal });
    return { text, tokens: usage.total };
  }

  /**
   * The next answer of a conversation. Throws MODEL_UNAVAILABLE, MODEL_REFUSED, MODEL_INVALID, MODEL_TRUNCATED,
   * MODEL_ANSWER_TOO_LARGE, MODEL_REQUEST_TOO_LARGE, MODEL_BUDGET_SPENT, CANCELLED. A call that cannot be
   * run is no failure of the answer: see `ToolCall.error`.
   */
  async converse<T>(messages: readonly Message[], wanted: Wanted<T>): Promise<Answer<T>> {
    const first = await this.#answered(messages, wanted);
    const { schema, onDelta } = wanted;
    if (schema === undefined || first.calls.length > 0) return first;
    const read = readBy(schema, first.text);
    if ('value' in read) return { ...first, ...read };
    onDelta?.({ kind: 'again' });
    const repair: Message[] = [
      { role: 'assistant', text: first.text },
      { role: 'user', text: repairOf(read.wrong) },
    ];
    const second = await this.#answered([...messages, ...repair], wanted);
    const answer = { ...second, usage: addedUsage(first.usage, second.usage) };
    if (second.calls.length > 0) return answer;
    const again = readBy(schema, second.text);
    if ('value' in again) return { ...answer, ...again };
    throw this.#failure('MODEL_INVALID', again.wrong);
  }

  async #answered<T>(messages: readonly Message[], wanted: Wanted<T>): Promise<Answer<T>> {
    const { model } = this.#settings;
    const { signal, budget, onDelta, tools = [] } = wanted;
    const { body, promptChars } = bodyOf(model, messages, wanted);
    if (signal.aborted) throw new BusError('CANCELLED');
    budget?.assertLeft();
    const watched = new WatchedFetch(this.#watch());
    const parts = new AnswerParts(model);
    const turn: Turn = { parts, watched, promptChars, counted: undefined, finish: null };
    let usage: Usage | undefined;
    try {
      await this.#untilAborted(signal, (its) => this.#receive(turn, body, onDelta, its));
      usage = usageOf(turn.counted, { promptChars, chars: parts.chars });
      return this.#judged(turn, usage, new Set(tools.map(({ name }) => name)));
    } catch (error) {
      throw error instanceof CallerFailed ? error.cause : this.#coded(error, signal);
    } finally {
      budget?.spend(spentIn(turn, usage));
    }
  }

  #watch(): ConstructorParameters<typeof WatchedFetch>[0] {
    return {
      clock: this.#options.clock ?? systemClock,
      silenceMs: this.#settings.silenceMs ?? silenceMsMax,
      answerMs: this.#options.answerMs ?? answerMsMax,
      bytesMax: chatLimits.wireBytes,
      retryAfterMsMax,
    };
  }

  /** Rejects at once on abort: the endpoint's client would sleep on between attempts. */
  async #untilAborted(
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    // Its own: the client leaves listeners on what it is given, and a task has one signal for many requests.
    const own = new AbortController();
    let abort = (): void => undefined;
    const aborted = new Promise<never>((_, reject) => {
      abort = () => {
        own.abort();
        reject(new BusError('CANCELLED'));
      };
      signal.addEventListener('abort', abort, { once: true });
    });
    try {
      await Promise.race([work(own.signal), aborted]);
    } finally {
      signal.removeEventListener('abort', abort);
      // Drop the rest.
      own.abort();
    }
  }

  async #receive(
    turn: Turn,
    body: ChatBody,
    onDelta: ((delta: Delta) => void) | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { completions } = this.#client.withOptions({ fetch: turn.watched.fetch }).chat;
    if (onDelta === undefined) {
      const whole = await completions.create({ ...body, stream: false }, { signal });
      return this.#takeWhole(turn, whole);
    }
    const stream_options = { include_usage: true };
    const chunks = await completions.create({ ...body, stream: true, stream_options }, { signal });
    for await (const chunk of chunks as AsyncIterable<Partial<StreamChunk> | null>) {
      turn.counted = chunk?.usage ?? turn.counted;
      const choice = chunk?.choices?.[0];
      if (choice === undefined) continue;
      turn.finish = choice.finish_reason ?? turn.finish;
      const { text, calls } = turn.parts.take(choice.delta ?? {});
      if (text !== '') tell(onDelta, { kind: 'text', text });
      for (const each of calls) tell(onDelta, { kind: 'call', ...each });
    }
    // The end of a stream that was aborted looks like any other.
    if (turn.finish === null && !signal.aborted)
      throw this.#failure('MODEL_UNAVAILABLE', 'its answer broke off');
  }

  #takeWhole(turn: Turn, answer: Partial<ChatCompletion> | string | null | undefined): void {
    if (typeof answer !== 'object' || !Array.isArray(answer?.choices))
      throw this.#failure('MODEL_INVALID', 'it is no answer of a chat');
    turn.counted = answer.usage;
    const choice = answer.choices[0] as Partial<ChatCompletion.Choice> | undefined;
    turn.finish = choice?.finish_reason ?? 'stop';
    const message: MessagePart = choice?.message ?? {};
    const calls = Array.isArray(message.tool_calls) ? (message.tool_calls as object[]) : [];
    // Whole calls have no index, and not everywhere an id.
    const tool_calls = calls.map((each, index) => ({ ...each, index }));
    turn.parts.take({ ...message, tool_calls });
  }

  #judged<T>({ parts, finish }: Turn, usage: Usage, tools: ReadonlySet<string>): Answer<T> {
    if (parts.refusal !== '') throw this.#failure('MODEL_REFUSED', parts.refusal);
    if (finish === 'content_filter')
      throw this.#failure('MODEL_REFUSED', 'a filter of its contents withholds the answer');
    if (finish === 'length')
      throw this.#failure('MODEL_TRUNCATED', `cut after ${usage.completion} tokens`);
    if (parts.isEmpty) throw this.#failure('MODEL_REFUSED', 'it answered nothing');
    const calls = parts.calls(tools);
    return { text: parts.text, calls, usage, finish: calls.length > 0 ? 'calls' : 'stop' };
  }

  #coded(error: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) return new BusError('CANCELLED');
    if (error instanceof BusError) return error;
    if (error instanceof BodyGivenUp && error.why === 'large')
      return new BusError('MODEL_ANSWER_TOO_LARGE', {
        ...{ model: this.#settings.model, max: chatLimits.wireBytes, what: 'bytes as sent' },
      });
    if (error instanceof APIUserAbortError) return new BusError('CANCELLED');
    if (error instanceof APIConnectionError)
      return this.#failure('MODEL_UNAVAILABLE', error.message);
    if (error instanceof SyntaxError) return this.#failure('MODEL_INVALID', error.message);
    // Without a status: it failed within its answer.
    if (!(error instanceof APIError) || error.status === undefined)
      return this.#failure('MODEL_UNAVAILABLE', error instanceof Error ? error.message : '');
    const status = Number(error.status);
    const isPassing = status === 408 || status === 409 || status === 429 || status >= 500;
    if (!isPassing) return this.#failure('MODEL_REFUSED', error.message);
    const now = (this.#options.clock ?? systemClock).nowMs();
    const headers = error.headers instanceof Headers ? error.headers : new Headers();
    return this.#failure('MODEL_UNAVAILABLE', error.message, askedWaitMs(headers, now));
  }

  /** Servers repeat what they were sent, keys too. */
  #failure(code: FailureCode, detail: string, retryAfterMs = 0): BusError {
    const plain = this.#key === '' ? detail : detail.replaceAll(this.#key, '…');
    return new BusError(code, {
      model: this.#settings.model,
      detail: plain.slice(0, detailCharsMax).trim(),
      ...(retryAfterMs > 0 && { retryAfterMs }),
    });
  }
}

interface StreamChunk {
  usage: unknown;
  choices: { finish_reason?: string | null; delta?: MessagePart | null }[];
}

class CallerFailed extends Error {}

function tell(onDelta: (delta: Delta) => void, delta: Delta): void {
  try {
    onDelta(delta);
  } catch (cause) {
    throw new CallerFailed('', { cause });
  }
}

/**
 * What a request took, also one that failed: the endpoint's own count if it came. An attempt that was given up while
 * it was worked on took its prompt, and what had come of its answer.
 */
function spentIn({ watched, promptChars, parts, counted }: Turn, usage: Usage | undefined): number {
  const prompts = watched.working * estimatedTokens(promptChars);
  const guessed = prompts + estimatedTokens(parts.chars);
  const known = usage ?? usageOf(counted, { promptChars, chars: parts.chars });
  if (known.isEstimated) return guessed;
  return known.total + Math.max(0, watched.working - 1) * estimatedTokens(promptChars);
}
