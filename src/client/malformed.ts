import { asBusError } from '../errors/bus-error.js';
import type { Client } from './client.js';
import type { MessageHandler } from './inbox.js';

/** Type of the notice to the sender of a message that could not be read. */
export const malformedType = 'malformed_payload';

/** The notice, as JSON: any peer can read it. */
export interface Malformed {
  /** Of the message that could not be read. */
  id: string;
  type: string;
  code: string;
  text: string;
}

/** Of what was not understood: its form, or its type. */
const unread: ReadonlySet<string> = new Set(['MALFORMED_PAYLOAD', 'UNKNOWN_TYPE']);

/** What cannot be read is a dead letter, and its sender is told. A notice is never answered with another one. */
export function tellingSender(client: Client, handle: MessageHandler): MessageHandler {
  return async (message) => {
    try {
      await handle(message);
    } catch (error) {
      const { code, message: text } = asBusError(error);
      const { id, type, from, seq } = message;
      if (unread.has(code) && type !== malformedType && from !== '') {
        const body = Buffer.from(JSON.stringify({ id, type, code, text } satisfies Malformed));
        // A sender without a mailbox cannot be told.
        await client
          .post(`agent:${from}`, malformedType, body, { id: `malformed-${seq}` })
          .catch(() => undefined);
      }
      throw error;
    }
  };
}
