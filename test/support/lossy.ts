import type { Link, LinkEvents, Listener } from '../../src/transport/port.js';
import type { TransportHarness } from '../contract/transport.js';

export interface LossyHarness extends TransportHarness {
  /** Topics whose publications are lost. Default: none. */
  loses: (topic: string) => boolean;
  /** Sends every client a damaged part, so that it repeats the handshake. */
  damage(): void;
}

/** A network that can lose publications and damage parts. */
export function lossyHarness(inner: TransportHarness): LossyHarness {
  const clients = new Set<LinkEvents>();
  const harness: LossyHarness = {
    ...inner,
    loses: () => false,
    damage: () => {
      for (const events of clients) events.onPart(Buffer.from('noise'));
    },
    listen: async () => {
      const listener = await inner.listen();
      const lossy: Listener = {
        address: listener.address,
        topicsAddress: listener.topicsAddress,
        listen: (onPart) => listener.listen(onPart),
        send: (peer, part) => listener.send(peer, part),
        isRemote: (peer) => listener.isRemote(peer),
        refusals: () => listener.refusals(),
        publish: (topic, frame) => {
          if (!harness.loses(topic)) listener.publish(topic, frame);
        },
        [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose](),
      };
      return lossy;
    },
    dial: (agent, role) => {
      const link = inner.dial(agent, role);
      const watched: Link = {
        address: link.address,
        get refusal() {
          return link.refusal;
        },
        open: (events) => {
          clients.add(events);
          link.open(events);
        },
        send: (part) => link.send(part),
        connectTopics: (address) => link.connectTopics(address),
        subscribe: (prefix) => link.subscribe(prefix),
        unsubscribe: (prefix) => link.unsubscribe(prefix),
        [Symbol.asyncDispose]: () => link[Symbol.asyncDispose](),
      };
      return watched;
    },
  };
  return harness;
}
