// A client's link that counts what comes back: how often was each request answered?
import { ZeromqLink } from '../../dist/src/transport/zeromq.js';
import { Command, decodeFrames } from '../../dist/src/wire/frame.js';
import { addressOf } from './agent.mjs';

export class CountingLink extends ZeromqLink {
  /** Last replies and errors, by the id of the request. */
  replies = new Map();

  constructor(home) {
    super(addressOf(home));
  }

  open(events) {
    super.open({
      ...bound(events),
      onPart: (part) => {
        this.#count(part);
        events.onPart(part);
      },
    });
  }

  #count(part) {
    for (const { frame } of decodeFrames(part)) {
      const { correlation, more, durable } = frame?.envelope ?? {};
      if (frame?.command !== Command.DELIVER || !correlation || more || durable) continue;
      this.replies.set(correlation, (this.replies.get(correlation) ?? 0) + 1);
    }
  }
}

function bound(events) {
  const names = ['onUp', 'onDown', 'onPublication'];
  return Object.fromEntries(names.map((name) => [name, (...args) => events[name](...args)]));
}
