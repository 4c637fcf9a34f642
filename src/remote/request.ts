import type { RequestOptions } from '../client/request.js';
import type { Client } from '../client/client.js';
import { taskService } from '../task/requests/messages.js';

/** A request with its answer, as one of the protocols defines it. */
export interface Exchange<Q, A> {
  type: string;
  request: { encode(value: Q): Buffer };
  answer: { decode(bytes: Uint8Array): A };
}

/** Longest wait for an answer, unless the caller names another. */
const deadlineMsDefault = 30_000;

/** One request to `to`, and its decoded answer. Throws what the other side answers with. */
export async function ask<Q, A>(
  client: Client,
  to: string,
  { type, request, answer }: Exchange<Q, A>,
  value: Q,
  options: RequestOptions = {},
): Promise<A> {
  const asked = { deadlineMs: deadlineMsDefault, ...options };
  const reply = await client.request(to, type, request.encode(value), asked);
  return answer.decode(reply.body);
}

/** The same, to the manager of tasks. */
export function askManager<Q, A>(
  client: Client,
  message: Exchange<Q, A>,
  value: Q,
  options?: RequestOptions,
): Promise<A> {
  return ask(client, `service:${taskService}`, message, value, options);
}
