import { defaultLimits, type BrokerLimits } from '../../src/broker/limits.js';
import { soundNetwork, type NetworkFaults } from './network.js';
import type { SeededRandom } from './random.js';
import type { Load } from './sender.js';

/** Mean times between faults of a kind, in milliseconds; Infinity: never. */
export interface FaultRates {
  brokerKill: number;
  powerCut: number;
  drain: number;
  diskFull: number;
  clientKill: number;
  reset: number;
  partition: number;
  hang: number;
  wallJump: number;
  /** Of the boundaries of batches: the broker is killed, or its machine loses power, right there. */
  boundaryShare: number;
}

/** What one seed stands for. */
export interface Profile {
  /** Nothing fails, and nothing may be delivered twice. */
  isCalm: boolean;
  /** Parts are lost, doubled or overtake each other inside a connection: order is not promised then. */
  isHarsh: boolean;
  activeMs: number;
  senders: number;
  receivers: number;
  hasTaker: boolean;
  credit: { messages: number; bytes: number };
  limits: Partial<BrokerLimits>;
  load: Omit<Load, 'targets'>;
  faults: FaultRates;
  network: NetworkFaults;
  rotateShare: number;
}

const never: FaultRates = {
  brokerKill: Infinity,
  powerCut: Infinity,
  drain: Infinity,
  diskFull: Infinity,
  clientKill: Infinity,
  reset: Infinity,
  partition: Infinity,
  hang: Infinity,
  wallJump: Infinity,
  boundaryShare: 0,
};

/** Every kind of fault alone, in pairs and all together, over many seeds. */
export function profileOf(random: SeededRandom): Profile {
  const isCalm = random.chance(0.08);
  const isHarsh = !isCalm && random.chance(0.2);
  const activeMs = random.int(6_000, 20_000);
  const share = random.pick([0.25, 0.5, 1]);
  const rate = (fromMs: number, toMs: number): number =>
    !isCalm && random.chance(share) ? random.between(fromMs, toMs) : Infinity;
  const harsh = (max: number): number =>
    isHarsh && random.chance(0.6) ? random.between(0, max) : 0;
  return {
    ...{ isCalm, isHarsh, activeMs },
    senders: random.int(2, 4),
    receivers: random.int(2, 4),
    hasTaker: random.chance(0.5),
    credit: {
      messages: random.pick([1, 3, 16, 64]),
      bytes: random.pick([4_096, 65_536, 1_000_000]),
    },
    // Full mailboxes make handlers fail that cannot reply.
    limits: isCalm ? { ...limitsOf(random), ...roomy } : limitsOf(random),
    load: {
      orderKeys: random.int(1, 4),
      perSenderMax: random.int(20, 90),
      pauseMsMax: random.pick([100, 400, 1_000]),
      failingShare: random.pick([0, 0.1, 0.3]),
      delayShare: random.pick([0, 0.1]),
      ttlShare: random.pick([0, 0.05, 0.2]),
      replyShare: random.pick([0, 0.2, 0.5]),
      cancelShare: random.pick([0, 0.05, 0.2]),
    },
    faults: {
      ...never,
      brokerKill: rate(2_000, 10_000),
      powerCut: rate(2_000, 10_000),
      drain: rate(4_000, 15_000),
      diskFull: rate(2_000, 10_000),
      clientKill: rate(1_000, 8_000),
      reset: rate(500, 5_000),
      partition: rate(1_000, 8_000),
      hang: rate(1_000, 8_000),
      wallJump: rate(2_000, 10_000),
      boundaryShare: !isCalm && random.chance(share / 2) ? random.between(0.001, 0.02) : 0,
    },
    network: {
      ...soundNetwork,
      delayMsMax: random.pick([0.5, 5, 50, 300]),
      flipShare: !isCalm && random.chance(share / 2) ? random.between(0, 0.02) : 0,
      lossShare: harsh(0.03),
      duplicateShare: harsh(0.1),
      reorderShare: harsh(0.1),
    },
    rotateShare: random.chance(0.3) ? 0.05 : 0,
  };
}

const roomy = {
  mailboxMessagesMax: defaultLimits.mailboxMessagesMax,
  mailboxBytesMax: defaultLimits.mailboxBytesMax,
  messagesMax: defaultLimits.messagesMax,
};

function limitsOf(random: SeededRandom): Partial<BrokerLimits> {
  return {
    heartbeatMs: 500,
    drainMsMax: 500,
    leaseMs: random.pick([1_500, 3_000, 6_000]),
    attemptsMax: random.pick([4, 8]),
    retryBackoff: { baseMs: random.pick([10, 100]), capMs: 2_000 },
    windowMax: random.pick([1, 4, 64, defaultLimits.windowMax]),
    frameCacheBytesMax: random.pick([0, 4_096, defaultLimits.frameCacheBytesMax]),
    mailboxMessagesMax: random.pick([12, 60, defaultLimits.mailboxMessagesMax]),
    mailboxBytesMax: random.pick([60_000, defaultLimits.mailboxBytesMax]),
    messagesMax: random.pick([40, defaultLimits.messagesMax]),
    outboxBytesMax: random.pick([64 * 1024, defaultLimits.outboxBytesMax]),
    busyRetryMs: 50,
    pruneMs: 2_000,
    receiversPerSessionMax: random.pick([4, defaultLimits.receiversPerSessionMax]),
    requestMsMax: 20_000,
  };
}
