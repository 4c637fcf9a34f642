import type { NatsConnection } from '@nats-io/transport-node';
import { decodeWord, subjectsOf, type Word } from './subjects.js';

/** Waited for the broker's word. */
const answerMsMax = 1_000;

/**
 * Asks the broker of this bus for its word. 'absent': the servers know that none listens. Undefined: no answer, which
 * proves nothing.
 */
export async function findBroker(
  connection: NatsConnection,
  bus: string,
): Promise<Word | 'absent' | undefined> {
  try {
    const options = { timeout: answerMsMax };
    const answer = await connection.request(subjectsOf(bus).find, undefined, options);
    return decodeWord(answer.string());
  } catch (error) {
    return isUnheard(error) ? 'absent' : undefined;
  }
}

function isUnheard(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'NoResponders' || isUnheard(error.cause);
}

/**
 * Whether the broker that was seen at work is gone, for those who wait for its office. One that has not begun to serve
 * yet is not gone.
 */
export function watchBroker(
  connection: NatsConnection,
  bus: string,
): (holder: string) => Promise<boolean> {
  let seen: string | undefined;
  return async (holder) => {
    const word = await findBroker(connection, bus);
    if (typeof word === 'object' && word.isServing) seen = holder;
    return word === 'absent' && seen === holder;
  };
}
