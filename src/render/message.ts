import { bodyOf } from '../remote/message-body.js';
import { taskMessages } from '../task/requests/messages.js';
import type { ResultMessage } from '../task/requests/result-message.js';
import type { MessageAnswer, MessageView } from '../wire/messages.js';
import { printable, printableText, table } from './terminal.js';

const previewChars = 100;

export function rendered({ view, body }: MessageAnswer): string {
  const about = [
    `from ${view.from}`,
    view.type,
    `id ${view.id}`,
    new Date(view.stored_ms).toISOString(),
    ...(view.correlation === '' ? [] : [`answers ${view.correlation}`]),
    ...(view.reply_to === '' ? [] : [`wants an answer to ${view.reply_to}`]),
  ];
  return `${printable(about.join(' · '))}\n${printableText(textOf(view.type, body))}`;
}

/** A result in words; anything else as it is. */
function textOf(type: string, bytes: Uint8Array): string {
  const { body } = bodyOf({ type, body: bytes });
  if (type !== taskMessages.finished.type) return body;
  try {
    const { success, result, error, partial_output } = JSON.parse(body) as ResultMessage;
    if (success) return `done\n${result ?? ''}`;
    const why = `without a result: ${error?.text ?? ''} (${error?.code ?? ''})`;
    return [why, partial_output ?? ''].filter(Boolean).join('\n');
  } catch {
    return body;
  }
}

export function listed(messages: MessageView[], depth: number): string {
  const rows = messages.map((each) => [
    String(each.seq),
    each.state,
    each.mailbox,
    each.from,
    each.type,
    `${each.bytes} B`,
    age(each.stored_ms),
    String(each.attempts),
    each.reason.slice(0, previewChars),
  ]);
  const head = ['SEQ', 'STATE', 'MAILBOX', 'FROM', 'TYPE', 'SIZE', 'AGE', 'FAILED', 'WHY'];
  const rest = depth > messages.length ? `\n… and ${depth - messages.length} more` : '';
  return table([head, ...rows]) + rest;
}

function age(sinceMs: number): string {
  const seconds = Math.max(0, Math.round((Date.now() - sinceMs) / 1_000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}
