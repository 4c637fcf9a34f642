import { delegationMessages } from '../delegation/task/messages.js';
import { taskMessages } from '../task/requests/messages.js';
import { resultMessage } from '../task/requests/result-message.js';
import type { MessageAnswer, MessageView } from '../wire/messages.js';

/** The body as UTF-8 where it is, else in base64; the result of a task, and the word that an attempt is over, as JSON. */
export function bodyOf(message: { type?: string; body: Uint8Array }): {
  body: string;
  encoding: string;
} {
  const bytes = readable(message) ?? Buffer.from(message.body);
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes)
    ? { body: text, encoding: 'utf8' }
    : { body: bytes.toString('base64'), encoding: 'base64' };
}

/** Undefined also for a body that has such a type, but is none. */
function readable({ type, body }: { type?: string; body: Uint8Array }): Buffer | undefined {
  const { finished } = taskMessages;
  const { withdraw } = delegationMessages;
  try {
    if (type === finished.type) return asJson(resultMessage(finished.codec.decode(body)));
    return type === withdraw.type ? asJson(withdraw.codec.decode(body)) : undefined;
  } catch {
    return undefined;
  }
}

function asJson(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

export type ShownMessage = MessageView & ReturnType<typeof bodyOf>;

/** For `--json`: the envelope and the body. */
export function shown({ view, body }: MessageAnswer): ShownMessage {
  return { ...view, ...bodyOf({ type: view.type, body }) };
}
