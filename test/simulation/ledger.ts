import type { MessageView } from '../../src/wire/messages.js';
import type { Profile } from './profile.js';

/** What the handler of a message does each time it runs. */
export type Script =
  | { kind: 'ok'; workMs: number }
  /** Fails so many times first. */
  | { kind: 'flaky'; failures: number; workMs: number }
  | { kind: 'later'; times: number; delayMs: number }
  /** Runs longer than a handler may, so many times. */
  | { kind: 'hang'; times: number }
  | { kind: 'poison' }
  | { kind: 'terminal' };

/** A message that a sender means to send: in its own durable log, so that it survives the sender's crash. */
export interface Intent {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly orderKey: string;
  readonly body: Buffer;
  readonly delayMs: number;
  readonly ttlMs: number;
  readonly wantsReply: boolean;
  readonly script: Script;
  /** The sender knows that it was accepted, and as what. */
  seq: number;
  /** Of the sender's process when it was first posted, and its place there. */
  firstPost: { process: string; place: number } | undefined;
  posts: number;
  isCancelled: boolean;
  isPurged: boolean;
  isCollected: boolean;
  /** Of its handler. */
  runs: number;
  /** When it was processed first. */
  processedAt: number;
  isRequeued: boolean;
  /** Delivered out of turn, by a TAKE. */
  isTaken: boolean;
}

export class Violation extends Error {}

/**
 * What was sent, accepted, delivered and processed, as the agents saw it, and what must hold of that at
 * every moment. `final` asks what must hold when all has come to rest.
 */
export class Ledger {
  readonly intents = new Map<string, Intent>();
  readonly counts = { posted: 0, accepted: 0, delivered: 0, redelivered: 0, processed: 0, dead: 0 };
  /** Message by its broker's number. */
  readonly #bySeq = new Map<number, Intent>();
  readonly #seqs = new Map<Intent, Set<number>>();
  /** Per lane, the last number that was processed for the first time. */
  readonly #lastOfLane = new Map<string, number>();
  /** What each receiver wrote into its own durable log: it processes nothing twice. */
  readonly #processedBy = new Map<string, Set<Intent>>();
  readonly #attempts = new Map<string, Set<number>>();
  #order = 0;

  /** `isCalm`: nothing fails, so nothing may be delivered twice. `isHarsh`: the network does not keep order. */
  constructor(
    private readonly profile: Pick<Profile, 'isCalm' | 'isHarsh' | 'limits' | 'network'>,
  ) {}

  add(intent: Intent): void {
    this.intents.set(keyOf(intent.from, intent.id), intent);
    this.counts.posted += 1;
  }

  accepted(intent: Intent, seq: number): void {
    if (seq <= 0) throw new Violation(`${intent.id} was accepted as ${seq}`);
    this.#numbered(intent, seq);
    if (intent.seq === 0) this.counts.accepted += 1;
    intent.seq = seq;
  }

  /** A copy reached `agent`. Throws when it must not have. */
  delivered(
    agent: string,
    message: { seq: number; id: string; from: string; body: Uint8Array; mailbox: string },
    attempt: number | undefined,
  ): Intent {
    const intent = this.intents.get(keyOf(message.from, message.id));
    const what = `message ${message.seq} (${message.from}/${message.id}) at ${agent}`;
    if (intent === undefined) throw new Violation(`${what} was never sent`);
    if (!intent.body.equals(message.body)) throw new Violation(`${what} has another body`);
    if (intent.to !== message.mailbox)
      throw new Violation(`${what} was for ${intent.to}, not ${message.mailbox}`);
    this.#numbered(intent, message.seq);
    this.counts.delivered += 1;
    if (attempt !== undefined) this.#attempted(intent, message.seq, attempt, what);
    return intent;
  }

  hasProcessed(agent: string, intent: Intent): boolean {
    return this.#processedBy.get(agent)?.has(intent) === true;
  }

  /** `isDead`: its holder was given up, but has finished all the same. */
  processed(agent: string, intent: Intent, seq: number, isDead: boolean): void {
    const log = this.#processedBy.get(agent) ?? new Set();
    this.#processedBy.set(agent, log.add(intent));
    if (intent.processedAt > 0) return;
    this.#order += 1;
    intent.processedAt = this.#order;
    this.counts.processed += 1;
    // What is delayed, taken out of turn, requeued by hand or given up meanwhile has no place in the order.
    const { delayMs, isTaken, isRequeued, isCancelled, isPurged } = intent;
    if (delayMs > 0 || isTaken || isRequeued || isCancelled || isPurged) return;
    if (this.profile.isHarsh || isDead) return;
    const lane = `${intent.from} ${intent.to} ${intent.orderKey}`;
    const last = this.#lastOfLane.get(lane) ?? 0;
    if (seq < last) throw new Violation(`${lane}: ${seq} was processed after ${last}`);
    this.#lastOfLane.set(lane, seq);
  }

  /** Messages of one sender's process that were posted in this order were accepted in this order. */
  checkAcceptance(): void {
    const last = new Map<string, Intent>();
    for (const intent of this.intents.values()) {
      if (intent.seq === 0 || intent.posts !== 1 || intent.firstPost === undefined) continue;
      const lane = `${intent.firstPost.process} ${intent.to} ${intent.orderKey}`;
      const before = last.get(lane);
      if (before !== undefined && before.seq > intent.seq)
        throw new Violation(
          `${intent.id} was posted after ${before.id} and stored before it: ${lane}`,
        );
      last.set(lane, intent);
    }
  }

  /** Why this message does not have to be processed; undefined: it must be. */
  excuse(intent: Intent, dead: ReadonlyMap<number, MessageView>): string | undefined {
    if (intent.isCancelled) return 'cancelled';
    if (intent.isPurged) return 'purged';
    const grave = dead.get(intent.seq);
    return grave === undefined ? undefined : `dead: ${grave.reason}`;
  }

  /** An operator is about to have this dead letter forgotten. */
  purging(view: MessageView): void {
    this.#checkGrave(view);
    const intent = this.intents.get(keyOf(view.from, view.id));
    if (intent !== undefined) intent.isPurged = true;
    // A reply: who asked will not get it.
    const asked = [...this.intents.values()].find(
      (each) => view.mailbox === `reply:${each.from}` && each.id === view.correlation,
    );
    if (asked !== undefined) asked.isPurged = true;
  }

  /** All has come to rest. `dead`: by number. */
  final(dead: ReadonlyMap<number, MessageView>): void {
    for (const intent of this.intents.values()) {
      if (intent.seq === 0) continue;
      const { id, from } = intent;
      const what = `message ${intent.seq} (${from}/${id})`;
      const isOver = intent.processedAt > 0 || this.excuse(intent, dead) !== undefined;
      if (!isOver) throw new Violation(`${what} was accepted and is nowhere: ${show(intent)}`);
      if (intent.wantsReply && intent.processedAt > 0 && !intent.isCollected)
        if (this.excuse(intent, dead) === undefined && !this.#hasDeadReply(intent, dead))
          throw new Violation(`${what} was processed and its reply is nowhere`);
    }
    for (const view of dead.values()) this.#checkGrave(view);
  }

  #hasDeadReply(intent: Intent, dead: ReadonlyMap<number, MessageView>): boolean {
    return [...dead.values()].some(
      ({ mailbox, correlation }) => mailbox === `reply:${intent.from}` && correlation === intent.id,
    );
  }

  #checkGrave(view: MessageView): void {
    this.counts.dead += 1;
    const intent = this.intents.get(keyOf(view.from, view.id));
    const what = `dead letter ${view.seq} (${view.from}/${view.id}) ${view.reason}`;
    if (view.mailbox.startsWith('reply:')) return;
    if (intent === undefined) throw new Violation(`${what} was never sent`);
    // A reply that arrives corrupt each time is one that its handler cannot send.
    const mayBeMalformed = intent.script.kind === 'terminal' || this.profile.network.flipShare > 0;
    const isExcused =
      (view.reason === 'EXPIRED' && intent.ttlMs > 0) ||
      (view.reason.startsWith('MALFORMED_PAYLOAD') && mayBeMalformed) ||
      view.attempts >= (this.profile.limits.attemptsMax ?? 0);
    if (!isExcused) throw new Violation(`${what} after ${view.attempts} attempts: ${show(intent)}`);
    const mayDie = intent.script.kind === 'poison' || intent.script.kind === 'terminal';
    if (this.profile.isCalm && !mayDie && intent.ttlMs === 0)
      throw new Violation(`${what} though nothing failed: ${show(intent)}`);
  }

  #numbered(intent: Intent, seq: number): void {
    const other = this.#bySeq.get(seq);
    if (other !== undefined && other !== intent)
      throw new Violation(`${seq} is both ${other.id} and ${intent.id}`);
    this.#bySeq.set(seq, intent);
    const seqs = this.#seqs.get(intent) ?? new Set();
    this.#seqs.set(intent, seqs.add(seq));
    if (seqs.size > 1)
      throw new Violation(
        `${intent.id} of ${intent.from} was stored as ${[...seqs].join(' and ')}`,
      );
  }

  #attempted(intent: Intent, seq: number, attempt: number, what: string): void {
    const key = String(seq);
    const seen = this.#attempts.get(key) ?? new Set();
    this.#attempts.set(key, seen);
    if (seen.size > 0) this.counts.redelivered += 1;
    const isPutOff = intent.isRequeued;
    if (this.profile.isCalm && !isPutOff && seen.has(attempt))
      throw new Violation(`${what}: attempt ${attempt} came twice, though nothing failed`);
    seen.add(attempt);
  }
}

export function keyOf(from: string, id: string): string {
  return `${from} ${id}`;
}

function show(intent: Intent): string {
  const { to, orderKey, script, delayMs, ttlMs, runs } = intent;
  return JSON.stringify({ to, orderKey, script, delayMs, ttlMs, runs });
}
