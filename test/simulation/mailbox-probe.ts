import { Mailbox, type Consumer, type Letter } from '../../src/broker/mailbox.js';

/** Sees every lease that is given, and may lose some: for planted bugs. */
export interface MailboxProbe {
  onLease(mailbox: Mailbox, consumer: Consumer, letter: Letter): void;
  /** Of a lease that ends with its session: it is forgotten instead of given back. */
  losesLease(): boolean;
}

let current: MailboxProbe | undefined;

/** One run at a time is watched. */
export function watchMailboxes(probe: MailboxProbe): Disposable {
  install();
  current = probe;
  return {
    [Symbol.dispose]: () => {
      if (current === probe) current = undefined;
    },
  };
}

let isInstalled = false;

function install(): void {
  if (isInstalled) return;
  isInstalled = true;
  // Called below with the `this` of the caller.
  // oxlint-disable-next-line typescript/unbound-method
  const { lease, drop } = Mailbox.prototype;
  Mailbox.prototype.lease = function (this: Mailbox, consumer, untilMs) {
    const letter = lease.call(this, consumer, untilMs);
    if (letter !== undefined) current?.onLease(this, consumer, letter);
    return letter;
  };
  Mailbox.prototype.drop = function (this: Mailbox, consumer) {
    for (const [seq, letter] of [...consumer.leased]) {
      if (current?.losesLease() !== true) continue;
      // Nobody has it any more, and it does not know.
      consumer.leased.delete(seq);
      letter.lease = { consumer, untilMs: Infinity };
    }
    drop.call(this, consumer);
  };
}
