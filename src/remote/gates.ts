import type { Approval } from '../attention/approvals.js';
import {
  attentionMessages,
  type ApprovalsQuery,
  type GateJudgement,
  type GatesAnswer,
  type GatesQuery,
  type MissedSignal,
} from '../attention/messages.js';
import type { Gate } from '../attention/shapes.js';
import type { Client } from '../client/client.js';
import { askManager, type Exchange } from './request.js';

/** Rows of one request, and of a whole list. */
const pageRows = 50;
export const gatesListedMax = 2_000;

/** Risky actions that wait for a person, over the bus. */
export class Gates {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Those that are open, or all of them, up to a limit. */
  async list(
    { session = '', isAll = false }: { session?: string; isAll?: boolean } = {},
    max = gatesListedMax,
  ): Promise<GatesAnswer> {
    const gates: Gate[] = [];
    for (let after = ''; ;) {
      const limit = Math.min(pageRows, max - gates.length);
      const query: GatesQuery = { session, is_all: isAll, after, limit, wait_ms: 0 };
      const page = await this.#ask(attentionMessages.gates, query, true);
      gates.push(...page.gates);
      after = page.gates.at(-1)?.id ?? '';
      if (!page.more || after === '' || gates.length >= max) return { gates, more: page.more };
    }
  }

  /** Throws NO_SUCH_GATE. */
  show(id: string): Promise<Gate> {
    return this.#ask(attentionMessages.gate, { id }, true);
  }

  /** Judges the action that was shown; one that changed since is refused. Throws GATE_JUDGED, GATE_CHANGED, GATE_NOT_YOURS. */
  judge(
    { id, classification }: Gate,
    said: Pick<GateJudgement, 'judgement' | 'direction'>,
  ): Promise<Gate> {
    const { action } = classification.digest;
    return this.#ask(attentionMessages.judge, { id, action, ...said }, true);
  }

  async approvals(query: ApprovalsQuery): Promise<Approval[]> {
    return (await this.#ask(attentionMessages.approvals, query, true)).approvals;
  }

  /** Throws NO_SUCH_TASK. */
  async missed(said: MissedSignal): Promise<void> {
    await this.#ask(attentionMessages.missed, said, false);
  }

  #ask<Q, A>(message: Exchange<Q, A>, request: Q, isIdempotent: boolean): Promise<A> {
    return askManager(this.#client, message, request, { isIdempotent });
  }
}
