import { messageKey, seenKey, stateKey } from '../../store/keys.js';
import type { Operation } from '../../store/port.js';
import { amend, encodeFrame, type Frame } from '../../wire/frame.js';
import { messageViewCodec, type MessageState, type MessageView } from '../../wire/messages.js';
import type { StoredMessage } from './mailbox.js';

/** A stored message and its forms on disk and on the wire. */

export function storedMessageOf(frame: Frame, bytes: Buffer): StoredMessage {
  const { envelope } = frame;
  const { delay_ms, ttl_ms, stored_ms } = envelope;
  return {
    seq: envelope.seq,
    id: envelope.id,
    from: envelope.from,
    mailbox: envelope.to,
    type: envelope.type,
    correlation: envelope.correlation,
    replyTo: envelope.reply_to,
    more: envelope.more,
    orderKey: envelope.order_key,
    bytes: bytes.length,
    storedMs: stored_ms,
    expiresMs: ttl_ms === 0 ? 0 : stored_ms + ttl_ms,
    dueMs: delay_ms === 0 ? 0 : stored_ms + delay_ms,
    attempts: 0,
    reason: '',
    deadMs: 0,
    frame: undefined,
    lease: undefined,
    isSuspect: false,
    lane: undefined,
    isHeld: false,
  };
}

export function viewOf(message: StoredMessage, nowMs: number): MessageView {
  const { seq, id, from, mailbox, type, correlation, more, bytes, attempts, reason } = message;
  return {
    ...{ seq, id, from, mailbox, type, correlation, more, bytes, attempts, reason },
    order_key: message.orderKey,
    state: stateOf(message, nowMs),
    stored_ms: message.storedMs,
    due_ms: message.dueMs,
    expires_ms: message.expiresMs,
    dead_ms: message.deadMs,
    reply_to: message.replyTo,
  };
}

function stateOf(message: StoredMessage, nowMs: number): MessageState {
  if (message.deadMs > 0) return 'dead';
  if (message.lease !== undefined) return 'leased';
  return message.dueMs > nowMs ? 'scheduled' : 'waiting';
}

/** Writes the state that changed since it was stored. */
export function stateOperation(message: StoredMessage): Operation {
  const value = messageViewCodec.encode(viewOf(message, 0));
  return { type: 'put', key: stateKey(message.seq), value };
}

/** Restores the state from disk. */
export function restore(message: StoredMessage, view: MessageView): void {
  message.attempts = view.attempts;
  message.dueMs = view.due_ms;
  message.expiresMs = view.expires_ms;
  message.reason = view.reason;
}

/** Deletes the message; in the same batch keeps its id, if the dedupe window still needs it. */
export function settleOperations(
  message: StoredMessage,
  isRemembered: boolean,
  nowMs: number,
): Operation[] {
  const operations: Operation[] = [{ type: 'del', key: messageKey(message.seq) }];
  if (isRemembered) {
    const value = Buffer.from(`${nowMs} ${message.id}\t${message.mailbox}`);
    operations.push({ type: 'put', key: seenKey(message.from, message.seq), value });
  }
  if (message.attempts > 0 || message.reason !== '')
    operations.push({ type: 'del', key: stateKey(message.seq) });
  return operations;
}

/** Reads the id of a settled message. */
export function readSeen(value: Buffer): { atMs: number; id: string; mailbox: string } {
  const [, atMs = '0', id = '', mailbox = ''] =
    /^(\d+) ([^\t]*)\t(.*)$/s.exec(value.toString()) ?? [];
  return { atMs: Number(atMs), id, mailbox };
}

/** The DELIVER frame of a later attempt. */
export function redelivery(frame: Frame, attempts: number): Buffer {
  return encodeFrame(amend(frame, { attempt: attempts + 1 }));
}
