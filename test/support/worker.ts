import { systemClock } from '../../src/base/clock.js';
import { Client } from '../../src/client/client.js';
import { loadConfig } from '../../src/config/config.js';
import { delegationMessages } from '../../src/delegation/task/messages.js';
import {
  delegationCapability,
  protocolVersion,
  runnerCapability,
  type DelegatedTask,
  type EvidenceCitation,
  type RunnerName,
  type TaskResponse,
} from '../../src/delegation/task/shapes.js';
import { slotsCapability } from '../../src/delegation/manager/worker-pool.js';
import { latticeMessages, latticeService } from '../../src/pgc/serve/messages.js';
import { ZeromqLink } from '../../src/transport/zeromq.js';

type Answer = Partial<Omit<TaskResponse, 'task_id' | 'attempt'>>;

/** A worker on the bus that follows the protocol; the test writes its answers. */
export async function startWorker(
  home: string,
  agent: string,
  work: (task: DelegatedTask, client: Client) => Promise<Answer>,
  runners: RunnerName[] = ['answer'],
): Promise<Client> {
  const client = Client.connect({
    link: new ZeromqLink(loadConfig({ SIGMA_HOME: home }).bus),
    identity: { agent, role: 'executor', isEphemeral: false },
    clock: systemClock,
    random: Math.random,
  });
  await client.ready({ withinMs: 5_000 });
  await client.register({
    ...{ alias: agent, model: '', project: '', scope: [], overlays: {} },
    capabilities: [delegationCapability, ...runners.map(runnerCapability), slotsCapability(8)],
    protocol_versions: [protocolVersion],
  });
  const { assign, claim, response } = delegationMessages;
  await client.receive(async ({ type, body }) => {
    if (type !== assign.type) return;
    const { task, attempt, manager } = assign.codec.decode(body);
    const to = `agent:${manager}`;
    const mine = { task_id: task.id, attempt };
    await client.request(to, claim.type, claim.codec.encode(mine));
    // Not awaited: later messages of this manager must not wait.
    const working = work(task, client).then((its) => {
      const answer: TaskResponse = {
        ...mine,
        ...{ status: 'completed', result: 'done', grounding_evidence: null, reason: '' },
        ...{ errors: [], protocol_version: protocolVersion, clarification_request: '' },
        ...{ partial: false, files_modified: [], usage: null, classification: null, steps: [] },
        ...its,
      };
      return client.post(to, response.type, response.codec.encode(answer));
    });
    // Work may be unfinished when the test ends.
    working.catch(() => undefined);
  });
  return client;
}

/** The first citation that the PGC gives for a question. */
export async function citationFor(client: Client, question: string): Promise<EvidenceCitation> {
  const { type, request, answer } = latticeMessages.ask;
  const body = request.encode({ question, overlays: [], top_k: 1, query_hints: [] });
  const reply = await client.request(`service:${latticeService}`, type, body);
  const [source] = answer.decode(reply.body).evidence;
  if (source === undefined) throw new Error(`nothing answers: ${question}`);
  const { overlay, content, file_path, line_start, line_end, symbol, blob, agent, similarity } =
    source;
  return {
    ...{ overlay, content, file_path, line_start, line_end, symbol, blob, agent, similarity },
    relevance: 'It is what was asked for.',
  };
}
