import { systemClock } from '../base/clock.js';
import type { Client } from '../client/client.js';
import type { Incoming } from '../client/responder.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import type { KeptJournals } from '../lattice/query/kept-journals.js';
import type { Lattice } from '../lattice/lattice.js';
import type { Prose } from '../lattice/prose/port.js';
import { ProseQuestions } from '../lattice/prose/prose-questions.js';
import {
  LatticeQuestions,
  optionsOf,
  verifyAll,
  type AskingOptions,
} from '../lattice/questions.js';
import type { Analyses } from '../pgc/analyse/analyses.js';
import type { LocateRequest } from '../pgc/search/locate/locate.js';
import { latticeMessages, queryProgress, type MessageType } from '../pgc/serve/messages.js';
import { analyse, questionCharsMax } from '../pgc/search/question/question.js';
import { RemoteAnalyses } from '../remote/analyses.js';
import { choose, type Shards } from '../remote/shards.js';

/** Answers questions of the bus from the lattice they are about. */
export class QuestionHandler {
  readonly #shards: Shards;
  readonly #client: Client;
  readonly #journals: KeptJournals;
  readonly #prose: Prose;

  constructor(shards: Shards, client: Client, journals: KeptJournals, prose: Prose) {
    this.#shards = shards;
    this.#client = client;
    this.#journals = journals;
    this.#prose = prose;
  }

  serveOn(client: Client): void {
    const { query, ask, locate, callers, references, callees, implementations, trace } =
      latticeMessages;
    const { topology, path, verify } = latticeMessages;
    const serve = <Q, A>(
      message: MessageType<Q, A>,
      answer: (request: Q, options: AskingOptions) => Promise<A>,
    ): void => {
      client.serve({
        [message.type]: async (incoming: Incoming) =>
          message.answer.encode(
            await answer(message.request.decode(incoming.body), optionsOf(incoming)),
          ),
      });
    };
    client.serve({ [query.type]: (incoming) => this.#query(incoming) });
    serve(ask, async (request, options) =>
      (await this.#about(byWords(request.question))).ask(request, options),
    );
    serve(locate, async (request, options) =>
      (await this.#about(byWords(beginningOf(request)))).locate(request, options),
    );
    serve(callers, ({ symbol, cite, roles }, options) =>
      this.#aboutSymbol(
        symbol,
        (questions) => questions.callers(symbol, { ...options, roles }, cite),
        ({ definitions, callers: sites }) => definitions.length + sites.length > 0,
      ),
    );
    serve(references, ({ symbol, roles }, options) =>
      this.#aboutSymbol(
        symbol,
        (questions) => questions.references(symbol, { ...options, roles }),
        ({ definitions, callers: sites }) => definitions.length + sites.length > 0,
      ),
    );
    serve(callees, ({ symbol, roles }, options) =>
      this.#aboutSymbol(
        symbol,
        (questions) => questions.callees(symbol, { ...options, roles }),
        ({ definitions }) => definitions.length > 0,
      ),
    );
    serve(implementations, ({ symbol, roles }, options) =>
      this.#aboutSymbol(
        symbol,
        (questions) => questions.implementations(symbol, { ...options, roles }),
        ({ definitions }) => definitions.length > 0,
      ),
    );
    serve(trace, ({ from, to, roles }, options) =>
      this.#aboutSymbol(
        from,
        (questions) => questions.trace(from, to, { ...options, roles }),
        ({ found, errors }) => found || errors.length === 0,
      ),
    );
    serve(latticeMessages.shards, async () => {
      const all = [...(await this.#shards.lattices()).values()];
      const unknown = all.flatMap((lattice) => lattice.unknownShards().map(({ agent }) => agent));
      return { known: all.flatMap(({ cards }) => [...cards.keys()]), unknown };
    });
    serve(topology, async () => (await this.#about(bySize)).topology());
    serve(path, async ({ from, to, max_hops }) => ({
      path: await (await this.#about(byAgent(from))).path(from, to, max_hops),
    }));
    const { blastRadius, securityBlastRadius, patterns, algebra } = latticeMessages;
    serve(blastRadius, (request, options) =>
      this.#analysed(bySymbol(request.symbol), (tree) => tree.blastRadius(request, options)),
    );
    serve(securityBlastRadius, (request, options) =>
      this.#analysed(bySymbol(request.symbol), (tree) =>
        tree.securityBlastRadius(request, options),
      ),
    );
    serve(patterns, (request, options) =>
      this.#analysed(bySize, (tree) => tree.patterns(request, options)),
    );
    serve(algebra, (request, options) =>
      this.#analysed(bySize, (tree) => tree.algebra(request, options)),
    );
    serve(verify, async ({ citations }, options) => {
      const lattices = [...(await this.#shards.lattices()).values()];
      const cards = lattices.flatMap((lattice) => [...lattice.cards.values()]);
      return { results: await verifyAll(cards, citations, options) };
    });
  }

  /** Its steps are stored: after a restart of the manager the same query continues where it was. */
  async #query(incoming: Incoming): Promise<Buffer> {
    const { query } = latticeMessages;
    const request = query.request.decode(incoming.body);
    const options = optionsOf(incoming);
    const questions = await this.#about(byWords(request.question));
    const key = `${incoming.from}\0${incoming.body.toString('base64')}`;
    const untilMs = systemClock.nowMs() + options.deadlineMs;
    const { versions } = questions.lattice;
    const answer = await this.#journals.run({ key, versions, untilMs }, (journal) =>
      questions.query(request, {
        ...options,
        journal,
        onProgress: (progress) => void incoming.progress(queryProgress.encode(progress)),
      }),
    );
    return query.answer.encode(answer);
  }

  /**
   * First the trees that export the symbol; then the rest, whose private symbols no card names. A tree that lacks a
   * shard does not keep the question from the next one.
   */
  async #aboutSymbol<A>(
    symbol: string,
    ask: (questions: LatticeQuestions) => Promise<A>,
    isKnown: (answer: A) => boolean,
  ): Promise<A> {
    const rank = bySymbol(symbol);
    const lattices = [...(await this.#shards.lattices()).values()].sort(
      (a, b) => rank(b) - rank(a),
    );
    let first: A | undefined;
    for (const lattice of lattices) {
      const answer = await ask(new LatticeQuestions(lattice, systemClock));
      if (isKnown(answer)) return answer;
      first ??= answer;
    }
    if (first === undefined) throw new BusError('NO_SHARDS');
    return first;
  }

  /** By the first tree that knows the symbol, in order of their rank. */
  async #analysed<A>(
    rank: (lattice: Lattice) => number,
    ask: (analyses: Analyses) => Promise<A>,
  ): Promise<A> {
    const lattices = [...(await this.#shards.lattices())].sort(([, a], [, b]) => rank(b) - rank(a));
    let unknown: unknown = new BusError('NO_SHARDS');
    for (const [root, lattice] of lattices) {
      const analyses = new RemoteAnalyses(this.#client, root);
      try {
        return await ask(new LatticeQuestions(lattice, systemClock, undefined, analyses));
      } catch (error) {
        if (asBusError(error).code !== 'NO_SUCH_SYMBOL') throw error;
        unknown = error;
      }
    }
    throw unknown;
  }

  async #about(rank: (lattice: Lattice) => number): Promise<ProseQuestions> {
    const lattice = choose(await this.#shards.lattices(), rank);
    return new ProseQuestions(this.#prose, lattice, systemClock);
  }
}

const byWords =
  (question: string) =>
  (lattice: Lattice): number =>
    lattice.router.rank(analyse(question))[0]?.score ?? 0;

/** As much of a report as chooses between trees: a question is never longer. */
function beginningOf({ title = '', text }: LocateRequest): string {
  return `${title}\n${text.slice(0, questionCharsMax - title.length)}`.trim() || '?';
}

const bySymbol =
  (symbol: string) =>
  (lattice: Lattice): number =>
    lattice.directory.ownersOf(symbol.slice(symbol.search(/[^#:]*$/))).length > 0 ? 1 : 0;

const byAgent =
  (agent: string) =>
  (lattice: Lattice): number =>
    lattice.cards.has(agent) ? 1 : 0;

const bySize = (lattice: Lattice): number => lattice.cards.size;
