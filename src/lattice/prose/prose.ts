import { asBusError, BusError } from '../../errors/bus-error.js';
import { hedged } from '../../pgc/answer/ask.js';
import {
  engineName,
  type AskAnswer,
  type AskRequest,
  type Citation,
  type LatticeAnswer,
  type LatticeQuery,
  type ModelMetadata,
  type QueryIntent,
} from '../../pgc/shapes.js';
import type { AskingOptions } from '../questions.js';
import { surerAnswer, mergedAnswer } from './answer-merge.js';
import { ModelUse, type QuestionModel } from './model-use.js';
import type { Extractive, Prose } from './port.js';
import { hintsBy, readQuestion } from './question-reading.js';
import { writeAnswer, type WrittenAnswer } from './answer-writing.js';

/** After one of these errors the model is not asked again for the same question. */
const passing = new Set(['MODEL_UNAVAILABLE', 'MODEL_NO_TIME', 'MODEL_BUSY']);

/** A search for what the model adds may take this share of the time that is left, and does not begin with less than that. */
const searchShare = 1 / 2;
const searchMsMin = 250;

type Attempt<T> = { value: T } | { error: BusError };

/** The model's part in an answer. */
interface Account {
  read: QueryIntent | undefined;
  written: WrittenAnswer | undefined;
  dropped: number;
  /** The steps that went without the model, and why. */
  failures: { what: string; error: BusError }[];
}

/**
 * Answers in the words of a language model, unless the request declines it: the model reads the question before the search, and words the answer from the sources afterwards. Sources always come from the index. Without a model, or when it fails, the answer is the extractive one.
 */
export class ModelProse implements Prose {
  readonly #model: QuestionModel;

  constructor(model: QuestionModel) {
    this.#model = model;
  }

  async ask(
    request: AskRequest,
    options: AskingOptions,
    { answer, known }: Extractive<AskRequest, AskAnswer>,
  ): Promise<AskAnswer> {
    if (declines(request)) return answer(request, options);
    using use = new ModelUse(this.#model, options);
    const its = await answerInProse(use, request, options, {
      answer,
      known,
      join: mergedAnswer,
      sourcesOf: ({ sources }) => sources,
    });
    const { found, read, written } = its;
    const { metadata, sources } = found;
    return {
      ...found,
      answer: written === undefined ? found.answer : hedged(written.text, sources),
      query_intent: read ?? found.query_intent,
      overlay_warnings: [...found.overlay_warnings, ...warningsOf(its)],
      metadata: {
        ...metadata,
        ...metadataOf(use, its, metadata.engine),
        elapsed_ms: round(use.elapsedMs),
      },
    };
  }

  async query(
    request: LatticeQuery,
    options: AskingOptions,
    { answer, known }: Extractive<LatticeQuery, LatticeAnswer>,
  ): Promise<LatticeAnswer> {
    if (declines(request)) return answer(request, options);
    using use = new ModelUse(this.#model, options);
    const its = await answerInProse(use, request, options, {
      answer,
      known,
      join: surerAnswer,
      sourcesOf: ({ hops }) => hops.flatMap(({ citations }) => citations),
    });
    const { found, read, written, failures } = its;
    return {
      ...found,
      answer: written === undefined ? found.answer : written.text,
      errors: [
        ...found.errors,
        ...failures.map(({ error }) => ({ ...error.toFailure(), agent: '' })),
      ],
      elapsed_ms: round(use.elapsedMs),
      ...(read !== undefined && { query_intent: read }),
      metadata: metadataOf(use, its, engineName),
    };
  }
}

function declines({ engine = '' }: { engine?: string }): boolean {
  return engine !== '';
}

/** Both kinds of questions go the same way. */
interface Kind<Request, Answer> extends Extractive<Request, Answer> {
  /** Of the question as it was put, and of the same with what the model adds to it. */
  join: (plain: Answer, hinted: Answer) => Answer;
  sourcesOf: (answer: Answer) => readonly Citation[];
}

/** The original question is searched while the model reads it, so that the model can only add. Throws CANCELLED, and what `answer` throws. */
async function answerInProse<Request extends AskRequest | LatticeQuery, Answer>(
  use: ModelUse,
  request: Request,
  options: AskingOptions,
  kind: Kind<Request, Answer>,
): Promise<Account & { found: Answer }> {
  const reading = attempt(readQuestion(use, request.question));
  const plain = await kind.answer(request, options);
  const read = await reading;
  const found = 'error' in read ? plain : await widened(use, read.value, plain, request, kind);
  const isOver = 'error' in read && passing.has(read.error.code);
  const sources = kind.sourcesOf(found);
  const written =
    isOver || sources.length === 0
      ? undefined
      : await attempt(writeAnswer(use, request.question, sources));
  const account = accountOf(read, written);
  if (account.failures.some(({ error }) => error.code === 'CANCELLED'))
    throw new BusError('CANCELLED');
  return { ...account, found };
}

/** Adds the results of a search with the model's hints; without time, or when it fails, nothing is added. */
async function widened<Request extends AskRequest | LatticeQuery, Answer>(
  use: ModelUse,
  read: QueryIntent,
  plain: Answer,
  request: Request,
  { answer, known, join }: Kind<Request, Answer>,
): Promise<Answer> {
  const given = request.query_hints ?? [];
  const deadlineMs = use.leftMs * searchShare;
  if (deadlineMs < searchMsMin) return plain;
  const search = async (): Promise<Answer> => {
    const query_hints = await hintsBy(read, given, known);
    if (query_hints.length === given.length) return plain;
    const hinted = await answer({ ...request, query_hints }, { deadlineMs, ...use.cancelled });
    return join(plain, hinted);
  };
  const found = await attempt(search());
  return 'error' in found ? plain : found.value;
}

function accountOf(
  read: Attempt<QueryIntent>,
  written: Attempt<WrittenAnswer> | undefined,
): Account {
  const failures: Account['failures'] = [];
  if ('error' in read) failures.push({ what: 'The question was read', error: read.error });
  if (written !== undefined && 'error' in written)
    failures.push({ what: 'The answer is made', error: written.error });
  const its = written !== undefined && 'value' in written ? written.value : undefined;
  const ungrounded = failures.find(({ error }) => error.code === 'MODEL_UNGROUNDED');
  return {
    read: 'value' in read ? read.value : undefined,
    written: its,
    dropped: its?.dropped ?? Number(ungrounded?.error.data.dropped ?? 0),
    failures,
  };
}

function warningsOf({ failures }: Account): string[] {
  return failures.map(
    ({ what, error }) => `${what} without the language model: ${error.message} (${error.code}).`,
  );
}

function metadataOf(
  use: ModelUse,
  { read, written, dropped }: Account,
  before: string,
): ModelMetadata {
  const isUsed = read !== undefined || written !== undefined;
  const engine = isUsed ? `${before}+model:${use.name}` : before;
  return { engine, dropped, tokens: use.tokens, texts: use.texts };
}

/** Turns a rejection into a value: it may occur before it is awaited. */
function attempt<T>(work: Promise<T>): Promise<Attempt<T>> {
  return work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error: asBusError(error) }),
  );
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
