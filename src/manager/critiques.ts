import path from 'node:path';
import {
  type GateSettings,
  critiqueLimits,
  critiqueRequestOf,
} from '../task/station/critique-station.js';
import type { Client } from '../client/client.js';
import { criticMessages, criticService } from '../critic/review/messages.js';
import { digestOf } from '../critic/review/read-request.js';
import type { PersonJudgement, Critique } from '../critic/shapes.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import { handedOver } from '../task/station/conductor.js';
import type { TaskRecord } from '../task/life/record.js';
import type { Shards } from '../remote/shards.js';
import { treeAround } from './citations.js';

const ratifyMsMax = 10_000;
/** Of what is asked, behind the id of a task: together they must be a name that a critic takes. */
const digestChars = 5;

/** Asks the critic on this bus; asked again, it continues the same review. */
export function critiqueBy(
  client: Client,
  shards: Shards,
  gate: GateSettings,
): (record: TaskRecord, signal: AbortSignal) => Promise<Critique> {
  const { critique } = criticMessages;
  const { reviewMs: deadlineMs } = critiqueLimits;
  return async (record, signal) => {
    const root = await rootOf(record, shards);
    const request = critiqueRequestOf(record, root, gate);
    const wanted = wantedBy(signal);
    const asked = async (id: string): Promise<Critique> => {
      const body = critique.request.encode({ ...request, id });
      const options = { deadlineMs, signal: wanted, isIdempotent: true };
      const asking = client.request(`service:${criticService}`, critique.type, body, options);
      return critique.answer.decode((await unless(signal, asking)).body);
    };
    return asked(request.id).catch((error: unknown) => {
      // Another tree than before is known now: it is another review, and for each tree one.
      if (asBusError(error).code !== 'REVIEW_CHANGED') throw error;
      return asked(`${request.id}-${digestOf(request).slice(0, digestChars)}`);
    });
  };
}

/**
 * Tells the critic what a person has said about its last critique. Once, and only to one that is there: the task knows it
 * in any case; a critic that misses this lets the question expire. Throws what it answers.
 */
export async function tellRatified(
  client: Client,
  said: { artifact: string; critique: string; judgement: PersonJudgement },
  { by, text }: { by: string; text: string },
): Promise<void> {
  const { type, request } = criticMessages.ratify;
  const body = request.encode({ ...said, text, by });
  await client.request(`service:${criticService}`, type, body, { deadlineMs: ratifyMsMax });
}

/** Not given when this process ends: the next one asks again, and the critic must not have stopped for that. */
function wantedBy(signal: AbortSignal): AbortSignal {
  const wanted = new AbortController();
  const over = (): void => {
    if (signal.reason !== handedOver) wanted.abort();
  };
  if (signal.aborted) over();
  else signal.addEventListener('abort', over, { once: true });
  return wanted.signal;
}

/** Throws CANCELLED at the signal, without waiting for the work. */
async function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  let leave = (): void => undefined;
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(new BusError('CANCELLED'));
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return await Promise.race([work, left]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** The tree that the result speaks of: that of its task, that of the cited agent, or the only one; empty: not known. */
export async function rootOf(
  { task, response }: Pick<TaskRecord, 'task' | 'response'>,
  shards: Shards,
): Promise<string> {
  const lattices = [...(await shards.lattices())];
  const roots = lattices.map(([root]) => root);
  // Absent in a record of an earlier release.
  const { project: its = '' } = task as Partial<typeof task>;
  const around = path.isAbsolute(its) ? treeAround(its, roots) : '';
  if (around !== '') return around;
  const ofProject = lattices.filter(
    ([, { cards }]) => its !== '' && [...cards.values()].some(({ project }) => project === its),
  );
  if (ofProject.length === 1) return ofProject[0]?.[0] ?? '';
  const cited = (response?.grounding_evidence?.citations ?? []).map(({ agent }) => agent);
  const agents = [task.pgc, ...cited].filter((each) => each !== '');
  const named = lattices.find(([, { cards }]) => agents.some((each) => cards.has(each)));
  const [root] = named ?? (lattices.length === 1 ? lattices[0] : undefined) ?? [''];
  return root;
}
