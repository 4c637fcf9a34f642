import type { Client } from '../client/client.js';
import { asBusError } from '../errors/bus-error.js';
import type { AlgebraAnswer } from '../pgc/analyse/algebra/evaluate.js';
import type {
  AlgebraRequest,
  Analyses,
  AnalysisOptions,
  BlastRequest,
  PatternsRequest,
  SecurityRequest,
} from '../pgc/analyse/analyses.js';
import type { BlastRadius } from '../pgc/analyse/blast-radius.js';
import type { DependencyPatterns } from '../pgc/analyse/dependency-patterns.js';
import type { SecurityBlastRadius } from '../pgc/analyse/security-blast-radius.js';
import { treeMessages, type MessageType } from '../pgc/serve/messages.js';
import { treeServiceOf } from '../pgc/serve/tree-service.js';
import { ask } from './request.js';

/** Hosts that one request is tried with: the first may be lost while it works. */
const triesMax = 3;
/** What another host of the same tree may do better. */
const tryAnother = new Set(['RESPONDER_LOST', 'AGENT_FAILED', 'BROKER_BUSY']);

/** Analyses as messages of one protocol. */
export abstract class AskedAnalyses implements Analyses {
  readonly #messages: typeof treeMessages;

  protected constructor(messages: typeof treeMessages) {
    this.#messages = messages;
  }

  protected abstract asked<Q, A>(
    message: MessageType<Q, A>,
    request: Q,
    options: AnalysisOptions,
  ): Promise<A>;

  blastRadius(request: BlastRequest, options: AnalysisOptions): Promise<BlastRadius> {
    return this.asked(this.#messages.blastRadius, request, options);
  }

  securityBlastRadius(
    request: SecurityRequest,
    options: AnalysisOptions,
  ): Promise<SecurityBlastRadius> {
    return this.asked(this.#messages.securityBlastRadius, request, options);
  }

  patterns(request: PatternsRequest, options: AnalysisOptions): Promise<DependencyPatterns> {
    return this.asked(this.#messages.patterns, request, options);
  }

  algebra(request: AlgebraRequest, options: AnalysisOptions): Promise<AlgebraAnswer> {
    return this.asked(this.#messages.algebra, request, options);
  }
}

/** By any host that has the tree. They change nothing, so a lost one is asked for again. */
export class RemoteAnalyses extends AskedAnalyses {
  readonly #service: string;

  constructor(
    readonly client: Client,
    root: string,
  ) {
    super(treeMessages);
    this.#service = treeServiceOf(root);
  }

  protected async asked<Q, A>(
    message: MessageType<Q, A>,
    request: Q,
    options: AnalysisOptions,
  ): Promise<A> {
    const endMs = performance.now() + options.deadlineMs;
    for (let attempt = 1; ; attempt += 1) {
      const deadlineMs = Math.max(1, Math.round(endMs - performance.now()));
      const how = { ...options, deadlineMs, isIdempotent: true };
      try {
        return await ask(this.client, `service:${this.#service}`, message, request, how);
      } catch (error) {
        const isLost = tryAnother.has(asBusError(error).code);
        if (!isLost || attempt >= triesMax || performance.now() >= endMs) throw error;
      }
    }
  }
}
