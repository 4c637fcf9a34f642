import { systemClock } from '../base/clock.js';
import { within } from '../base/within.js';
import type { Client } from '../client/client.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import { keptOfTree, Lattice } from '../lattice/lattice.js';
import type { Logger } from '../observe/log.js';
import type { Card } from '../pgc/shapes.js';
import type { AgentView } from '../wire/messages.js';
import { RemoteShard, shardTurns } from './shard.js';

/** Publications are at most once: what was missed is noticed by the first question after this long. */
const refreshEveryMs = 2_000;

/** How long a question waits for cards of agents that are new; without any lattice it waits longer. */
const cardsMsMax = 2_000;
const firstCardsMsMax = 15_000;
/** An agent that gave no card, or one of another version than it is registered with, is not asked again before. */
const cardRetryMs = 10_000;

/** Cards on their way at once: all of a kernel together are more than the outboxes on the way hold. */
const fetchesAtOnce = 8;
/** One that takes longer makes room for the next, and is waited for all the same: its host may hang. */
const turnMsMax = 1_000;

/** Shards that are known at once; more are left out. */
const shardsMax = 2_048;

/** How long a tree stays known of which no shard is there: a broker that starts anew meets its agents one by one. */
const goneMsMax = 60_000;

interface Known {
  view: AgentView;
  /** Undefined until it was there to send one. */
  card: Card | undefined;
  /** When it was last seen to be there. */
  seenMs: number;
}

/**
 * The PGC agents that are registered, with the cards they sent, as one lattice per tree. A card is
 * fetched once per index version; the lattice is made anew only when something changed.
 */
export class Shards {
  readonly #client: Client;
  readonly #log: Logger;
  readonly #requests = shardTurns();
  #known = new Map<string, Known>();
  readonly #lattices = new Map<string, Lattice>();
  readonly #retryAtMs = new Map<string, number>();
  #isCurrent = false;
  #refreshedMs = 0;
  #refreshing: Promise<void> | undefined;
  readonly #fetching = new Set<Promise<void>>();
  #turns = 0;

  constructor(client: Client, log: Logger) {
    this.#client = client;
    this.#log = log;
    client.onPresence((event) => {
      if (event.agent.record.role === 'pgc') this.#isCurrent = false;
    });
    // Publications during an outage were missed.
    client.onState(() => (this.#isCurrent = false));
  }

  /** Every indexed tree that has a shard, by its root: two trees may well have the same name. */
  async lattices(): Promise<ReadonlyMap<string, Lattice>> {
    const nowMs = performance.now();
    if (!this.#isCurrent || nowMs - this.#refreshedMs > refreshEveryMs) {
      this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined));
      await this.#refreshing;
    }
    return this.#lattices;
  }

  async #refresh(): Promise<void> {
    // Set first: what changes while we ask must be asked for again.
    this.#isCurrent = true;
    this.#refreshedMs = performance.now();
    try {
      const views = await this.#client.agents({ role: 'pgc' });
      this.#remember(views);
      const waitMs = this.#lattices.size === 0 ? firstCardsMsMax : cardsMsMax;
      await within(systemClock, waitMs, this.#fetchAll());
      this.#rebuild();
    } catch (error) {
      this.#isCurrent = false;
      throw error;
    }
  }

  #remember(views: readonly AgentView[]): void {
    const nowMs = performance.now();
    const all = views.map((view): Known => {
      const before = this.#known.get(view.record.id);
      const seenMs = view.state === 'offline' ? before?.seenMs : nowMs;
      // Never seen to be there: as good as gone long ago.
      return { view, card: before?.card, seenMs: seenMs ?? -Infinity };
    });
    const kept = present(all, nowMs).slice(0, shardsMax);
    this.#known = new Map(kept.map((known) => [known.view.record.id, known]));
  }

  /** Resolves when every agent that could be asked for a card has sent it, or failed. */
  #fetchAll(): Promise<unknown> {
    while (this.#turns < fetchesAtOnce && this.#nextWithout() !== undefined) {
      const work = this.#fetchInTurn().finally(() => this.#fetching.delete(work));
      this.#fetching.add(work);
    }
    return Promise.all(this.#fetching);
  }

  async #fetchInTurn(): Promise<void> {
    const late: Promise<void>[] = [];
    this.#turns += 1;
    for (let next = this.#nextWithout(); next !== undefined; next = this.#nextWithout()) {
      const fetched = this.#fetch(next);
      late.push(fetched);
      await within(systemClock, turnMsMax, fetched);
    }
    this.#turns -= 1;
    await Promise.all(late);
  }

  /** A shard that is there, has not sent its present card, and has not failed just now. */
  #nextWithout(): Known | undefined {
    const nowMs = performance.now();
    return [...this.#known.values()].find(
      ({ view, card }) =>
        view.state !== 'offline' &&
        card?.index_version !== versionOf(view) &&
        nowMs >= (this.#retryAtMs.get(view.record.id) ?? 0),
    );
  }

  /** Never throws. Who comes late is part of the answers from then on; who fails is left alone for a while. */
  async #fetch({ view }: Known): Promise<void> {
    const { id, alias } = view.record;
    const wanted = versionOf(view);
    // Also while it is under way: it is not asked for once more.
    this.#retryAtMs.set(id, performance.now() + cardRetryMs);
    try {
      const card = await new RemoteShard(this.#client, alias, id).card();
      const now = this.#known.get(id);
      if (now !== undefined) now.card = card;
      // A host that is about to register the next version sends its card already.
      if (card.index_version === wanted) this.#retryAtMs.delete(id);
      this.#isCurrent = false;
    } catch (error) {
      this.#log.warn({ agent: id, code: asBusError(error).code }, 'no card');
    }
  }

  #rebuild(): void {
    const trees = new Map<string, Known[]>();
    const all = [...this.#known.values()];
    // Of a plan of which one shard is known, the others are known to be of the same tree.
    const roots = new Map(
      all.flatMap(({ view, card }) => (card ? [[planOf(view), card.root]] : [])),
    );
    for (const known of all) {
      const root = known.card?.root ?? roots.get(planOf(known.view));
      if (root !== undefined) trees.set(root, [...(trees.get(root) ?? []), known]);
    }
    for (const root of [...this.#lattices.keys()])
      if (!trees.has(root)) this.#lattices.delete(root);
    for (const [root, shards] of trees) {
      const cards = shards.flatMap(({ card }) => card ?? []);
      const before = this.#lattices.get(root);
      const kept = before?.kept ?? keptOfTree();
      const ports = shards.map(
        ({ view, card }) =>
          new RemoteShard(
            this.#client,
            card?.agent ?? view.record.alias,
            view.record.id,
            this.#requests,
            kept.states,
          ),
      );
      const now = new Lattice(ports, cards, kept);
      if (before === undefined || !isSame(before, now)) this.#lattices.set(root, now);
    }
  }
}

/**
 * Shards of an earlier plan stay registered as offline for ever; they are none of a tree's present ones. A
 * shard of the present plan that is offline is kept: an answer without it must say so.
 */
function present(all: readonly Known[], nowMs: number): Known[] {
  const isThere = ({ view }: Known): boolean => view.state !== 'offline';
  const plans = new Set(all.filter(isThere).map(({ view }) => planOf(view)));
  const replaced = new Set(all.filter(isThere).map(({ card }) => card?.root));
  const recent = new Set(
    all.filter(({ seenMs }) => nowMs - seenMs < goneMsMax).map(({ view }) => planOf(view)),
  );
  return all.filter(({ view, card }) => {
    const plan = planOf(view);
    if (plans.has(plan)) return true;
    return recent.has(plan) && card !== undefined && !replaced.has(card.root);
  });
}

function planOf({ record }: AgentView): string {
  return `${record.project} ${record.capabilities.find((each) => each.startsWith('plan:')) ?? ''}`;
}

function versionOf(view: AgentView): string {
  return view.record.overlays.O1?.version ?? '';
}

function isSame(before: Lattice, now: Lattice): boolean {
  const ports = (lattice: Lattice): string => [...lattice.ports.keys()].sort().join('\n');
  return ports(before) === ports(now) && before.versions === now.versions;
}

/** The lattice that a question is about: the only one, the named one, or the one that most likely knows. */
export function choose(
  lattices: ReadonlyMap<string, Lattice>,
  rank: (lattice: Lattice) => number,
  folder = '',
): Lattice {
  const [first] = ranked(lattices, rank, folder);
  if (first === undefined) throw new BusError('NO_SHARDS');
  return first[1];
}

/** All trees: first the one that holds this folder, the innermost of several; then by their rank. */
export function ranked(
  lattices: ReadonlyMap<string, Lattice>,
  rank: (lattice: Lattice) => number,
  folder = '',
): [root: string, lattice: Lattice][] {
  if (lattices.size < 2) return [...lattices];
  return [...lattices]
    .map(([root, lattice]) => ({
      ...{ root, lattice },
      depth: isWithin(folder, root) ? root.length : 0,
      rank: rank(lattice),
    }))
    .sort((one, other) => other.depth - one.depth || other.rank - one.rank)
    .map(({ root, lattice }) => [root, lattice]);
}

/** Also of a folder itself. */
export function isWithin(folder: string, root: string): boolean {
  return folder === root || folder.startsWith(root.endsWith('/') ? root : `${root}/`);
}
