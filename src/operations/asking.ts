import type { Client } from '../client/client.js';
import { RemoteCritic } from '../remote/critic.js';
import { askAgent, remoteQuestions } from '../remote/questions.js';
import type { Asking } from './operation.js';

/** Asks over a bus. `client`: one that is connected. */
export function askingOver(client: () => Promise<Client>, folder = process.cwd()): Asking {
  return {
    client,
    folder,
    critic: async () => new RemoteCritic(await client()),
    questions: async () => remoteQuestions(await client()),
    analyses: async () => remoteQuestions(await client()),
    locator: async () => remoteQuestions(await client()),
    states: async (request, options) =>
      (await remoteQuestions(await client()).states(request, options)).trees,
    askAgent: async (agent, request, { deadlineMs, signal }) =>
      askAgent(await client(), agent, request, deadlineMs, signal),
    asPerson: async (work) => work(await client()),
  };
}
