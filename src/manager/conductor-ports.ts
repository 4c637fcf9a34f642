import type { GateSettings } from '../task/station/critique-station.js';
import type { Client } from '../client/client.js';
import type { Config } from '../config/config.js';
import { delegationMessages, legacyType } from '../delegation/task/messages.js';
import { hasAgent } from '../task/life/advance.js';
import type { Conductor } from '../task/station/conductor.js';
import { taskMessages } from '../task/requests/messages.js';
import { viewOf } from '../task/requests/view.js';
import { citableTrees, isAround, verdictsOn, type CitationParts } from './citations.js';
import { critiqueBy } from './critiques.js';
import { nearnessOf } from './nearness.js';
import type { OverlayMaker } from './overlay-maker.js';
import { enrolTask } from './queue-handler.js';
import { wordsOf } from './said-words.js';
import type { Shards } from '../remote/shards.js';

/** After its begin a manager meets the shards one by one; for so long evidence of those that are missing waits. */
const settlingMs = 60_000;

/** What the conductor of tasks asks of other agents over the bus: workers, parents, shards, overlays, a critic. */
export type ConductorPorts = Pick<
  ConstructorParameters<typeof Conductor>[1],
  | 'assign'
  | 'withdraw'
  | 'deliver'
  | 'enrol'
  | 'dismiss'
  | 'verify'
  | 'nearness'
  | 'words'
  | 'generate'
  | 'critique'
  | 'gate'
>;

export function portsTo(
  { client, shards, config }: { client: Client; shards: Shards; config: Config },
  overlays: OverlayMaker,
): ConductorPorts {
  const gate = gateOf(config);
  const settledAtMs = performance.now() + settlingMs;
  const sources: CitationParts = {
    trees: () => citableTrees(shards, config.home),
    registered: async () => {
      const views = await client.agents({ role: 'pgc' });
      return new Set(views.flatMap(({ record: { id, alias } }) => [id, alias]));
    },
    encloses: async (citation) => isAround((await shards.lattices()).values(), citation),
    isSettling: () => performance.now() < settledAtMs,
  };
  const { assign, withdraw } = delegationMessages;
  return {
    assign: async ({ worker, isCapable }, assignment, id) => {
      const to = `agent:${worker}`;
      if (isCapable) await client.post(to, assign.type, assign.codec.encode(assignment), { id });
      else await client.post(to, legacyType, Buffer.from(JSON.stringify(assignment.task)), { id });
    },
    withdraw: async (worker, task_id, attempt, reason) => {
      const body = withdraw.codec.encode({ task_id, attempt, reason });
      await client.post(`agent:${worker}`, withdraw.type, body, {
        id: `${task_id}-${attempt}-withdraw`,
      });
    },
    deliver: async (record) => {
      const { finished } = taskMessages;
      const body = finished.codec.encode(viewOf(record));
      await client.post(`agent:${record.parent}`, finished.type, body, {
        id: `${record.id}-finished`,
        ...(hasAgent(record) && { from: record.id }),
      });
    },
    enrol: (id) => enrolTask(client, id),
    dismiss: (id) => client.mail.dismiss(id),
    verify: (citations, { project }) => verdictsOn(citations, sources, project),
    nearness: async (task, evidence) =>
      nearnessOf([...(await shards.lattices()).values()], task, evidence),
    words: (task, response, worker) => wordsOf({ task, response, worker }, { client, shards }),
    generate: (made, signal) => overlays.generate(made, signal),
    critique: critiqueBy(client, shards, gate),
    gate,
  };
}

function gateOf({ critic: { threshold, iterationsMax } = {} }: Config): GateSettings {
  return {
    ...(threshold !== undefined && { threshold }),
    ...(iterationsMax !== undefined && { iterationsMax }),
  };
}
