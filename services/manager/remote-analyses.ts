import type { Client } from '../../src/client/client.js';
import { asBusError } from '../../src/errors/bus-error.js';
import type { AlgebraAnswer } from '../../src/pgc/analyse/algebra/evaluate.js';
import type {
  AlgebraRequest,
  Analyses,
  AnalysisOptions,
  BlastRequest,
  PatternsRequest,
  SecurityRequest,
} from '../../src/pgc/analyse/analyses.js';
import type { BlastRadius } from '../../src/pgc/analyse/blast-radius.js';
import type { DependencyPatterns } from '../../src/pgc/analyse/dependency-patterns.js';
import type { SecurityBlastRadius } from '../../src/pgc/analyse/security-blast-radius.js';
import { treeMessages, type MessageType } from '../../src/pgc/serve/messages.js';
import { treeServiceOf } from '../../src/pgc/serve/tree-service.js';

/** Hosts that one request is tried with: the first may be lost while it works. */
const triesMax = 3;
/** What another host of the same tree may do better. */
const tryAnother = new Set(['RESPONDER_LOST', 'AGENT_FAILED', 'BROKER_BUSY']);

/** Analyses by whichever host has the tree. They change nothing, so a lost one is asked for again. */
export class RemoteAnalyses implements Analyses {
  readonly #service: string;

  constructor(
    readonly client: Client,
    root: string,
  ) {
    this.#service = treeServiceOf(root);
  }

  blastRadius(request: BlastRequest, options: AnalysisOptions): Promise<BlastRadius> {
    return this.#ask(treeMessages.blastRadius, request, options);
  }

  securityBlastRadius(
    request: SecurityRequest,
    options: AnalysisOptions,
  ): Promise<SecurityBlastRadius> {
    return this.#ask(treeMessages.securityBlastRadius, request, options);
  }

  patterns(request: PatternsRequest, options: AnalysisOptions): Promise<DependencyPatterns> {
    return this.#ask(treeMessages.patterns, request, options);
  }

  algebra(request: AlgebraRequest, options: AnalysisOptions): Promise<AlgebraAnswer> {
    return this.#ask(treeMessages.algebra, request, options);
  }

  async #ask<Q, A>(message: MessageType<Q, A>, request: Q, options: AnalysisOptions): Promise<A> {
    const body = message.request.encode(request);
    const endMs = performance.now() + options.deadlineMs;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const deadlineMs = Math.max(1, Math.round(endMs - performance.now()));
        const reply = await this.client.request(`service:${this.#service}`, message.type, body, {
          ...options,
          deadlineMs,
          isIdempotent: true,
        });
        return message.answer.decode(reply.body);
      } catch (error) {
        const isLost = tryAnother.has(asBusError(error).code);
        if (!isLost || attempt >= triesMax || performance.now() >= endMs) throw error;
      }
    }
  }
}
