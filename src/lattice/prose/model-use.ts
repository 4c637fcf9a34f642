import type { Clock } from '../../base/clock.js';
import { Semaphore } from '../../base/semaphore.js';
import { asBusError, BusError } from '../../errors/bus-error.js';
import { Budget } from '../../model/budget.js';
import type { Chat } from '../../model/chat.js';
import type { Answer, AnswerSchema, Message } from '../../model/conversation.js';
import { textOf, type TextName } from '../../model/texts.js';
import type { AskingOptions } from '../questions.js';

/** Requests of one process that are under way at once, and those that wait for their turn; one more is MODEL_BUSY. */
const callsAtOnce = 4;
const callsWaitingMax = 64;
/** Of one question, its reading and its answer together: what is asked beyond is MODEL_BUDGET_SPENT. */
const tokensPerQuestion = 60_000;
/** With less time than this nothing is asked: MODEL_NO_TIME. */
const askingMsMin = 500;
/** Reserved for the reply to the caller. */
const replyMs = 100;

export interface ModelParts {
  /** As it is configured. */
  name: string;
  /** Opened when it is asked first. */
  chat: () => Promise<Pick<Chat, 'converse'>>;
  clock: Clock;
  /** A random mark that no author of a file can know. */
  newMark: () => string;
}

/** The language model of a process, for all questions. */
export class QuestionModel {
  readonly parts: ModelParts;
  readonly turns: Semaphore;

  constructor(parts: ModelParts) {
    this.parts = parts;
    const refusal = (limit: number): BusError =>
      new BusError('MODEL_BUSY', { model: parts.name, limit });
    this.turns = new Semaphore({ atOnce: callsAtOnce, waitingMax: callsWaitingMax, refusal });
  }
}

/** What one question has of it: time, tokens, and an account of both. Disposed of, nothing is under way any more. */
export class ModelUse implements Disposable {
  readonly #model: QuestionModel;
  readonly #options: AskingOptions;
  readonly #budget = new Budget(tokensPerQuestion);
  readonly #over = new AbortController();
  readonly #texts = new Set<string>();
  readonly #startedMs: number;

  constructor(model: QuestionModel, options: AskingOptions) {
    this.#model = model;
    this.#options = options;
    this.#startedMs = model.parts.clock.monotonicMs();
  }

  get name(): string {
    return this.#model.parts.name;
  }

  get elapsedMs(): number {
    return this.#model.parts.clock.monotonicMs() - this.#startedMs;
  }

  /** Of the question's time. */
  get leftMs(): number {
    return this.#options.deadlineMs - this.elapsedMs;
  }

  /** The caller's signal, for other work on the question. */
  get cancelled(): { signal?: AbortSignal } {
    const { signal } = this.#options;
    return signal === undefined ? {} : { signal };
  }

  get tokens(): number {
    return this.#budget.spent;
  }

  /** Ids of the prompt texts used so far. */
  get texts(): string[] {
    return [...this.#texts];
  }

  newMark(): string {
    return this.#model.parts.newMark();
  }

  [Symbol.dispose](): void {
    this.#over.abort();
  }

  /** `msMax`: of the time that is left at most. Throws MODEL_*, CANCELLED. */
  async converse<T>(
    { messages, texts, schema }: ModelRequest<T>,
    msMax = Number.POSITIVE_INFINITY,
  ): Promise<Answer<T>> {
    const { clock, chat, name } = this.#model.parts;
    const ms = Math.round(Math.min(msMax, this.leftMs - replyMs));
    if (ms < askingMsMin) throw new BusError('MODEL_NO_TIME', { model: name, ms: Math.max(0, ms) });
    const late = new AbortController();
    using _timer = clock.after(ms, () => late.abort());
    const { signal: asked } = this.cancelled;
    const given = [this.#over.signal, ...(asked === undefined ? [] : [asked])];
    const signal = AbortSignal.any([late.signal, ...given]);
    try {
      const port = await chat();
      const wanted = { signal, budget: this.#budget, ...(schema !== undefined && { schema }) };
      return await this.#model.turns.run(() => {
        for (const each of texts) this.#texts.add(textOf(each).id);
        return port.converse(messages, wanted);
      }, signal);
    } catch (error) {
      if (given.some(({ aborted }) => aborted)) throw new BusError('CANCELLED');
      if (late.signal.aborted) throw new BusError('MODEL_NO_TIME', { model: name, ms });
      throw asBusError(error);
    }
  }
}

export interface ModelRequest<T> {
  messages: readonly Message[];
  /** The texts that the messages are made of. */
  texts: readonly TextName[];
  schema?: AnswerSchema<T>;
}
