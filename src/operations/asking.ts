import type { Client } from '../client/client.js';
import { auditIn } from '../remote/audit.js';
import { RemoteCritic } from '../remote/critic.js';
import { askAgent, remoteQuestions } from '../remote/questions.js';
import { LeftPlaces } from './explore/left.js';
import type { Asking } from './operation.js';

/** Asks over a bus. `client`: one that is connected. `home`: where is kept what an answer has no room for. */
export function askingOver(
  client: () => Promise<Client>,
  { home, folder = process.cwd() }: { home?: string; folder?: string } = {},
): Asking {
  const questions = async (its = folder): Promise<ReturnType<typeof remoteQuestions>> =>
    remoteQuestions(await client(), its);
  return {
    client,
    folder,
    left: home === undefined ? undefined : new LeftPlaces(home),
    audit: async (...wanted) => (home === undefined ? undefined : auditIn(home, ...wanted)),
    critic: async () => new RemoteCritic(await client()),
    questions,
    analyses: () => questions(),
    locator: () => questions(),
    states: async (request, options) => (await (await questions()).states(request, options)).trees,
    askAgent: async (agent, request, { deadlineMs, signal }) =>
      askAgent(await client(), agent, request, deadlineMs, signal),
    asPerson: async (work) => work(await client()),
  };
}
