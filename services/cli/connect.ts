import { randomBytes } from 'node:crypto';
import type { Client } from '../../src/client/client.js';
import type { Config } from '../../src/config/config.js';
import { BusError } from '../../src/errors/bus-error.js';
import type { AskingOptions, Questions } from '../../src/lattice/questions.js';
import type { LocateAnswer, LocateRequest } from '../../src/pgc/search/locate/locate.js';
import {
  latticeMessages,
  latticeService,
  queryProgress,
  shardMessages,
  type MessageType,
} from '../../src/pgc/serve/messages.js';
import type { AlgebraAnswer } from '../../src/pgc/analyse/algebra/evaluate.js';
import type {
  AlgebraRequest,
  Analyses,
  BlastRequest,
  PatternsRequest,
  SecurityRequest,
} from '../../src/pgc/analyse/analyses.js';
import type { BlastRadius } from '../../src/pgc/analyse/blast-radius.js';
import type { DependencyPatterns } from '../../src/pgc/analyse/dependency-patterns.js';
import type { SecurityBlastRadius } from '../../src/pgc/analyse/security-blast-radius.js';
import type {
  AskAnswer,
  AskRequest,
  CalleesAnswer,
  CallersAnswer,
  LatticeAnswer,
  LatticeQuery,
  TopologyAnswer,
  TraceAnswer,
  Verdict,
} from '../../src/pgc/shapes.js';
import { isListening } from '../../src/transport/probe.js';
import { remoteIdentity } from '../identity.js';

/** A broker that accepts connections greets within this, or something is wrong with it. */
const greetingMsMax = 3_000;

/**
 * Runs `work` with a connected client: over tcp as the agent of the identity file, else under a name of
 * its own and as `localRole`. Throws NO_BROKER at once when nobody listens, KEYS_MISSING, KEY_FILE_INVALID.
 */
export async function withClient<T>(
  config: Config,
  work: (client: Client) => Promise<T>,
  localRole = 'client',
): Promise<T> {
  const remote = remoteIdentity(config);
  const { agent, role } = remote ?? {
    agent: `cli-${process.pid}-${randomBytes(4).toString('hex')}`,
    role: localRole,
  };
  if (!(await isListening(config.bus))) throw new BusError('NO_BROKER', { address: config.bus });
  // Read when somebody listens: half of what a command takes to start, and many end before.
  const { openClient } = await import('../process.js');
  const client = openClient(config, { agent, role, isEphemeral: remote === undefined });
  try {
    return await interruptible(client.ready({ withinMs: greetingMsMax }).then(() => work(client)));
  } finally {
    await client.close();
  }
}

/** Ends with INTERRUPTED at Ctrl-C instead of dying without a word. */
async function interruptible<T>(work: Promise<T>): Promise<T> {
  let onSignal: (() => void) | undefined;
  const interrupted = new Promise<never>((_, reject) => {
    onSignal = () => reject(new BusError('INTERRUPTED'));
    process.once('SIGINT', onSignal);
  });
  try {
    return await Promise.race([work, interrupted]);
  } finally {
    if (onSignal !== undefined) process.off('SIGINT', onSignal);
    // Whoever was interrupted no longer listens to how the work ends.
    work.catch(() => undefined);
  }
}

/**
 * Runs `work` with whoever answers: the built index of `repo`, or the manager of the running lattice. `reads`: whether
 * questions are read by their meaning, for which a model may have to be started.
 */
export async function withQuestions<T>(
  config: Config,
  repo: string | undefined,
  work: (questions: Questions) => Promise<T>,
  reads: 'names' | 'meaning' = 'names',
): Promise<T> {
  if (repo === undefined) return withClient(config, (client) => work(new RemoteQuestions(client)));
  const { withIndex } = await import('./local.js');
  return withIndex(config, repo, work, reads);
}

/** The same for the analyses of a whole tree. Throws NO_BROKER, INDEX_*. */
export async function withAnalyses<T>(
  config: Config,
  repo: string | undefined,
  work: (analyses: Analyses) => Promise<T>,
): Promise<T> {
  if (repo === undefined) return withClient(config, (client) => work(new RemoteQuestions(client)));
  const { localAnalyses } = await import('./local.js');
  return work(localAnalyses(config, repo));
}

/** One agent's own answer. Throws UNKNOWN_AGENT, AGENT_OFFLINE, AMBIGUOUS_ALIAS. */
export async function askAgent(
  client: Client,
  agent: string,
  request: AskRequest,
  deadlineMs: number,
  signal?: AbortSignal,
): Promise<AskAnswer> {
  const { type, request: requestCodec, answer } = shardMessages.ask;
  const reply = await client.request(`agent:${agent}`, type, requestCodec.encode(request), {
    deadlineMs,
    isIdempotent: true,
    ...(signal === undefined ? {} : { signal }),
  });
  return answer.decode(reply.body);
}

/** The manager's answers over the bus. */
export class RemoteQuestions implements Questions {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  query(request: LatticeQuery, options: AskingOptions): Promise<LatticeAnswer> {
    const { onProgress } = options;
    const onPartial = (body: Buffer): void => onProgress?.(queryProgress.decode(body));
    return this.#ask(latticeMessages.query, request, { ...options, onPartial });
  }

  ask(request: AskRequest, options: AskingOptions): Promise<AskAnswer> {
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

  async #ask<Q, A>(
    message: MessageType<Q, A>,
    request: Q,
    options: AskingOptions & { onPartial?: (body: Buffer) => void },
  ): Promise<A> {
    const body = message.request.encode(request);
    const reply = await this.#client.request(`service:${latticeService}`, message.type, body, {
      ...options,
      isIdempotent: true,
    });
    return message.answer.decode(reply.body);
  }
}
