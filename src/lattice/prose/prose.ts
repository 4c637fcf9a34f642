import { asBusError, BusError } from '../../errors/bus-error.js';
import type { Answer, AskRequest, LatticeQuery, QueryIntent } from '../../pgc/shapes.js';
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

  ask(
    request: AskRequest,
    options: AskingOptions,
    extractive: Extractive<AskRequest>,
  ): Promise<Answer> {
    return this.#worded(request, options, { ...extractive, join: mergedAnswer });
  }

  query(
    request: LatticeQuery,
    options: AskingOptions,
    extractive: Extractive<LatticeQuery>,
  ): Promise<Answer> {
    return this.#worded(request, options, { ...extractive, join: surerAnswer });
  }

  async #worded<Request extends AskRequest | LatticeQuery>(
    request: Request,
    options: AskingOptions,
    kind: Kind<Request>,
  ): Promise<Answer> {
    if (declines(request)) return kind.answer(request, options);
    using use = new ModelUse(this.#model, options);
    const its = await answerInProse(use, request, options, kind);
    const { found, read, written } = its;
    const { metadata } = found;
    return {
      ...found,
      prose: written?.text ?? '',
      query_intent: read ?? found.query_intent,
      overlay_warnings: [...found.overlay_warnings, ...warningsOf(its)],
      metadata: {
        ...metadata,
        ...modelPart(use, its, metadata.engine),
        elapsed_ms: round(use.elapsedMs),
      },
    };
  }
}

function declines({ engine = '' }: { engine?: string }): boolean {
  return engine !== '';
}

/** Both kinds of questions go the same way. */
interface Kind<Request> extends Extractive<Request> {
  /** Of the question as it was put, and of the same with what the model adds to it. */
  join: (plain: Answer, hinted: Answer) => Answer;
}

/** The original question is searched while the model reads it, so that the model can only add. Throws CANCELLED, and what `answer` throws. */
async function answerInProse<Request extends AskRequest | LatticeQuery>(
  use: ModelUse,
  request: Request,
  options: AskingOptions,
  kind: Kind<Request>,
): Promise<Account & { found: Answer }> {
  const reading = attempt(readQuestion(use, request.question));
  const plain = await kind.answer(request, options);
  const read = await reading;
  const found = 'error' in read ? plain : await widened(use, read.value, plain, request, kind);
  const isOver = 'error' in read && passing.has(read.error.code);
  const written =
    isOver || found.evidence.length === 0
      ? undefined
      : await attempt(writeAnswer(use, request.question, found.evidence));
  const account = accountOf(read, written);
  if (account.failures.some(({ error }) => error.code === 'CANCELLED'))
    throw new BusError('CANCELLED');
  return { ...account, found };
}

/** Adds the results of a search with the model's hints; without time, or when it fails, nothing is added. */
async function widened<Request extends AskRequest | LatticeQuery>(
  use: ModelUse,
  read: QueryIntent,
  plain: Answer,
  request: Request,
  { answer, known, join }: Kind<Request>,
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

function modelPart(
  use: ModelUse,
  { read, written, dropped }: Account,
  before: string,
): Pick<Answer['metadata'], 'engine' | 'model'> {
  const isUsed = read !== undefined || written !== undefined;
  const engine = isUsed ? `${before}+model:${use.name}` : before;
  return { engine, model: { name: use.name, dropped, tokens: use.tokens, texts: use.texts } };
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
