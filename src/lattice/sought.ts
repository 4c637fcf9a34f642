import { knownMin } from '../pgc/search/likelihood.js';
import { isBySearch, topKOf } from '../pgc/answer/searched.js';
import type { Question } from '../pgc/search/question/question.js';
import { together, weighed } from '../pgc/search/rank/weighing.js';
import type { AskRequest, CodedError, SeekAnswer, ShardPort, WordCounts } from '../pgc/shapes.js';
import { fanOut } from './fan-out.js';

/** Shards below this share of the best one's similarity add noise, not answers. */
export const shareOfBest = 0.7;
/** Shards that are asked besides the likely ones, because they have what those lack of the question. */
const furtherMax = 12;

/** What to ask of a shard. */
export interface Wanted {
  agent: string;
  port: ShardPort;
  request: AskRequest;
}

interface Weighed {
  port: ShardPort;
  counts: WordCounts;
}

/**
 * Searches shards as one collection: its words weigh the same in all of them, and only those are asked for an answer whose sources
 * are shown.
 */
export class Sought {
  readonly answers: SeekAnswer[] = [];
  /** Of the shards that did not tell. */
  readonly errors: CodedError[] = [];
  #found: { port: ShardPort; answer: SeekAnswer }[] = [];
  #asked: AskRequest;

  constructor(
    readonly question: Question,
    request: AskRequest,
    readonly signal: AbortSignal | undefined,
  ) {
    this.#asked = request;
  }

  /** `others`: of the tree; asked only before it is said that nothing is known. */
  async among(likely: readonly ShardPort[], others: readonly ShardPort[]): Promise<void> {
    const weighed = await this.#weighed(likely);
    // What stands nowhere in the likely shards may stand in another one, which its card need not say: it leaves out the rarest words.
    if (!this.#isKnown(weighed)) weighed.push(...(await this.#further(weighed, others)));
    this.#asked = { ...this.#asked, counts: together(weighed.map(({ counts }) => counts)) };
    const { answers, errors } = await fanOut(
      weighed.map(({ port }) => port),
      this.signal,
      async (port) => ({ port, answer: await port.seek(this.#asked, this.signal) }),
    );
    this.#found = answers;
    this.answers.push(...answers.map(({ answer }) => answer));
    this.errors.push(...errors);
  }

  /** Shards that were asked. */
  get asked(): number {
    return this.answers.length + this.errors.length;
  }

  /** Each shard of which a source is among the best, for as many as are; where nothing is known, the one that says so. */
  chosen(): Wanted[] {
    const { overlays } = this.#asked;
    const isPlain = overlays.length === 0 || overlays.includes('O1');
    // What is proven is shown however little is known.
    if (!isPlain || !isBySearch(this.question)) return this.#wanted();
    const best = this.#best();
    return best.length > 0 ? best : this.#wanted().slice(0, 1);
  }

  async #weighed(ports: readonly ShardPort[]): Promise<Weighed[]> {
    const { answers, errors } = await fanOut(ports, this.signal, async (port) => ({
      port,
      counts: await port.weigh(this.#asked, this.signal),
    }));
    this.errors.push(...errors);
    return answers;
  }

  #isKnown(all: readonly Weighed[]): boolean {
    const counts = together(all.map((each) => each.counts));
    return weighed(this.question, counts).known >= knownMin;
  }

  /** Of the other shards those with most of what is missing. */
  async #further(known: readonly Weighed[], others: readonly ShardPort[]): Promise<Weighed[]> {
    const { having } = together(known.map(({ counts }) => counts));
    const gain = ({ counts }: Weighed): number =>
      this.question.concepts.reduce(
        (sum, { weight }, at) =>
          (having[at] ?? 0) === 0 && (counts.having[at] ?? 0) > 0 ? sum + weight : sum,
        0,
      );
    return (await this.#weighed(others))
      .filter((each) => gain(each) > 0)
      .sort((one, other) => gain(other) - gain(one))
      .slice(0, furtherMax);
  }

  #best(): Wanted[] {
    // A shard that does not know writes nothing: what it has would only take the place of what others write.
    const tops = this.#found.map(({ answer }) =>
      answer.is_known ? Math.max(0, ...answer.similarities) : -1,
    );
    const floor = Math.max(0, ...tops) * shareOfBest;
    const lists = this.#found.map(({ answer }, at) =>
      (tops[at] ?? -1) < floor ? [] : answer.similarities.map((similarity) => ({ similarity, at })),
    );
    const counts = new Map<number, number>();
    for (const { at } of inTurn(lists, topKOf(this.#asked)))
      counts.set(at, (counts.get(at) ?? 0) + 1);
    return this.#wanted().flatMap(({ request, ...each }, at) => {
      const shown = counts.get(at) ?? 0;
      return shown === 0 ? [] : [{ ...each, request: { ...request, shown } }];
    });
  }

  #wanted(): Wanted[] {
    return this.#found.map(({ port }) => ({ agent: port.agent, port, request: this.#asked }));
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
