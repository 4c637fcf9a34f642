import type { Client } from '../client/client.js';
import type { SaidWords } from '../delegation/manager/review.js';
import type { DelegatedTask, RunnerName, TaskResponse } from '../delegation/task/shapes.js';
import { asBusError } from '../errors/bus-error.js';
import type { Shards } from '../remote/shards.js';

const executorRole = 'executor';
/** Their results are what a program has said, not what an agent says of it. */
const measured = new Set<RunnerName>(['answer', 'command']);

/**
 * Whose the words of a result are, and which of them the index contradicts. Only an executor of this home is believed what its programs
 * said: behind `sigma mcp` there is a model.
 */
export async function wordsOf(
  said: { task: DelegatedTask; response: TaskResponse; worker: string },
  { client, shards }: { client: Client; shards: Shards },
): Promise<SaidWords> {
  if (measured.has(said.task.runner) && (await isOfHome(said.worker, client)))
    return { areOwn: false, contradicted: [] };
  const contradicted = new Set<string>();
  // With parsers and readers of documents, which a manager whose executors only answer never needs.
  const { contradictionsIn } = await import('./contradictions.js');
  // A tree that cannot be read, or not in time, decides nothing more.
  await contradictionsIn(said, client, shards, (each) => contradicted.add(each)).catch(asBusError);
  return { areOwn: true, contradicted: [...contradicted] };
}

async function isOfHome(worker: string, client: Client): Promise<boolean> {
  const executors = await client.agents({ role: executorRole });
  return executors.some(({ record, of_home }) => record.id === worker && of_home);
}
