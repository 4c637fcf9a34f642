import { systemClock } from '../../src/base/clock.js';
import type { Client } from '../../src/client/client.js';
import type { Incoming } from '../../src/client/responder.js';
import type { Config } from '../../src/config/config.js';
import { BusError } from '../../src/errors/bus-error.js';
import { LatticeQuestions, verifyAll, type AskingOptions } from '../../src/lattice/questions.js';
import type { Lattice } from '../../src/lattice/query.js';
import { openLog, traceTo, type Logger } from '../../src/observe/log.js';
import type { LocateRequest } from '../../src/pgc/locate/locate.js';
import { latticeMessages, latticeService, type MessageType } from '../../src/pgc/messages.js';
import { analyse, questionCharsMax } from '../../src/pgc/question.js';
import { endOf, notifySystemd, openClient, untilAccepted, untilStopped } from '../process.js';
import { choose, Shards } from './shards.js';

/** A question that names no deadline is answered, as far as it can be, within this. */
const deadlineMsDefault = 30_000;
const answerMarginMs = 250;

/** `sigma agent manager`: answers questions over all shards, until it is told to stop. */
export async function runManager(config: Config): Promise<void> {
  const log = openLog(config, { service: 'manager' });
  const stopped = untilStopped();
  const client = openClient(
    config,
    { agent: 'manager', role: 'manager', isEphemeral: false },
    traceTo(log),
  );
  const desk = new Desk(new Shards(client, log));
  desk.serveOn(client);
  const introduced = untilAccepted(client, log, () => introduce(client, log));
  try {
    await Promise.race([introduced, stopped]);
    await endOf(stopped, [client], log);
  } finally {
    await client.close();
  }
}

async function introduce(client: Client, log: Logger): Promise<void> {
  await client.register({
    alias: 'manager',
    model: '',
    project: '',
    scope: [],
    overlays: {},
    capabilities: ['lattice'],
    protocol_versions: ['1.0'],
  });
  await client.offer([latticeService]);
  log.info('serving');
  await notifySystemd('READY=1');
}

/** Takes a question from the bus to the lattice it is about. */
class Desk {
  readonly #shards: Shards;

  constructor(shards: Shards) {
    this.#shards = shards;
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
    serve(query, async (request, options) =>
      (await this.#about(byWords(request.question))).query(request, options),
    );
    serve(ask, async (request, options) =>
      (await this.#about(byWords(request.question))).ask(request, options),
    );
    serve(locate, async (request, options) =>
      (await this.#about(byWords(beginningOf(request)))).locate(request, options),
    );
    serve(callers, ({ symbol }, options) =>
      this.#aboutSymbol(symbol, (questions) => questions.callers(symbol, options)),
    );
    serve(callees, ({ symbol }, options) =>
      this.#aboutSymbol(symbol, (questions) => questions.callees(symbol, options)),
    );
    serve(trace, ({ from, to }, options) =>
      this.#aboutSymbol(from, (questions) => questions.trace(from, to, options)),
    );
    serve(topology, async () => (await this.#about(bySize)).topology());
    serve(path, async ({ from, to, max_hops }) => ({
      path: await (await this.#about(byAgent(from))).path(from, to, max_hops),
    }));
    serve(verify, async ({ citations }, options) => {
      const lattices = [...(await this.#shards.lattices()).values()];
      const cards = lattices.flatMap((lattice) => [...lattice.cards.values()]);
      return { results: await verifyAll(cards, citations, options) };
    });
  }

  /** The trees that define the symbol for others first; then the rest, whose private symbols no card names. */
  async #aboutSymbol<A extends { errors: { code: string }[] }>(
    symbol: string,
    ask: (questions: LatticeQuestions) => Promise<A>,
  ): Promise<A> {
    const rank = bySymbol(symbol);
    const lattices = [...(await this.#shards.lattices()).values()].sort(
      (a, b) => rank(b) - rank(a),
    );
    let first: A | undefined;
    for (const lattice of lattices) {
      const answer = await ask(new LatticeQuestions(lattice, systemClock));
      if (!answer.errors.some((error) => error.code === 'NO_SUCH_SYMBOL')) return answer;
      first ??= answer;
    }
    if (first === undefined) throw new BusError('NO_SHARDS');
    return first;
  }

  async #about(rank: (lattice: Lattice) => number): Promise<LatticeQuestions> {
    return new LatticeQuestions(choose(await this.#shards.lattices(), rank), systemClock);
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
    lattice.owners.has(symbol.slice(symbol.search(/[^#:]*$/))) ? 1 : 0;

const byAgent =
  (agent: string) =>
  (lattice: Lattice): number =>
    lattice.cards.has(agent) ? 1 : 0;

const bySize = (lattice: Lattice): number => lattice.cards.size;

/** A partial answer must still reach the requester before it stops waiting. */
function optionsOf(incoming: Incoming): AskingOptions {
  const leftMs = incoming.deadlineMs > 0 ? incoming.deadlineMs : deadlineMsDefault;
  return { deadlineMs: Math.max(leftMs - answerMarginMs, leftMs * 0.8), signal: incoming.signal };
}
