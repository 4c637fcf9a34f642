import type { BusError } from '../errors/bus-error.js';

/**
 * How bytes move between one broker and its clients. What they mean is the business of others.
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
  /** At most once, to whoever subscribes at this moment. `topic` without the NUL that ends it on the wire. */
  publish(topic: string, frame: Buffer): void;
  /** It came over the network: the file system vouches for nobody there, and every role must prove itself. */
  isRemote(peer: PeerId): boolean;
  /** Connections that were not let in, by error code, since it listens: CURVE_REFUSED, CURVE_REQUIRED, HANDSHAKE_FAILED. */
  refusals(): Record<string, number>;
}

export interface LinkEvents {
  /** A connection stands; again after every reconnect. */
  onUp(): void;
  onDown(): void;
  onPart(part: Buffer): void;
  onPublication(topic: string, frame: Buffer): void;
}

/** A client's side. Reconnects by itself until disposed of. */
export interface Link extends AsyncDisposable {
  readonly address: string;
  /** Why nothing is connected, where the other side said so; undefined while connected, or when nobody answers. */
  readonly refusal?: BusError | undefined;
  /** Called once. */
  open(events: LinkEvents): void;
  /** While nothing is connected: `gone`. Never queues for later. */
  send(part: Buffer): Promise<SendOutcome>;
  /** Where publications come from; told by the broker in WELCOME. Over tcp only its port is taken. Idempotent. */
  connectTopics(address: string): void;
  /** ZeroMQ prefix filters; counted, so that two equal subscriptions end separately. */
  subscribe(prefix: string): void;
  unsubscribe(prefix: string): void;
}
