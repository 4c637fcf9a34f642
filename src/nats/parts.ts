import type { NatsConnection } from '@nats-io/transport-node';
import type { SendOutcome } from '../transport/port.js';
import { partBytesMax } from '../wire/frame.js';

/**
 * NATS delivers at most once, in order, and does not say what it lost: a slow reader, a connection that broke on the
 * way. So each message carries its number, where NATS has a place for a reply subject that we have no use for:
 *
 *     17    the 18th message, the end of a part
 *     17+   the part goes on: a server takes a megabyte at a time
 *
 * A number that is missing ends the session, as a lost connection ends one of ZeroMQ.
 */
const more = '+';

/** Bytes handed to the connection that the server has not confirmed; above it the peer counts as stalled. */
const unconfirmedBytesMax = 8 * 1024 * 1024;
/** After so many the server is asked. */
const askedAfterBytes = 1024 * 1024;

/** What leaves by one connection. It would keep without a limit what the server does not take. */
export class Outflow {
  readonly #connection: NatsConnection;
  #unconfirmed = 0;
  #sinceAsked = 0;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
  }

  get isFull(): boolean {
    return this.#unconfirmed > unconfirmedBytesMax;
  }

  /** Returns how many messages it took; `numbered` names each. Throws when the connection is closed. */
  publish(subject: string, part: Uint8Array, number: number): number {
    const pieceMax = this.#connection.info?.max_payload ?? askedAfterBytes;
    let count = 0;
    let start = 0;
    do {
      const end = Math.min(start + pieceMax, part.length);
      const token = `${number + count}${end < part.length ? more : ''}`;
      this.#connection.publish(subject, part.subarray(start, end), { reply: token });
      start = end;
      count += 1;
    } while (start < part.length);
    this.#add(part.length);
    return count;
  }

  #add(bytes: number): void {
    this.#unconfirmed += bytes;
    this.#sinceAsked += bytes;
    if (this.#sinceAsked < askedAfterBytes) return;
    const confirmed = this.#sinceAsked;
    this.#sinceAsked = 0;
    // Stays open when the connection is lost, and with it this flow.
    this.#connection.flush().then(
      () => (this.#unconfirmed -= confirmed),
      () => undefined,
    );
  }
}

/** Numbers the parts to one peer. */
export class PartSender {
  readonly #flow: Outflow;
  readonly #subject: string;
  #next = 0;

  constructor(flow: Outflow, subject: string) {
    this.#flow = flow;
    this.#subject = subject;
  }

  send(part: Uint8Array): SendOutcome {
    if (this.#flow.isFull) return 'stalled';
    try {
      this.#next += this.#flow.publish(this.#subject, part, this.#next);
      return 'sent';
    } catch {
      return 'gone';
    }
  }
}

/** Bytes of parts that are not whole yet, of all peers of a broker together. */
const unfinishedBytesMax = 64 * 1024 * 1024;

/** What a process holds of parts that are not whole. */
export class Unfinished {
  bytes = 0;
}

/** Puts the parts of one peer together. */
export class PartReceiver {
  readonly #unfinished: Unfinished;
  #next = 0;
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(unfinished = new Unfinished()) {
    this.#unfinished = unfinished;
  }

  /** 'gap': something was lost, or is too much, or it is none of ours; nothing more can be read. */
  take(token: string, data: Uint8Array): Buffer | 'unfinished' | 'gap' {
    const isUnfinished = token.endsWith(more);
    const number = isUnfinished ? token.slice(0, -1) : token;
    const isTooMuch =
      this.#bytes + data.length > partBytesMax ||
      (isUnfinished && this.#unfinished.bytes + data.length > unfinishedBytesMax);
    if (number !== String(this.#next) || isTooMuch) {
      this.drop();
      return 'gap';
    }
    this.#next += 1;
    if (isUnfinished) {
      this.#pieces.push(data);
      this.#bytes += data.length;
      this.#unfinished.bytes += data.length;
      return 'unfinished';
    }
    const part = asBuffer(data);
    const whole = this.#pieces.length === 0 ? part : Buffer.concat([...this.#pieces, part]);
    this.drop();
    return whole;
  }

  /** Gives up what is not whole. */
  drop(): void {
    this.#unfinished.bytes -= this.#bytes;
    this.#pieces = [];
    this.#bytes = 0;
  }
}

function asBuffer(data: Uint8Array): Buffer {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}
