import type { MissingOverlays, Pgc } from '../delegation/grounding/gathered.js';
import { systemClock } from '../base/clock.js';
import { pause } from '../base/pause.js';
import type { Client } from '../client/client.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import type { AlgebraAnswer } from '../pgc/analyse/algebra/evaluate.js';
import type { BlastRequest } from '../pgc/analyse/analyses.js';
import type { BlastRadius } from '../pgc/analyse/blast-radius.js';
import type { DependencyPatterns } from '../pgc/analyse/dependency-patterns.js';
import type { SecurityBlastRadius } from '../pgc/analyse/security-blast-radius.js';
import {
  latticeMessages,
  latticeService,
  shardMessages,
  type MessageType,
} from '../pgc/serve/messages.js';
import { citationsMax, engineName, type Answer, type CallersAnswer } from '../pgc/shapes.js';
import { sortedOut } from '../pgc/bind/call-sites.js';
import { plainName } from '../pgc/answer/verify.js';
import type { AgentRecord, AgentView } from '../wire/messages.js';
import type { OverlayWorks } from './overlay-works.js';

/** Of one question; one that takes longer has failed. */
const questionMsMax = 30_000;
/** Of one analysis: it may have a whole kernel to walk over. */
const analysisMsMax = 120_000;
/** Of the time that its task has left: something has to be made of what is found. */
const shareOfLeft = 0.5;
/** The other side may be restarting. */
const triesMax = 3;
const againAfterMs = 1_000;
const passing = new Set([
  'NO_RESPONDER',
  'RESPONDER_LOST',
  'BROKER_BUSY',
  'HOST_BUSY',
  'NO_BROKER',
]);

/** The PGC as a task wants it asked: the lattice, or one agent of it. */
export class PgcOnBus implements Pgc {
  readonly clock = systemClock;
  readonly #client: Client;
  /** Agent id or alias; empty: the lattice. */
  readonly #agent: string;
  readonly #works: OverlayWorks;
  readonly #signal: AbortSignal;
  readonly #leftMs: () => number;
  #bytes = 0;

  /** `leftMs`: that the task has. */
  constructor(parts: {
    client: Client;
    agent: string;
    works: OverlayWorks;
    signal: AbortSignal;
    leftMs: () => number;
  }) {
    this.#client = parts.client;
    this.#agent = parts.agent;
    this.#works = parts.works;
    this.#signal = parts.signal;
    this.#leftMs = parts.leftMs;
  }

  get bytes(): number {
    return this.#bytes;
  }

  ask(question: string, overlays: readonly string[]): Promise<Answer> {
    // What is wanted is evidence: prose would cost a model call, and is not read.
    const request = { question, overlays: [...overlays], top_k: 0, engine: engineName };
    return this.#agent === ''
      ? this.#lattice(latticeMessages.ask, request)
      : this.#shard(shardMessages.ask, request);
  }

  async callers(symbol: string, cite: number): Promise<CallersAnswer> {
    if (this.#agent === '') return this.#lattice(latticeMessages.callers, { symbol, cite });
    const symbols = [symbol];
    const [{ definitions }, { sites }] = await Promise.all([
      this.#shard(shardMessages.definitions, { symbols }),
      this.#shard(shardMessages.references, { symbols }),
    ]);
    const { callers, possible, uses_total } = sortedOut(sites);
    const wanted = [...callers]
      .sort((one, other) => Number(other.ignored) - Number(one.ignored))
      .slice(0, Math.min(cite, citationsMax));
    const asked = { callee: plainName(symbol), sites: wanted };
    const { citations } =
      wanted.length === 0 ? { citations: [] } : await this.#shard(shardMessages.citeCalls, asked);
    return {
      ...{ symbol, definitions, callers, errors: [], citations },
      ...{ possible, possible_total: possible.length, uses_total },
    };
  }

  blastRadius(request: BlastRequest): Promise<BlastRadius> {
    return this.#analysed(latticeMessages.blastRadius, request);
  }

  securityBlastRadius(symbol: string): Promise<SecurityBlastRadius> {
    return this.#analysed(latticeMessages.securityBlastRadius, { symbol });
  }

  patterns(limit: number, target: string): Promise<DependencyPatterns> {
    return this.#analysed(latticeMessages.patterns, { filter: 'dependencies', limit, target });
  }

  algebra(expression: string, limit: number): Promise<AlgebraAnswer> {
    return this.#analysed(latticeMessages.algebra, { expression, limit });
  }

  async generate(
    { overlays, agents }: MissingOverlays,
    isThere: () => Promise<boolean>,
  ): Promise<string[]> {
    const roots = await this.#roots(agents);
    const forMs = this.#leftMs() * shareOfLeft;
    return this.#works.make({ roots, overlays, isThere, signal: this.#signal, forMs });
  }

  /** Throws NO_SHARDS, AGENT_OFFLINE. */
  async #agents(): Promise<AgentView[]> {
    const online = (await this.#client.agents({ role: 'pgc' })).filter(
      ({ state }) => state === 'online',
    );
    if (this.#agent === '' && online.length === 0) throw new BusError('NO_SHARDS');
    const agent = this.#agent;
    const its = online.filter(
      ({ record: { id, alias } }) => agent === '' || id === agent || alias === agent,
    );
    if (its.length === 0) throw new BusError('AGENT_OFFLINE', { agent });
    return its;
  }

  /** Trees of those agents that say what they lack: of each tree one agent is asked. */
  async #roots(lacking: readonly string[]): Promise<string[]> {
    const online = await this.#agents();
    const theirs = online.filter(
      ({ record: { id, alias } }) => lacking.includes(id) || lacking.includes(alias),
    );
    const ofTree = new Map(
      (theirs.length === 0 ? online : theirs).map(({ record }) => [treeOf(record), record.id]),
    );
    const cards = await Promise.all(
      [...ofTree.values()].map((id) => this.#request(`agent:${id}`, shardMessages.card, {})),
    );
    return [...new Set(cards.map(({ root }) => root))];
  }

  #lattice<Q, A>(message: MessageType<Q, A>, request: Q): Promise<A> {
    return this.#request(`service:${latticeService}`, message, request);
  }

  /** What takes longer than there is time for is answered in part, or not at all: DEADLINE_EXCEEDED. */
  #analysed<Q, A>(message: MessageType<Q, A>, request: Q): Promise<A> {
    const forMs = Math.min(analysisMsMax, this.#leftMs() * shareOfLeft);
    return this.#request(`service:${latticeService}`, message, request, forMs);
  }

  #shard<Q, A>(message: MessageType<Q, A>, request: Q): Promise<A> {
    return this.#request(`agent:${this.#agent}`, message, request);
  }

  async #request<Q, A>(
    to: string,
    message: MessageType<Q, A>,
    request: Q,
    forMs = questionMsMax,
  ): Promise<A> {
    const body = message.request.encode(request);
    const endMs = performance.now() + forMs;
    for (let tries = 1; ; tries += 1) {
      try {
        const reply = await this.#client.request(to, message.type, body, {
          deadlineMs: Math.max(1, Math.round(endMs - performance.now())),
          isIdempotent: true,
          signal: this.#signal,
        });
        this.#bytes += reply.body.length;
        return message.answer.decode(reply.body);
      } catch (error) {
        const isOver = tries >= triesMax || performance.now() + againAfterMs >= endMs;
        if (!passing.has(asBusError(error).code) || isOver || this.#signal.aborted) throw error;
        await pause(systemClock, againAfterMs, this.#signal);
      }
    }
  }
}

/** Trees of one name differ by their plans. */
function treeOf({ project, capabilities }: AgentRecord): string {
  return [project, ...capabilities.filter((each) => each.startsWith('plan:'))].join(' ');
}
