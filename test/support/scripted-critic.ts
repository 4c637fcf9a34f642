import { createHash } from 'node:crypto';
import type { Client } from '../../src/client/client.js';
import { criticMessages, criticService } from '../../src/critic/review/messages.js';
import type { Critique, CritiqueRequest } from '../../src/critic/shapes.js';
import { critiqueOf } from './critiques.js';
import { recordOf, type TestBus } from './bus.js';

export interface ScriptedCritic extends AsyncDisposable {
  requests: CritiqueRequest[];
  client: Client;
}

/** A critic on the bus whose critiques the test writes. */
export async function scriptedCritic(
  bus: TestBus,
  says: (
    request: CritiqueRequest,
    nth: number,
  ) => (Parameters<typeof critiqueOf>[2] & { score: number | null }) | Promise<never>,
): Promise<ScriptedCritic> {
  const requests: CritiqueRequest[] = [];
  const client = await bus.client('critic', { role: 'critic' });
  const { critique } = criticMessages;
  client.serve({
    [critique.type]: async ({ body }) => {
      const request = critique.request.decode(body);
      requests.push(request);
      const { score, ...change } = await says(request, requests.length);
      const digest = createHash('sha256').update(request.artifact.text).digest('hex');
      const { path: artifact } = request.artifact;
      const criticality = request.context.criticality as Critique['selection']['criticality'];
      const { iteration } = request;
      const said = critiqueOf(request.id, score, {
        artifact,
        digest,
        iteration,
        criticality,
        ...change,
      });
      return critique.answer.encode(said);
    },
  });
  await client.register(recordOf('critic'));
  await client.offer([criticService]);
  return { requests, client, [Symbol.asyncDispose]: () => client.close() };
}
