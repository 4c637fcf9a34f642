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
import { better, joined } from './both.js';
import { ModelUse, type QuestionModel } from './model-use.js';
import type { Extractive, Prose } from './port.js';
import { hintsBy, readQuestion } from './reading.js';
import { tell, type Told } from './telling.js';

/** After one of these the model is not asked a second time for the same question. */
const passing = new Set(['MODEL_UNAVAILABLE', 'MODEL_NO_TIME', 'MODEL_BUSY']);

/** A search for what the model adds may take this share of the time that is left, and does not begin with less than that. */
const searchShare = 1 / 2;
const searchMsMin = 250;

type Attempt<T> = { value: T } | { error: BusError };

/** What the model had to do with an answer. */
interface Account {
  read: QueryIntent | undefined;
  told: Told | undefined;
  dropped: number;
  /** What went without it, and why. */
  failures: { what: string; error: BusError }[];
}

/**
 * Answers in the words of a language model, where the request does not decline it: it reads the question
 * before the search, and tells afterwards what the sources say. Sources are what the index gives; without the model, or when
 * it fails, the answer is the extractive one.
 */
export class ModelProse implements Prose {
  readonly #model: QuestionModel;

  constructor(model: QuestionModel) {
    this.#model = model;
  }

  async ask(
    request: AskRequest,
    options: AskingOptions,
    { by, known }: Extractive<AskRequest, AskAnswer>,
  ): Promise<AskAnswer> {
    if (declines(request)) return by(request, options);
    using use = new ModelUse(this.#model, options);
    const its = await spoken(use, request, options, {
      by,
      known,
      join: joined,
      sourcesOf: ({ sources }) => sources,
    });
    const { found, read, told } = its;
    const { metadata, sources } = found;
    return {
      ...found,
      answer: told === undefined ? found.answer : hedged(told.text, sources),
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
    { by, known }: Extractive<LatticeQuery, LatticeAnswer>,
  ): Promise<LatticeAnswer> {
    if (declines(request)) return by(request, options);
    using use = new ModelUse(this.#model, options);
    const its = await spoken(use, request, options, {
      by,
      known,
      join: better,
      sourcesOf: ({ hops }) => hops.flatMap(({ citations }) => citations),
    });
    const { found, read, told, failures } = its;
    return {
      ...found,
      answer: told === undefined ? found.answer : told.text,
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

/** The question is searched for as it was put, too, while the model reads it: that can only add. Throws CANCELLED, and as `by` does. */
async function spoken<Request extends AskRequest | LatticeQuery, Answer>(
  use: ModelUse,
  request: Request,
  options: AskingOptions,
  kind: Kind<Request, Answer>,
): Promise<Account & { found: Answer }> {
  const reading = attempt(readQuestion(use, request.question));
  const plain = await kind.by(request, options);
  const read = await reading;
  const found = 'error' in read ? plain : await widened(use, read.value, plain, request, kind);
  const isOver = 'error' in read && passing.has(read.error.code);
  const sources = kind.sourcesOf(found);
  const told =
    isOver || sources.length === 0
      ? undefined
      : await attempt(tell(use, request.question, sources));
  const account = accountOf(read, told);
  if (account.failures.some(({ error }) => error.code === 'CANCELLED'))
    throw new BusError('CANCELLED');
  return { ...account, found };
}

/** With what the search finds by what the model read out of the question; one that fails, or has no time, adds nothing. */
async function widened<Request extends AskRequest | LatticeQuery, Answer>(
  use: ModelUse,
  read: QueryIntent,
  plain: Answer,
  request: Request,
  { by, known, join }: Kind<Request, Answer>,
): Promise<Answer> {
  const given = request.query_hints ?? [];
  const deadlineMs = use.leftMs * searchShare;
  if (deadlineMs < searchMsMin) return plain;
  const search = async (): Promise<Answer> => {
    const query_hints = await hintsBy(read, given, known);
    if (query_hints.length === given.length) return plain;
    const hinted = await by({ ...request, query_hints }, { deadlineMs, ...use.cancelled });
    return join(plain, hinted);
  };
  const found = await attempt(search());
  return 'error' in found ? plain : found.value;
}

function accountOf(read: Attempt<QueryIntent>, told: Attempt<Told> | undefined): Account {
  const failures: Account['failures'] = [];
  if ('error' in read) failures.push({ what: 'The question was read', error: read.error });
  if (told !== undefined && 'error' in told)
    failures.push({ what: 'The answer is made', error: told.error });
  const its = told !== undefined && 'value' in told ? told.value : undefined;
  const ungrounded = failures.find(({ error }) => error.code === 'MODEL_UNGROUNDED');
  return {
    read: 'value' in read ? read.value : undefined,
    told: its,
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
  { read, told, dropped }: Account,
  before: string,
): ModelMetadata {
  const isUsed = read !== undefined || told !== undefined;
  const engine = isUsed ? `${before}+model:${use.name}` : before;
  return { engine, dropped, tokens: use.tokens, texts: use.texts };
}

/** Never fails: nobody may be there yet to hear of it. */
function attempt<T>(work: Promise<T>): Promise<Attempt<T>> {
  return work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error: asBusError(error) }),
  );
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
