import { taskMessages } from '../task/requests/messages.js';
import { resultMessage } from '../task/requests/result-message.js';
import type { MessageAnswer } from '../wire/messages.js';

/** The body as UTF-8 where it is, else in base64; the result of a task as the JSON of a ResultMessage. */
export function bodyOf(message: { type?: string; body: Uint8Array }): {
  body: string;
  encoding: string;
} {
  const bytes = finishedIn(message) ?? Buffer.from(message.body);
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes)
    ? { body: text, encoding: 'utf8' }
    : { body: bytes.toString('base64'), encoding: 'base64' };
}

/** Undefined also for a body that has the type of a result, but is none. */
function finishedIn({ type, body }: { type?: string; body: Uint8Array }): Buffer | undefined {
  const { finished } = taskMessages;
  if (type !== finished.type) return undefined;
  try {
    return Buffer.from(JSON.stringify(resultMessage(finished.codec.decode(body))));
  } catch {
    return undefined;
  }
}

/** For `--json`: the envelope and the body. */
export function shown({ view, body }: MessageAnswer): object {
  return { ...view, ...bodyOf({ type: view.type, body }) };
}
