import type { RequestOptions } from '../client/request.js';
import type { Client } from '../client/client.js';
import type { AskingOptions, Questions } from '../lattice/questions.js';
import type { LocateAnswer, LocateRequest } from '../pgc/search/locate/locate.js';
import {
  latticeMessages,
  latticeService,
  queryProgress,
  shardMessages,
  type MessageType,
} from '../pgc/serve/messages.js';
import type { AlgebraAnswer } from '../pgc/analyse/algebra/evaluate.js';
import type {
  AlgebraRequest,
  BlastRequest,
  PatternsRequest,
  SecurityRequest,
} from '../pgc/analyse/analyses.js';
import type { BlastRadius } from '../pgc/analyse/blast-radius.js';
import type { DependencyPatterns } from '../pgc/analyse/dependency-patterns.js';
import type { SecurityBlastRadius } from '../pgc/analyse/security-blast-radius.js';
import type {
  Answer,
  AskRequest,
  CalleesAnswer,
  CallersAnswer,
  LatticeQuery,
  TopologyAnswer,
  TraceAnswer,
  Verdict,
} from '../pgc/shapes.js';
import { insane, isSaneAnswer } from './foreign-answer.js';
import { ask } from './request.js';

/** One agent's own answer. Throws UNKNOWN_AGENT, AGENT_OFFLINE, AMBIGUOUS_ALIAS, AGENT_FAILED. */
export async function askAgent(
  client: Client,
  agent: string,
  request: AskRequest,
  deadlineMs: number,
  signal?: AbortSignal,
): Promise<Answer> {
  const options = { deadlineMs, isIdempotent: true, ...(signal === undefined ? {} : { signal }) };
  const answer = await ask(client, `agent:${agent}`, shardMessages.ask, request, options);
  if (!isSaneAnswer(answer)) throw insane(agent);
  return answer;
}

/** The manager's answers over the bus. */
export class RemoteQuestions implements Questions {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  query(request: LatticeQuery, options: AskingOptions): Promise<Answer> {
    const { onProgress } = options;
    const onPartial = (body: Buffer): void => onProgress?.(queryProgress.decode(body));
    return this.#ask(latticeMessages.query, request, { ...options, onPartial });
  }

  ask(request: AskRequest, options: AskingOptions): Promise<Answer> {
    return this.#ask(latticeMessages.ask, request, options);
  }

  locate(request: LocateRequest, options: AskingOptions): Promise<LocateAnswer> {
    return this.#ask(latticeMessages.locate, request, options);
  }

  callers(symbol: string, options: AskingOptions, cite = 0): Promise<CallersAnswer> {
    return this.#ask(latticeMessages.callers, { symbol, cite }, options);
  }

  callees(symbol: string, options: AskingOptions): Promise<CalleesAnswer> {
    return this.#ask(latticeMessages.callees, { symbol }, options);
  }

  trace(from: string, to: string, options: AskingOptions): Promise<TraceAnswer> {
    return this.#ask(latticeMessages.trace, { from, to }, options);
  }

  topology(options: AskingOptions): Promise<TopologyAnswer> {
    return this.#ask(latticeMessages.topology, {}, options);
  }

  async path(from: string, to: string, maxHops: number, options: AskingOptions): Promise<string[]> {
    return (await this.#ask(latticeMessages.path, { from, to, max_hops: maxHops }, options)).path;
  }

  async verify(citations: object[], options: AskingOptions): Promise<Verdict[]> {
    return (await this.#ask(latticeMessages.verify, { citations }, options)).results;
  }

  blastRadius(request: BlastRequest, options: AskingOptions): Promise<BlastRadius> {
    return this.#ask(latticeMessages.blastRadius, request, options);
  }

  securityBlastRadius(
    request: SecurityRequest,
    options: AskingOptions,
  ): Promise<SecurityBlastRadius> {
    return this.#ask(latticeMessages.securityBlastRadius, request, options);
  }

  patterns(request: PatternsRequest, options: AskingOptions): Promise<DependencyPatterns> {
    return this.#ask(latticeMessages.patterns, request, options);
  }

  algebra(request: AlgebraRequest, options: AskingOptions): Promise<AlgebraAnswer> {
    return this.#ask(latticeMessages.algebra, request, options);
  }

  #ask<Q, A>(message: MessageType<Q, A>, request: Q, options: RequestOptions): Promise<A> {
    const asked = { ...options, isIdempotent: true };
    return ask(this.#client, `service:${latticeService}`, message, request, asked);
  }
}
