import { isKnown } from '../pgc/answer/ask.js';
import { isBySearch, topKOf } from '../pgc/answer/searched.js';
import type { Question } from '../pgc/search/question/question.js';
import { knownShare } from '../pgc/search/rank/weighing.js';
import type { AskRequest, CodedError, SeekAnswer, ShardPort } from '../pgc/shapes.js';
import { fanOut } from './fan-out.js';
import type { CardNames } from './topology/card-names.js';

/** Shards below this share of the best one's similarity add noise, not answers. */
export const shareOfBest = 0.7;

/** What to ask of a shard. */
export interface Wanted {
  agent: string;
  port: ShardPort;
  request: AskRequest;
}

/** What shards have for a question, so that only those are asked for an answer whose sources are shown. */
export class Sought {
  readonly answers: SeekAnswer[] = [];
  /** Of the shards that did not tell. */
  readonly errors: CodedError[] = [];
  readonly #found: { port: ShardPort; answer: SeekAnswer }[] = [];
  readonly #known: Set<number>;

  constructor(
    readonly question: Question,
    readonly request: AskRequest,
    names: CardNames,
    readonly signal: AbortSignal | undefined,
  ) {
    const isOnCards = (variants: Question['concepts'][number]['variants']): boolean =>
      variants.some(({ term }) => names.documentsWith(term).some((documents) => documents > 0));
    this.#known = new Set(
      question.concepts.flatMap(({ variants }, at) => (isOnCards(variants) ? [at] : [])),
    );
  }

  async among(ports: readonly ShardPort[]): Promise<void> {
    const { answers, errors } = await fanOut(ports, this.signal, async (port) => ({
      port,
      answer: await port.seek(this.request, this.signal),
    }));
    this.#found.push(...answers);
    this.errors.push(...errors);
    for (const { answer } of answers) {
      this.answers.push(answer);
      for (const at of answer.known) this.#known.add(at);
    }
  }

  /** Shards that were asked. */
  get asked(): number {
    return this.answers.length + this.errors.length;
  }

  /** Whether enough of the question stands in the tree: what one shard lacks may stand in another. */
  get isKnown(): boolean {
    return isKnown(this.#share) || this.#found.some(({ answer }) => answer.is_named);
  }

  /** Each shard of which a source is among the best, for as many as are. */
  chosen(): Wanted[] {
    if (!this.isKnown) return this.#wanted().slice(0, 1);
    const { overlays } = this.request;
    const isPlain = overlays.length === 0 || overlays.includes('O1');
    return isPlain && isBySearch(this.question) ? this.#best() : this.#wanted();
  }

  #best(): Wanted[] {
    const tops = this.#found.map(({ answer }) => Math.max(0, ...answer.similarities));
    const floor = Math.max(0, ...tops) * shareOfBest;
    const lists = this.#found.map(({ answer }, at) =>
      (tops[at] ?? 0) < floor ? [] : answer.similarities.map((similarity) => ({ similarity, at })),
    );
    const counts = new Map<number, number>();
    for (const { at } of inTurn(lists, topKOf(this.request)))
      counts.set(at, (counts.get(at) ?? 0) + 1);
    return this.#wanted().flatMap(({ request, ...each }, at) => {
      const shown = counts.get(at) ?? 0;
      return shown === 0 ? [] : [{ ...each, request: { ...request, shown } }];
    });
  }

  #wanted(): Wanted[] {
    const request = { ...this.request, known: this.#share };
    return this.#found.map(({ port }) => ({ agent: port.agent, port, request }));
  }

  get #share(): number {
    return knownShare(this.question, this.#known);
  }
}

/** The lists as one, as far as `most`: the likeliest next one of any list, so that each keeps its order. */
export function inTurn<T extends { similarity: number }>(
  lists: readonly (readonly T[])[],
  most = Infinity,
): T[] {
  const nexts = lists.map(() => 0);
  const merged: T[] = [];
  while (merged.length < most) {
    let first: T | undefined;
    let from = -1;
    for (const [at, list] of lists.entries()) {
      const next = list[nexts[at] ?? 0];
      if (next === undefined || (first !== undefined && next.similarity <= first.similarity))
        continue;
      first = next;
      from = at;
    }
    if (first === undefined) return merged;
    nexts[from] = (nexts[from] ?? 0) + 1;
    merged.push(first);
  }
  return merged;
}
