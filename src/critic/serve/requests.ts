import type { Client } from '../../client/client.js';
import type { Incoming } from '../../client/responder.js';
import {
  criticMessages,
  critiqueProgress,
  type CriticList,
  type CriticRow,
} from '../review/messages.js';
import { shownAmong, type ArtifactName } from '../artifact/artifact-name.js';
import { qualityGate } from '../shapes.js';
import { BusError } from '../../errors/bus-error.js';
import type { Critic } from './open-critic.js';

const rowsMax = 100;
/** Kept of the time of the caller: the answer must still arrive. */
const answerMarginMs = 2_000;
/** Who may say that an artifact passes that did not: a person, or what acts for one. Proven to the broker. */
const judges: ReadonlySet<string> = new Set(['operator', 'manager']);

/** What a critic is asked over the bus. */
export class CriticHandler {
  readonly #client: Client;
  readonly #critic: Critic;

  constructor(client: Client, critic: Critic) {
    this.#client = client;
    this.#critic = critic;
  }

  serveOn(client: Client): void {
    const { critique, history, show, list, ratify } = criticMessages;
    client.serve({
      [critique.type]: (incoming) => this.#critique(incoming),
      [history.type]: async ({ body }) => {
        const { artifact } = history.request.decode(body);
        return history.answer.encode(await this.#critic.history.of(artifact));
      },
      [show.type]: async ({ body }) => {
        const { id } = show.request.decode(body);
        return show.answer.encode(await this.#critic.reviews.finished(id));
      },
      [list.type]: ({ body }) => {
        const { after, limit: wanted } = list.request.decode(body);
        const limit = wanted > 0 ? Math.min(wanted, rowsMax) : rowsMax;
        return list.answer.encode(listed(this.#critic, { after, limit }));
      },
      [ratify.type]: async (incoming) => {
        const { artifact, by, ...said } = ratify.request.decode(incoming.body);
        const judge = await this.#judge(incoming, by);
        const told = await this.#critic.history.ratify(artifact, { ...said, by: judge });
        return ratify.answer.encode(told);
      },
    });
  }

  /** Answered when it is over; how far it is meanwhile, after every mode. */
  async #critique(incoming: Incoming): Promise<Buffer> {
    const { request, answer } = criticMessages.critique;
    const asked = request.decode(incoming.body);
    const onProgress = (progress: Parameters<typeof critiqueProgress.encode>[0]): void =>
      void incoming.progress(critiqueProgress.encode(progress));
    const { signal, deadlineMs } = incoming;
    const times = timesOf(deadlineMs);
    return answer.encode(await this.#critic.reviews.review(asked, { onProgress, signal, times }));
  }

  /** Throws RATIFY_NOT_YOURS. */
  async #judge({ from }: Incoming, by: string): Promise<string> {
    if (!judges.has(await this.#client.roleOf(from)))
      throw new BusError('RATIFY_NOT_YOURS', { agent: from });
    return by === '' || by === from ? from : `${by} (${from})`;
  }
}

/**
 * When a review has to come to its end for an answer in time: first no further mode begins, then the one under way ends.
 * Without a deadline: never.
 */
function timesOf(deadlineMs: number): { afterMs: number; isNow: boolean }[] {
  if (deadlineMs === 0) return [];
  const leftMs = Math.max(0, deadlineMs - Math.min(2 * answerMarginMs, deadlineMs / 2));
  const lastMs = Math.max(leftMs / 2, leftMs - qualityGate.modeMs);
  return [
    { afterMs: lastMs, isNow: false },
    { afterMs: leftMs, isNow: true },
  ];
}

/** By name: what is under way stands with what is known of it. */
export function listed(
  { reviews, history }: Critic,
  { after, limit }: { after: string; limit: number },
): CriticList {
  const lines = new Map<string, ArtifactName & CriticRow>(
    history.list().map((line) => [line.whole, { ...line, done: 0, total: 0 }]),
  );
  for (const { id, artifact, whole, iteration, done, total } of reviews.underWay()) {
    const { score = null, threshold = 0, needs_person = false, at_ms = 0 } = lines.get(whole) ?? {};
    lines.set(whole, {
      ...{ artifact, whole, iteration, score, threshold, state: 'critiquing', needs_person },
      ...{ done, total, at_ms, critique: id },
    });
  }
  const shown = shownAmong(lines.values());
  const wanted = [...lines.values()]
    .map(({ whole, ...row }) => ({ ...row, artifact: shown({ artifact: row.artifact, whole }) }))
    .filter(({ artifact }) => artifact > after)
    .sort((a, b) => (a.artifact < b.artifact ? -1 : 1));
  return { rows: wanted.slice(0, limit), more: wanted.length > limit };
}
