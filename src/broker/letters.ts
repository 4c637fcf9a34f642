import { messageKey, seenKey, stateKey } from '../store/keys.js';
import type { Operation } from '../store/port.js';
import { amend, encodeFrame, type Frame } from '../wire/frame.js';
import { messageViewCodec, type MessageState, type MessageView } from '../wire/messages.js';
import type { Letter } from './mailbox.js';

/** A letter and its forms on disk and on the wire. */

export function letterOf(frame: Frame, bytes: Buffer): Letter {
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
    isQueued: false,
    isHeld: false,
  };
}

export function viewOf(letter: Letter, nowMs: number): MessageView {
  const { seq, id, from, mailbox, type, correlation, more, bytes, attempts, reason } = letter;
  return {
    ...{ seq, id, from, mailbox, type, correlation, more, bytes, attempts, reason },
    order_key: letter.orderKey,
    state: stateOf(letter, nowMs),
    stored_ms: letter.storedMs,
    due_ms: letter.dueMs,
    expires_ms: letter.expiresMs,
    dead_ms: letter.deadMs,
    reply_to: letter.replyTo,
  };
}

function stateOf(letter: Letter, nowMs: number): MessageState {
  if (letter.deadMs > 0) return 'dead';
  if (letter.lease !== undefined) return 'leased';
  return letter.dueMs > nowMs ? 'scheduled' : 'waiting';
}

/** What changed since it was stored. */
export function stateOperation(letter: Letter): Operation {
  const value = messageViewCodec.encode(viewOf(letter, 0));
  return { type: 'put', key: stateKey(letter.seq), value };
}

/** The state of an earlier run, read back. */
export function restore(letter: Letter, view: MessageView): void {
  letter.attempts = view.attempts;
  letter.dueMs = view.due_ms;
  letter.expiresMs = view.expires_ms;
  letter.reason = view.reason;
}

/** It is over: the message goes; its id, if it is still to be remembered, stays, in one batch. */
export function settleOperations(
  letter: Letter,
  isRemembered: boolean,
  nowMs: number,
): Operation[] {
  const operations: Operation[] = [{ type: 'del', key: messageKey(letter.seq) }];
  if (isRemembered) {
    const value = Buffer.from(`${nowMs} ${letter.id}\t${letter.mailbox}`);
    operations.push({ type: 'put', key: seenKey(letter.from, letter.seq), value });
  }
  if (letter.attempts > 0 || letter.reason !== '')
    operations.push({ type: 'del', key: stateKey(letter.seq) });
  return operations;
}

/** The id of a settled message, read back. Entries of an earlier version have no mailbox. */
export function readSeen(value: Buffer): { atMs: number; id: string; mailbox: string } {
  const [, atMs = '0', id = '', mailbox = ''] =
    /^(\d+) ([^\t]*)(?:\t(.*))?$/s.exec(value.toString()) ?? [];
  return { atMs: Number(atMs), id, mailbox };
}

/** The DELIVER frame of a later attempt. */
export function redelivery(frame: Frame, attempts: number): Buffer {
  return encodeFrame(amend(frame, { attempt: attempts + 1 }));
}
