import type { Approval } from '../../src/attention/approvals.js';
import {
  attentionMessages,
  type ApprovalsQuery,
  type GateJudgement,
  type GatesAnswer,
  type GatesQuery,
  type MissedSignal,
} from '../../src/attention/messages.js';
import type { Gate } from '../../src/attention/shapes.js';
import type { Client } from '../../src/client/client.js';
import { taskService } from '../../src/task/requests/messages.js';

const deadlineMs = 30_000;
/** Rows of one request, and of a whole list. */
const pageRows = 50;
export const gatesListedMax = 2_000;

interface Bodied<Q, A> {
  type: string;
  request: { encode(value: Q): Buffer };
  answer: { decode(bytes: Uint8Array): A };
}

/** Questions to persons, over the bus. */
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

  /** What was shown is what is judged: another action by then is not. Throws GATE_JUDGED, GATE_CHANGED, GATE_NOT_YOURS. */
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

  async #ask<Q, A>(message: Bodied<Q, A>, request: Q, isIdempotent: boolean): Promise<A> {
    const body = message.request.encode(request);
    const asked = { deadlineMs, isIdempotent };
    const reply = await this.#client.request(`service:${taskService}`, message.type, body, asked);
    return message.answer.decode(reply.body);
  }
}
