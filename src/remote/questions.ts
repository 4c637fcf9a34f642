import type { RequestOptions } from '../client/request.js';
import type { Client } from '../client/client.js';
import type { AskingOptions, Questions, RowOptions } from '../lattice/questions.js';
import type { LocateAnswer, LocateRequest } from '../pgc/search/locate/locate.js';
import {
  latticeMessages,
  latticeService,
  queryProgress,
  shardMessages,
  type MessageType,
} from '../pgc/serve/messages.js';
import type {
  Answer,
  AskRequest,
  CalleesAnswer,
  CallersAnswer,
  ImplementationsAnswer,
  LatticeQuery,
  TopologyAnswer,
  TraceAnswer,
  Verdict,
} from '../pgc/shapes.js';
import { AskedAnalyses } from './analyses.js';
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
export class RemoteQuestions extends AskedAnalyses implements Questions {
  readonly #client: Client;

  constructor(client: Client) {
    super(latticeMessages);
    this.#client = client;
  }

  query(request: LatticeQuery, options: AskingOptions): Promise<Answer> {
    const { onProgress } = options;
    const onPartial = (body: Buffer): void => onProgress?.(queryProgress.decode(body));
    return this.asked(latticeMessages.query, request, { ...options, onPartial });
  }

  ask(request: AskRequest, options: AskingOptions): Promise<Answer> {
    return this.asked(latticeMessages.ask, request, options);
  }

  locate(request: LocateRequest, options: AskingOptions): Promise<LocateAnswer> {
    return this.asked(latticeMessages.locate, request, options);
  }

  callers(
    symbol: string,
    { roles = [], ...options }: RowOptions,
    cite = 0,
  ): Promise<CallersAnswer> {
    return this.asked(latticeMessages.callers, { symbol, cite, roles }, options);
  }

  references(symbol: string, { roles = [], ...options }: RowOptions): Promise<CallersAnswer> {
    return this.asked(latticeMessages.references, { symbol, roles }, options);
  }

  callees(symbol: string, { roles = [], ...options }: RowOptions): Promise<CalleesAnswer> {
    return this.asked(latticeMessages.callees, { symbol, roles }, options);
  }

  implementations(
    symbol: string,
    { roles = [], ...options }: RowOptions,
  ): Promise<ImplementationsAnswer> {
    return this.asked(latticeMessages.implementations, { symbol, roles }, options);
  }

  trace(from: string, to: string, { roles = [], ...options }: RowOptions): Promise<TraceAnswer> {
    return this.asked(latticeMessages.trace, { from, to, roles }, options);
  }

  topology(options: AskingOptions): Promise<TopologyAnswer> {
    return this.asked(latticeMessages.topology, {}, options);
  }

  async path(from: string, to: string, maxHops: number, options: AskingOptions): Promise<string[]> {
    return (await this.asked(latticeMessages.path, { from, to, max_hops: maxHops }, options)).path;
  }

  async verify(citations: object[], options: AskingOptions): Promise<Verdict[]> {
    return (await this.asked(latticeMessages.verify, { citations }, options)).results;
  }

  protected asked<Q, A>(
    message: MessageType<Q, A>,
    request: Q,
    options: RequestOptions,
  ): Promise<A> {
    const how = { ...options, isIdempotent: true };
    return ask(this.#client, `service:${latticeService}`, message, request, how);
  }
}
