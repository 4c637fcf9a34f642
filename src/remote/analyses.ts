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
    const endMs = performance.now() + options.deadlineMs;
    for (let attempt = 1; ; attempt += 1) {
      const deadlineMs = Math.max(1, Math.round(endMs - performance.now()));
      const asked = { ...options, deadlineMs, isIdempotent: true };
      try {
        return await ask(this.client, `service:${this.#service}`, message, request, asked);
      } catch (error) {
        const isLost = tryAnother.has(asBusError(error).code);
        if (!isLost || attempt >= triesMax || performance.now() >= endMs) throw error;
      }
    }
  }
}
