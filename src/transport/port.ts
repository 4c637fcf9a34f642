import type { BusError } from '../errors/bus-error.js';

/**
 * Moves bytes between one broker and its clients, without looking into them.
 * Two implementations: ZeroMQ and memory; `test/contract/transport.ts` holds both to this text.
 */

/** Names one connection for as long as it lasts; a client that reconnects is a new peer. */
export type PeerId = string;

/**
 * sent: handed to the connection, which is not yet delivered. gone: no such connection.
 * stalled: the peer does not read; nothing was queued, try again later.
 */
export type SendOutcome = 'sent' | 'gone' | 'stalled';

/** The broker's side. Parts of one peer arrive in the order they were sent. */
export interface Listener extends AsyncDisposable {
  readonly address: string;
  readonly topicsAddress: string;
  /** Called once. `onPart` is synchronous and must not throw. */
  listen(onPart: (peer: PeerId, part: Buffer) => void): void;
  send(peer: PeerId, part: Buffer): Promise<SendOutcome>;
  /** At most once, to the present subscribers. `topic` without the NUL that ends it on the wire. */
  publish(topic: string, frame: Buffer): void;
  /** It came over the network, where every role must prove itself. */
  isRemote(peer: PeerId): boolean;
  /** Refused connections by error code, since it listens: CURVE_REFUSED, CURVE_REQUIRED, HANDSHAKE_FAILED. */
  refusals(): Record<string, number>;
}

export interface LinkEvents {
  /** Connected; called again after every reconnect. */
  onUp(): void;
  onDown(): void;
  onPart(part: Buffer): void;
  onPublication(topic: string, frame: Buffer): void;
}

/** A client's side. Reconnects by itself until disposed of. */
export interface Link extends AsyncDisposable {
  readonly address: string;
  /** Why the connection was refused; undefined while connected, or without an answer. */
  readonly refusal?: BusError | undefined;
  /** Called once. */
  open(events: LinkEvents): void;
  /** While nothing is connected: `gone`. Never queues for later. */
  send(part: Buffer): Promise<SendOutcome>;
  /** Address of publications, from the broker's WELCOME. Over tcp only the port is used. Idempotent. */
  connectTopics(address: string): void;
  /** ZeroMQ prefix filters; counted, so that two equal subscriptions end separately. */
  subscribe(prefix: string): void;
  unsubscribe(prefix: string): void;
}
