import { systemClock } from '../base/clock.js';
import type { Client } from '../client/client.js';
import type { Incoming } from '../client/responder.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import type { KeptJournals } from '../lattice/query/kept-journals.js';
import type { Lattice } from '../lattice/lattice.js';
import type { Prose } from '../lattice/prose/port.js';
import { ProseQuestions } from '../lattice/prose/prose-questions.js';
import { optionsOf, verifyAll, type AskingOptions } from '../lattice/questions.js';
import type { Analyses } from '../pgc/analyse/analyses.js';
import type { LocateRequest } from '../pgc/search/locate/locate.js';
import { TreeStates, type TreeState } from '../pgc/plan/tree-state.js';
import {
  asker,
  latticeMessages,
  queryProgress,
  type MessageType,
  type StatesRequest,
} from '../pgc/serve/messages.js';
import type { CallersAnswer, CodedError } from '../pgc/shapes.js';
import { analyse, questionCharsMax } from '../pgc/search/question/question.js';
import { remoteAnalyses } from '../remote/analyses.js';
import { choose, isWithin, ranked, type Shards } from '../remote/shards.js';
import { citableTrees } from './citations.js';
import { inOneState, mixed } from './one-state.js';

/** Answers questions of the bus from the lattice they are about. */
export class QuestionHandler {
  readonly #shards: Shards;
  readonly #client: Client;
  readonly #journals: KeptJournals;
  readonly #prose: Prose;
  readonly #home: string;
  readonly #treeStates: TreeStates;

  constructor(parts: {
    shards: Shards;
    client: Client;
    journals: KeptJournals;
    prose: Prose;
    home: string;
  }) {
    const { shards, client, journals, prose, home } = parts;
    this.#home = home;
    this.#treeStates = new TreeStates(home);
    this.#shards = shards;
    this.#client = client;
    this.#journals = journals;
    this.#prose = prose;
  }

  serveOn(client: Client): void {
    const serve = <Q, A>(
      message: MessageType<Q, A>,
      answer: (request: Q, options: Asked) => Promise<A>,
    ): void => {
      client.serve({
        [message.type]: async (incoming: Incoming) =>
          message.answer.encode(
            await answer(message.request.decode(incoming.body), askedIn(incoming)),
          ),
      });
    };
    const its = latticeMessages;
    client.serve({ [its.query.type]: (incoming) => this.#query(incoming) });
    serve(its.ask, async (request, options) =>
      this.#inOneState(
        await this.#lattice(byWords(request.question), options),
        options,
        (tree, left) => tree.ask(request, left),
      ),
    );
    serve(its.locate, async (request, options) =>
      this.#inOneState(
        await this.#lattice(byWords(beginningOf(request)), options),
        options,
        (tree, left) => tree.locate(request, left),
      ),
    );
    serve(its.callers, (request, options) =>
      this.#aboutSymbol(
        request.symbol,
        options,
        (tree, left) => tree.callers(request, left),
        isUsed,
      ),
    );
    serve(its.references, (request, options) =>
      this.#aboutSymbol(
        request.symbol,
        options,
        (tree, left) => tree.references(request, left),
        isUsed,
      ),
    );
    serve(its.sources, (request, options) =>
      this.#aboutSymbol(
        request.symbols[0] ?? '',
        options,
        (tree, left) => tree.sources(request, left),
        ({ sources }) => sources.length > 0,
      ),
    );
    serve(its.callees, (request, options) =>
      this.#aboutSymbol(
        request.symbol,
        options,
        (tree, left) => tree.callees(request, left),
        isDefined,
      ),
    );
    serve(its.implementations, (request, options) =>
      this.#aboutSymbol(
        request.symbol,
        options,
        (tree, left) => tree.implementations(request, left),
        isDefined,
      ),
    );
    serve(its.trace, (request, options) =>
      this.#aboutSymbol(
        request.from,
        options,
        (tree, left) => tree.trace(request, left),
        ({ found, errors }) => found || errors.length === 0,
      ),
    );
    serve(its.shards, async () => {
      const all = [...(await this.#shards.lattices()).values()];
      const unknown = all.flatMap((lattice) => lattice.unknownShards().map(({ agent }) => agent));
      return { known: all.flatMap(({ cards }) => [...cards.keys()]), unknown };
    });
    serve(its.topology, async (_, options) => (await this.#about(bySize, options)).topology());
    serve(its.path, async (request) =>
      (await this.#about(byAgent(request.from), named)).path(request),
    );
    serve(its.blastRadius, (request, options) =>
      this.#analysed(bySymbol(request.symbol), options, (tree) =>
        tree.blastRadius(request, options),
      ),
    );
    serve(its.securityBlastRadius, (request, options) =>
      this.#analysed(bySymbol(request.symbol), options, (tree) =>
        tree.securityBlastRadius(request, options),
      ),
    );
    serve(its.patterns, (request, options) =>
      this.#analysed(bySize, options, (tree) => tree.patterns(request, options)),
    );
    serve(its.algebra, (request, options) =>
      this.#analysed(bySize, options, (tree) => tree.algebra(request, options)),
    );
    serve(its.measures, (request, options) =>
      this.#analysed(bySize, options, (tree) => tree.measures(request, options)),
    );
    serve(its.states, async (request, { folder }) => ({
      trees: await this.#states(request, folder),
    }));
    serve(its.verify, async ({ citations }, options) => {
      const trees = await citableTrees(this.#shards, this.#home);
      return { results: await verifyAll(trees, citations, options) };
    });
  }

  /** Its steps are stored: after a restart of the manager the same query continues where it was. */
  async #query(incoming: Incoming): Promise<Buffer> {
    const { query } = latticeMessages;
    const request = query.request.decode(incoming.body);
    const options = askedIn(incoming);
    const questions = await this.#about(byWords(request.question), options);
    const key = `${incoming.from}\0${incoming.body.toString('base64')}`;
    const untilMs = systemClock.nowMs() + options.deadlineMs;
    const { versions, kept } = questions.lattice;
    const isOneState = kept.states.watch();
    const answer = await this.#journals.run({ key, versions, untilMs }, (journal) =>
      questions.query(request, {
        ...options,
        journal,
        onProgress: (progress) => void incoming.progress(queryProgress.encode(progress)),
      }),
    );
    return query.answer.encode(isOneState() ? answer : mixed(answer, questions.lattice));
  }

  /**
   * First the asker's own tree, then those that export the symbol; then the rest, whose private symbols no card names. A tree that lacks a
   * shard does not keep the question from the next one.
   */
  async #aboutSymbol<A extends { errors: CodedError[] }>(
    symbol: string,
    options: Asked,
    ask: (questions: ProseQuestions, options: AskingOptions) => Promise<A>,
    isKnown: (answer: A) => boolean,
  ): Promise<A> {
    const lattices = ranked(await this.#shards.lattices(), bySymbol(symbol), options.folder);
    let first: A | undefined;
    for (const [, lattice] of lattices) {
      const answer = await this.#inOneState(lattice, options, ask);
      if (isKnown(answer)) return answer;
      first ??= answer;
    }
    if (first === undefined) throw new BusError('NO_SHARDS');
    return first;
  }

  /** Of the trees that this home has an index of: what stands in the folder of another card is not told. */
  async #states({ agents, paths, compares }: StatesRequest, folder: string): Promise<TreeState[]> {
    const asked = new Set(agents);
    const cards = await citableTrees(this.#shards, this.#home);
    const named = cards.filter((card) => asked.has(card.agent) || asked.has(card.alias));
    // Shards of two trees may have the same name: the asker's own tree answers first.
    const own = named.filter(({ root }) => isWithin(folder, root));
    const meant = own.length > 0 ? own : named;
    const trees = new Map<string, Map<string, string>>();
    for (const { root, alias, index_version } of meant.length > 0 ? meant : cards)
      trees.set(root, (trees.get(root) ?? new Map<string, string>()).set(alias, index_version));
    const states = [...trees].map(([root, versions]) =>
      this.#treeStates.of(root, compares ? paths : undefined, versions),
    );
    return (await Promise.all(states)).filter((state) => state !== undefined);
  }

  /** By the first tree that knows the symbol, in order of their rank. */
  async #analysed<A>(
    rank: (lattice: Lattice) => number,
    { folder }: Asked,
    ask: (analyses: Analyses) => Promise<A>,
  ): Promise<A> {
    const lattices = ranked(await this.#shards.lattices(), rank, folder);
    let unknown: unknown = new BusError('NO_SHARDS');
    for (const [root] of lattices) {
      try {
        return await ask(remoteAnalyses(this.#client, root));
      } catch (error) {
        if (asBusError(error).code !== 'NO_SUCH_SYMBOL') throw error;
        unknown = error;
      }
    }
    throw unknown;
  }

  #inOneState<A extends { errors: CodedError[] }>(
    lattice: Lattice,
    options: AskingOptions,
    ask: (questions: ProseQuestions, options: AskingOptions) => Promise<A>,
  ): Promise<A> {
    return inOneState(this.#shards, lattice, options, (its, deadlineMs) =>
      ask(this.#questions(its), { ...options, deadlineMs }),
    );
  }

  async #about(
    rank: (lattice: Lattice) => number,
    asked: Pick<Asked, 'folder'>,
  ): Promise<ProseQuestions> {
    return this.#questions(await this.#lattice(rank, asked));
  }

  async #lattice(
    rank: (lattice: Lattice) => number,
    { folder }: Pick<Asked, 'folder'>,
  ): Promise<Lattice> {
    return choose(await this.#shards.lattices(), rank, folder);
  }

  #questions(lattice: Lattice): ProseQuestions {
    return new ProseQuestions(this.#prose, lattice, systemClock);
  }
}

interface Asked extends AskingOptions {
  /** Where the asker is. */
  folder: string;
}

/** What is named by an agent of it is in one tree. */
const named = { folder: '' };

function askedIn(incoming: Incoming): Asked {
  const { asker_folder: folder } = asker.decode(incoming.body);
  return { ...optionsOf(incoming), folder };
}

function isDefined({ definitions }: { definitions: object[]; errors: CodedError[] }): boolean {
  return definitions.length > 0;
}

function isUsed({ definitions, callers }: CallersAnswer): boolean {
  return definitions.length + callers.length > 0;
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
