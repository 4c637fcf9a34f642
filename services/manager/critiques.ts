import type { Client } from '../../src/client/client.js';
import { criticMessages, criticService } from '../../src/critic/messages.js';
import type { Critique } from '../../src/critic/shapes.js';
import { asBusError } from '../../src/errors/bus-error.js';
import { critiqueRequestOf, stationLimits } from '../../src/task/critique-station.js';
import type { TaskRecord } from '../../src/task/record.js';
import type { Shards } from './shards.js';

/** Asks whoever reviews on this bus; a critic that was asked before goes on with the same review. */
export function critiqueBy(
  client: Client,
  shards: Shards,
): (record: TaskRecord, signal: AbortSignal) => Promise<Critique> {
  const { critique } = criticMessages;
  const { reviewMs: deadlineMs } = stationLimits;
  return async (record, signal) => {
    const request = critiqueRequestOf(record, await rootOf(record, shards));
    const asked = async (id: string): Promise<Critique> => {
      const body = critique.request.encode({ ...request, id });
      const options = { deadlineMs, signal, isIdempotent: true };
      const reply = await client.request(`service:${criticService}`, critique.type, body, options);
      return critique.answer.decode(reply.body);
    };
    return asked(request.id).catch((error: unknown) => {
      // Another tree than before is known now: it is another review.
      if (asBusError(error).code !== 'REVIEW_CHANGED') throw error;
      return asked(`${request.id}-again`);
    });
  };
}

/** The tree that the result speaks of: that of whoever is cited, or the only one. */
async function rootOf({ task, response }: TaskRecord, shards: Shards): Promise<string> {
  const lattices = [...(await shards.lattices())];
  const cited = (response?.grounding_evidence?.citations ?? []).map(({ agent }) => agent);
  const agents = [task.pgc, ...cited].filter((each) => each !== '');
  const named = lattices.find(([, { cards }]) => agents.some((each) => cards.has(each)));
  const [root] = named ?? (lattices.length === 1 ? lattices[0] : undefined) ?? [''];
  return root;
}
