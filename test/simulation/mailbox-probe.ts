import { Mailbox, type Consumer, type StoredMessage } from '../../src/broker/mail/mailbox.js';

/** Sees every lease that is given, and may lose some: for planted bugs. */
export interface MailboxProbe {
  onLease(mailbox: Mailbox, consumer: Consumer, message: StoredMessage): void;
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
    const message = lease.call(this, consumer, untilMs);
    if (message !== undefined) current?.onLease(this, consumer, message);
    return message;
  };
  Mailbox.prototype.drop = function (this: Mailbox, consumer) {
    for (const [seq, message] of [...consumer.leased]) {
      if (current?.losesLease() !== true) continue;
      // Nobody has it any more, and it does not know.
      consumer.leased.delete(seq);
      message.lease = { consumer, untilMs: Infinity };
    }
    drop.call(this, consumer);
  };
}
