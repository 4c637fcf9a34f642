import path from 'node:path';
import { systemClock } from '../../src/base/clock.js';
import type { Client } from '../../src/client/client.js';
import type { Incoming } from '../../src/client/responder.js';
import type { Config } from '../../src/config/config.js';
import { asBusError, BusError } from '../../src/errors/bus-error.js';
import { KeptJournals } from '../../src/lattice/query/kept-journals.js';
import { LatticeQuestions, verifyAll, type AskingOptions } from '../../src/lattice/questions.js';
import type { Prose } from '../../src/lattice/prose/port.js';
import { ProseQuestions } from '../../src/lattice/prose/prose-questions.js';
import type { Lattice } from '../../src/lattice/lattice.js';
import type { Analyses } from '../../src/pgc/analyse/analyses.js';
import type { Trace } from '../../src/base/trace.js';
import { HealthServer, type Verdict } from '../../src/observe/health-server.js';
import { openLog, traceTo, type Logger } from '../../src/observe/log.js';
import type { LocateRequest } from '../../src/pgc/search/locate/locate.js';
import {
  latticeMessages,
  latticeService,
  queryProgress,
  troublePrefix,
  type MessageType,
} from '../../src/pgc/serve/messages.js';
import { analyse, questionCharsMax } from '../../src/pgc/search/question/question.js';
import { managerLayout, tasksLayout } from '../../src/store/layouts.js';
import { LevelStore } from '../../src/store/level-store.js';
import { optionsOf } from '../asking-options.js';
import { proseOf } from '../prose.js';
import { endOf, notifySystemd, openClient, untilAccepted, untilStopped } from '../process.js';
import { RemoteAnalyses } from './remote-analyses.js';
import { choose, Shards } from './shards.js';
import { policyOf } from '../attention/policy-file.js';
import { attentionParts } from './attention.js';
import { KeptTasks } from './kept-tasks.js';
import { TaskDesk } from './task-desk.js';

/** `sigma agent manager`: answers questions over all shards, until it is told to stop. */
export async function runManager(config: Config): Promise<void> {
  const log = openLog(config, { service: 'manager' });
  const stopped = untilStopped();
  // Known before anything is served: a second manager of this home ends here.
  let onChange = (): void => undefined;
  await using journals = await KeptJournals.open({
    openStore: () => openStore(config),
    clock: systemClock,
    onChange: (trouble) => {
      if (trouble === undefined) log.info('queries survive a restart');
      else log.warn({ code: trouble.code, path: storeOf(config) }, trouble.message);
      onChange();
    },
  });
  const client = openClient(
    config,
    { agent: 'manager', role: 'manager', isEphemeral: false },
    traceTo(log),
  );
  const shards = new Shards(client, log);
  const desk = new Desk(shards, client, journals, proseOf(config));
  desk.serveOn(client);
  const tasks = new KeptTasks({
    open: async () => {
      const store = await openTasks(config);
      try {
        const attention = attentionParts(config);
        const { upstream } = policyOf(config);
        const parts = { client, store, shards, log, config, attention, upstream };
        return [await TaskDesk.open(parts), store] as const;
      } catch (error) {
        await store[Symbol.asyncDispose]();
        throw error;
      }
    },
    log,
  });
  const introduced = untilAccepted(client, log, () => introduce(client, journals, log));
  // Who asks for the status reads it there.
  onChange = () => void introduced.then(() => register(client, journals)).catch(() => undefined);
  void introduced.then(() => tasks.begin());
  await using health = await openHealth(config, tasks, traceTo(log));
  if (health !== undefined) log.info({ port: health.port }, 'telling how tasks fare');
  try {
    await Promise.race([introduced, stopped]);
    await endOf(stopped, [client], log);
  } finally {
    // What waits for a broker that is gone ends with the client, not before.
    const ended = tasks[Symbol.asyncDispose]();
    await client.close();
    await ended;
  }
}

/** Throws HTTP_ADDRESS. */
async function openHealth(
  { managerHttp: address }: Config,
  tasks: KeptTasks,
  trace: Trace,
): Promise<HealthServer | undefined> {
  if (address === 'off') return undefined;
  const { samplesContentType, samplesText } = await import('../../src/observe/samples.js');
  const { samplesOf } = await import('../../src/task/numbers/samples.js');
  const metrics = {
    contentType: samplesContentType,
    text: () => samplesText(tasks.desk === undefined ? [] : samplesOf(tasks.desk.numbers())),
  };
  const verdict = (): Verdict => {
    const isReady = tasks.desk !== undefined;
    const store = isReady ? 'serving' : 'opening';
    return { isHealthy: true, isReady, state: 'serving', store };
  };
  return HealthServer.open({ address, verdict, metrics, trace });
}

/** Throws as `openStore`. */
function openTasks({ home }: Config): Promise<LevelStore> {
  const folder = path.join(home, 'manager', 'tasks');
  return LevelStore.open(folder, { layout: tasksLayout, clock: systemClock, random: Math.random });
}

/** Where queries under way are kept. Throws STORE_LOCKED, STORE_SCHEMA, STORE_UNAVAILABLE. */
function openStore(config: Config): Promise<LevelStore> {
  return LevelStore.open(storeOf(config), {
    layout: managerLayout,
    clock: systemClock,
    random: Math.random,
  });
}

function storeOf({ home }: Config): string {
  return path.join(home, 'manager', 'store');
}

function register(client: Client, { trouble }: KeptJournals): Promise<void> {
  return client.register({
    alias: 'manager',
    model: '',
    project: '',
    scope: [],
    overlays: {},
    capabilities: ['lattice', ...(trouble === undefined ? [] : [troublePrefix + trouble.code])],
    protocol_versions: ['1.0'],
  });
}

async function introduce(client: Client, journals: KeptJournals, log: Logger): Promise<void> {
  await register(client, journals);
  await client.offer([latticeService]);
  log.info('serving');
  await notifySystemd('READY=1');
}

/** Takes a question from the bus to the lattice it is about. */
class Desk {
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
    const { query, ask, locate, callers, callees, trace, topology, path, verify } = latticeMessages;
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
    serve(callers, ({ symbol, cite }, options) =>
      this.#aboutSymbol(
        symbol,
        (questions) => questions.callers(symbol, options, cite),
        ({ definitions, callers: sites }) => definitions.length + sites.length > 0,
      ),
    );
    serve(callees, ({ symbol }, options) =>
      this.#aboutSymbol(
        symbol,
        (questions) => questions.callees(symbol, options),
        ({ definitions }) => definitions.length > 0,
      ),
    );
    serve(trace, ({ from, to }, options) =>
      this.#aboutSymbol(
        from,
        (questions) => questions.trace(from, to, options),
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

  /** Its steps are kept: asked again of a manager that starts anew, it goes on where it was. */
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
   * The trees that define the symbol for others first; then the rest, whose private symbols no card names. A tree that
   * lacks a shard does not keep the question from the next one.
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
