import type { Client } from '../client/client.js';
import { asBusError } from '../errors/bus-error.js';
import type { Analyses, AnalysisOptions } from '../pgc/analyse/analyses.js';
import { askedBy, treeMessages } from '../pgc/serve/messages.js';
import { treeServiceOf } from '../pgc/serve/tree-service.js';
import { ask } from './request.js';

/** Hosts that one request is tried with: the first may be lost while it works. */
const triesMax = 3;
/** What another host of the same tree may do better. */
const tryAnother = new Set(['RESPONDER_LOST', 'AGENT_FAILED', 'BROKER_BUSY']);

/** By any host that has the tree. They change nothing, so a lost one is asked for again. */
export function remoteAnalyses(client: Client, root: string): Analyses {
  const service = `service:${treeServiceOf(root)}`;
  return askedBy(treeMessages, async (message, request, options: AnalysisOptions) => {
    const endMs = performance.now() + options.deadlineMs;
    for (let attempt = 1; ; attempt += 1) {
      const deadlineMs = Math.max(1, Math.round(endMs - performance.now()));
      try {
        const how = { ...options, deadlineMs, isIdempotent: true };
        return await ask(client, service, message, request, how);
      } catch (error) {
        const isLost = tryAnother.has(asBusError(error).code);
        if (!isLost || attempt >= triesMax || performance.now() >= endMs) throw error;
      }
    }
  });
}
