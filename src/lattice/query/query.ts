import type { Clock } from '../../base/clock.js';
import { unreachable } from '../../base/assert.js';
import { BusError } from '../../errors/bus-error.js';
import { start, step, type Step } from '../../machine/step.js';
import {
  analyse,
  queryIntent,
  withHints,
  type Question,
} from '../../pgc/search/question/question.js';
import {
  engineName,
  type Answer,
  type Evidence,
  type FlowEdge,
  type Hop,
  type HopAnswer,
  type LatticeQuery,
  type QueryProgress,
} from '../../pgc/shapes.js';
import { failureOf, merged, orAborted } from '../fan-out.js';
import { entryPrior } from './entry-prior.js';
import { Findings } from './findings.js';
import { noJournal, type Journal, type QueryStep } from './journal.js';
import { linksOf, placeOf, type Link } from './links.js';
import { linksThroughHeaders } from './header-links.js';
import { linkTrust } from './link-trust.js';
import { edgesOf, viaOf } from './told-links.js';
import { LinkWeigher } from './link-weight.js';
import {
  maxHopsDefault,
  outstanding,
  queryMachine,
  type QueryContext,
  type QueryEffect,
  type QueryEvent,
} from './query.machine.js';
import type { Lattice } from '../lattice.js';
import type { Ranked } from '../route/routing.js';
import { doubts, judged, questionHash } from '../../pgc/answer/ask.js';

/** Upper limit of agents that one query visits. */
export const maxHopsLimit = 32;
const referencesPerHop = 40;
/** Places that one answer shows, the best of each agent: more are no answer. */
const evidenceMax = 48;
/** Number of agents that are probed: those with nearly the score of the best. */
const probesMin = 2;
const probesMax = 5;
const probeShare = 0.65;
/** Shares of a query's time: for the answer of one agent, and for the far ends of its references. */
const agentShare = 0.4;
const linkShare = 0.25;
/** Weight of a word that belongs to one shard, relative to an identifier that it defines. */
const wordEvidence = 0.5;

export interface QueryLimits {
  clock: Clock;
  /** For the whole query; at its end the answer is what is known. */
  deadlineMs: number;
  signal?: AbortSignal | undefined;
  /** Journal of its steps; absent: none. */
  journal?: Journal | undefined;
  onProgress?: ((progress: QueryProgress) => void) | undefined;
}

/**
 * Answers a question over many shards. Throws EMPTY_QUESTION, UNKNOWN_AGENT (of `from`), NO_SHARDS and
 * CANCELLED; every failure of an agent on the way is in `errors[]` instead, with `partial: true`.
 */
export async function query(
  lattice: Lattice,
  request: LatticeQuery,
  limits: QueryLimits,
): Promise<Answer> {
  return new QueryRun(lattice, request, limits).run();
}

class QueryRun {
  readonly #lattice: Lattice;
  readonly #request: LatticeQuery;
  readonly #limits: QueryLimits;
  readonly #question: Question;
  readonly #maxHops: number;
  readonly #ranked: Ranked[];
  readonly #weigher: LinkWeigher;
  readonly #abort = new AbortController();
  readonly #findings: Findings;
  readonly #events: QueryEvent[] = [];
  #wake: () => void = () => undefined;

  constructor(lattice: Lattice, request: LatticeQuery, limits: QueryLimits) {
    this.#lattice = lattice;
    this.#findings = new Findings(lattice.unknownShards());
    this.#request = request;
    this.#limits = limits;
    this.#question = withHints(analyse(request.question), request.query_hints ?? []);
    this.#maxHops = Math.max(
      1,
      Math.min(maxHopsLimit, Math.trunc(request.max_hops) || maxHopsDefault),
    );
    this.#ranked = this.#candidates();
    this.#weigher = new LinkWeigher(this.#question, lattice.directory);
  }

  async run(): Promise<Answer> {
    const { clock, deadlineMs, signal } = this.#limits;
    const startedMs = clock.monotonicMs();
    const onCancel = (): void => this.#send({ type: 'cancelled' });
    const timer = clock.after(deadlineMs, () => this.#send({ type: 'deadline.reached' }));
    if (signal?.aborted === true) onCancel();
    else signal?.addEventListener('abort', onCancel, { once: true });
    try {
      const context = await this.#converse();
      if (context.reason !== null) throw new BusError(context.reason);
      return this.#compose(context, clock.monotonicMs() - startedMs);
    } finally {
      timer[Symbol.dispose]();
      signal?.removeEventListener('abort', onCancel);
      this.#abort.abort(new BusError('CANCELLED'));
    }
  }

  /** Feeds the machine until it ends. Events that are late for its state are dropped. */
  async #converse(): Promise<QueryContext> {
    const { journal = noJournal } = this.#limits;
    let { snapshot, effects } = this.#begin(journal.past);
    for (const effect of effects) this.#perform(effect);
    while (snapshot.status === 'active') {
      const event = this.#events.shift();
      if (event === undefined) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
        continue;
      }
      if (!snapshot.can(event)) continue;
      if (event.type === 'deadline.reached') this.#expire(snapshot.context);
      else if (event.type !== 'cancelled') await journal.add(this.#findings.stepOf(event));
      ({ snapshot, effects } = step(queryMachine, snapshot, event));
      for (const effect of effects) this.#perform(effect);
      this.reportProgress(snapshot.context);
    }
    return snapshot.context;
  }

  /** Begins anew, or continues from the steps of an earlier process and repeats its pending requests. */
  #begin(past: readonly QueryStep[]): Step<typeof queryMachine> {
    const first = start(queryMachine, { maxHops: this.#maxHops });
    if (past.length === 0) return first;
    let { snapshot } = first;
    for (const each of past) {
      if (!snapshot.can(each.event)) continue;
      this.#findings.take(each);
      ({ snapshot } = step(queryMachine, snapshot, each.event));
    }
    return { snapshot, effects: outstanding(snapshot) };
  }

  reportProgress({ visited }: QueryContext): void {
    this.#limits.onProgress?.({ visited, agents_asked: this.#findings.asked.size });
  }

  #send(event: QueryEvent): void {
    this.#events.push(event);
    this.#wake();
  }

  #expire(context: QueryContext): void {
    const error = new BusError('DEADLINE_EXCEEDED', { ms: this.#limits.deadlineMs });
    const isEntering = context.visited.length === 0;
    const unprobed = context.candidates.filter(
      (agent) => isEntering && !this.#findings.answers.has(agent),
    );
    const waiting = [...context.asking, ...unprobed];
    for (const agent of waiting) this.#findings.errors.push({ ...error.toFailure(), agent });
    this.#abort.abort(error);
  }

  #perform(effect: QueryEffect): void {
    switch (effect.type) {
      case 'shards.rank':
        this.#send({ type: 'shards.ranked', agents: this.#ranked.map((each) => each.agent) });
        return;
      case 'agent.probe':
        return void this.#probe(effect.agent);
      case 'agent.hop':
        return void this.#hop(effect.agent, effect.links);
      case 'answer.compose':
        this.#send({ type: 'answer.composed' });
        return;
      default:
        return unreachable(effect);
    }
  }

  #candidates(): Ranked[] {
    const ranked = this.#lattice.router.rank(this.#question);
    const { from } = this.#request;
    if (from === '') return toProbe(ranked);
    const named = ranked.filter(
      (each) => each.agent === from || this.#lattice.cards.get(each.agent)?.alias === from,
    );
    if (named.length === 0) throw new BusError('UNKNOWN_AGENT', { agent: from });
    return named.slice(0, 1);
  }

  async #probe(agent: string): Promise<void> {
    try {
      const { answer, links } = await this.#ask(agent, []);
      const best = Math.max(
        0,
        ...answer.evidence.map(
          ({ similarity, ...each }) => similarity * entryPrior(each, this.#question),
        ),
      );
      const strength = best === 0 ? 0 : this.#strengthOf(agent, best);
      const entries = answer.evidence.map((each) => `${each.file_path}:${each.line_start}`);
      this.#send({ type: 'probe.answered', agent, strength, entries, links });
    } catch (error) {
      this.#fail(agent, error);
      this.#send({ type: 'probe.failed', agent });
    }
  }

  /** The similarity that the shard found, scaled by its routing score, plus evidence of names and words. */
  #strengthOf(agent: string, similarity: number): number {
    const ranked = this.#ranked.find((each) => each.agent === agent);
    const top = this.#ranked[0]?.score ?? 0;
    if (ranked === undefined || top === 0) return similarity;
    const evidence = ranked.evidence.length + wordEvidence * ranked.words.length;
    return (similarity * ranked.score) / top + evidence;
  }

  async #hop(agent: string, ids: string[]): Promise<void> {
    try {
      const chosen = ids.flatMap((id) => this.#findings.links.get(id) ?? []);
      const { links } = await this.#ask(agent, chosen);
      this.#send({ type: 'hop.answered', agent, links });
    } catch (error) {
      this.#fail(agent, error);
      this.#send({ type: 'hop.failed', agent });
    }
  }

  async #ask(
    agent: string,
    followed: readonly Link[],
  ): Promise<{ answer: HopAnswer; links: Link[] }> {
    const startedMs = this.#limits.clock.monotonicMs();
    this.#findings.asked.add(agent);
    const port = this.#lattice.ports.get(agent);
    if (port === undefined) throw new BusError('AGENT_OFFLINE', { agent });
    const { question, top_k, query_hints = [] } = this.#request;
    const symbols = followed.map(({ definition }) => placeOf(definition));
    const hop = {
      question,
      symbols: [...new Set(symbols)],
      top_k,
      references_max: referencesPerHop,
      query_hints,
    };
    using patience = this.timeLimit(agentShare);
    const answer = await orAborted(port.hop(hop, patience.signal), patience.signal);
    const { ports, directory } = this.#lattice;
    using linking = this.timeLimit(linkShare);
    const { signal } = linking;
    const linker = { ports, directory, weigher: this.#weigher, signal };
    const direct = await linksOf(linker, agent, answer.references, followed);
    const { links, asked, errors } = await linksThroughHeaders(
      linker,
      question,
      agent,
      direct.links,
    );
    for (const each of [...direct.asked, ...asked]) this.#findings.asked.add(each);
    for (const link of links) this.#findings.links.set(link.id, link);
    this.#findings.errors.push(...direct.errors, ...errors);
    this.#findings.answers.set(agent, {
      answer,
      via: followed[0],
      elapsedMs: this.#limits.clock.monotonicMs() - startedMs,
    });
    return { answer, links };
  }

  /** Aborts with the query, or after a share of its time, so that one silent agent does not cost the answer. */
  timeLimit(share: number): { signal: AbortSignal } & Disposable {
    const { clock, deadlineMs } = this.#limits;
    const late = new AbortController();
    const ms = Math.ceil(deadlineMs * share);
    const timer = clock.after(ms, () => late.abort(new BusError('DEADLINE_EXCEEDED', { ms })));
    const signal = AbortSignal.any([this.#abort.signal, late.signal]);
    return { signal, [Symbol.dispose]: () => timer[Symbol.dispose]() };
  }

  #fail(agent: string, error: unknown): void {
    // The deadline was reported already, for all that were still asked.
    if (!this.#abort.signal.aborted) this.#findings.errors.push(failureOf(agent, error));
  }

  #compose(context: QueryContext, elapsedMs: number): Answer {
    const evidence: Evidence[] = [];
    const flow: FlowEdge[] = [];
    const hops = context.visited.flatMap((agent) => this.#hopOf(agent, context, evidence, flow));
    const errors = merged(this.#findings.errors);
    if (hops.length === 0 && errors.length === 0) {
      errors.push({ ...new BusError('NOT_FOUND').toFailure(), agent: '' });
    }
    const path = hops.map((hop) => hop.agent);
    const { question: text, top_k } = this.#request;
    // What the way was led to stands and falls with where it began.
    const entry = this.#findings.answers.get(path[0] ?? '');
    const judgement = judged(text, evidence, entry?.answer.likelihood);
    const cards = path.flatMap((agent) => this.#lattice.cards.get(agent) ?? []);
    return {
      question: text,
      ...judgement,
      ...{ evidence, flow, unsure: doubts(evidence, judgement), next: [], prose: '' },
      query_intent: queryIntent(this.#question),
      ...{ left_out: [], overlay_warnings: [] },
      errors,
      partial: context.isPartial || this.#findings.errors.length > 0,
      metadata: {
        question_hash: questionHash(text),
        top_k,
        elapsed_ms: round(elapsedMs),
        index_version: cards.map((card) => card.index_version).join('+'),
        engine: engineName,
        cached: false,
        agents_asked: this.#findings.asked.size,
        model: null,
      },
      query_path: path,
      hops,
      safety: { max_hops: this.#maxHops, actual_hops: path.length, visited_agents: path },
      root: this.#lattice.root,
    };
  }

  /**
   * Further along a chain of calls the code no longer contains the words of the question. A shard reached by checked links has the similarity of the entry, times the trust in such a link.
   */
  #entrySimilarity(context: QueryContext): number {
    const entry = this.#findings.answers.get(context.visited[0] ?? '');
    return Math.max(0, ...(entry?.answer.evidence ?? []).map((each) => each.similarity));
  }

  /** The visit of one agent; what it found is added to `evidence` and `flow`, numbered through. */
  #hopOf(agent: string, context: QueryContext, evidence: Evidence[], flow: FlowEdge[]): Hop[] {
    const known = this.#findings.answers.get(agent);
    if (known === undefined) return [];
    const { answer, via } = known;
    const reach = context.reach[agent] ?? 0;
    const vouched = via === undefined ? 0 : this.#entrySimilarity(context) * linkTrust(reach);
    const before = evidence.length;
    const quota = Math.ceil(evidenceMax / context.visited.length);
    const its = answer.evidence.slice(0, quota).map((each) => ({
      ...each,
      id: each.id + before,
      similarity: Math.max(each.similarity, round4(vouched)),
    }));
    evidence.push(...its);
    const calls = answer.flow.map((edge) => ({
      ...edge,
      evidence: edge.evidence === 0 || edge.evidence > its.length ? 0 : edge.evidence + before,
    }));
    const links = via === undefined ? [] : edgesOf(via);
    const isNew = ({ site, to }: FlowEdge): boolean =>
      !flow.some((edge) => edge.site === site && edge.to === to);
    // What led here was offered by the shard before, then checked at both ends.
    for (const edge of links) {
      const offered = flow.find(({ site, to }) => site === edge.site && to === edge.to);
      if (offered === undefined) flow.push(edge);
      else Object.assign(offered, { certainty: edge.certainty, definition: edge.definition });
    }
    flow.push(...calls.filter(isNew));
    return [
      {
        agent,
        scope: this.#lattice.cards.get(agent)?.scope ?? [],
        evidence: its.map(({ id }) => id),
        via: via === undefined ? null : viaOf(via, round4(reach)),
        elapsed_ms: round(known.elapsedMs),
      },
    ];
  }
}

/** The agents to probe: those near the best score, and always a second one. */
function toProbe(ranked: readonly Ranked[]): Ranked[] {
  const floor = probeShare * (ranked[0]?.score ?? 0);
  return ranked.filter(({ score }, at) => at < probesMin || score >= floor).slice(0, probesMax);
}

function round4(share: number): number {
  return Math.round(share * 1e4) / 1e4;
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
