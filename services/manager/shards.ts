import { systemClock } from '../../src/base/clock.js';
import { within } from '../../src/base/within.js';
import type { Client } from '../../src/client/client.js';
import { asBusError, BusError } from '../../src/errors/bus-error.js';
import { Lattice } from '../../src/lattice/query.js';
import type { Logger } from '../../src/observe/log.js';
import type { Card } from '../../src/pgc/shapes.js';
import type { AgentView } from '../../src/wire/messages.js';
import { RemoteShard } from './remote-shard.js';

/** Publications are at most once: what was missed is noticed by the first question after this long. */
const refreshEveryMs = 2_000;

/** How long a question waits for cards of agents that are new; without any lattice it waits longer. */
const cardsMsMax = 2_000;
const firstCardsMsMax = 15_000;
/** An agent that gave no card is not asked again before. */
const cardRetryMs = 10_000;

/** Shards whose cards are kept; a lattice of more is refused by routing them away. */
const cardsMax = 2_048;

interface Known {
  view: AgentView;
  card: Card;
}

/**
 * The PGC agents that are registered, with the cards they sent, as one lattice per tree. A card is
 * fetched once per index version; the lattice is made anew only when something changed.
 */
export class Shards {
  readonly #client: Client;
  readonly #log: Logger;
  readonly #cards = new Map<string, Known>();
  readonly #lattices = new Map<string, Lattice>();
  readonly #retryAtMs = new Map<string, number>();
  #isCurrent = false;
  #refreshedMs = 0;
  #refreshing: Promise<void> | undefined;

  constructor(client: Client, log: Logger) {
    this.#client = client;
    this.#log = log;
    client.onPresence((event) => {
      if (event.agent.record.role === 'pgc') this.#isCurrent = false;
    });
    // Whatever was published while we were away was missed.
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
      const views = current(await this.#client.agents({ role: 'pgc' }));
      const waitMs = this.#lattices.size === 0 ? firstCardsMsMax : cardsMsMax;
      await within(systemClock, waitMs, Promise.all(views.map((view) => this.#fetch(view))));
      const ids = new Set(views.map((view) => view.record.id));
      for (const id of [...this.#cards.keys()]) if (!ids.has(id)) this.#cards.delete(id);
      this.#rebuild();
    } catch (error) {
      this.#isCurrent = false;
      throw error;
    }
  }

  /** Never throws. Who comes late is part of the answers from then on; who fails is left alone for a while. */
  async #fetch(view: AgentView): Promise<void> {
    const { id, alias } = view.record;
    const known = this.#cards.get(id);
    if (known !== undefined && known.card.index_version === versionOf(view)) {
      this.#cards.set(id, { view, card: known.card });
      return;
    }
    const nowMs = performance.now();
    const isUnwell = nowMs < (this.#retryAtMs.get(id) ?? 0);
    if (view.state === 'offline' || isUnwell || this.#cards.size >= cardsMax) return;
    // Also while it is under way: a question in the meantime does not ask for it once more.
    this.#retryAtMs.set(id, nowMs + cardRetryMs);
    try {
      const card = await new RemoteShard(this.#client, alias, id).card();
      this.#cards.set(id, { view, card });
      this.#retryAtMs.delete(id);
      this.#isCurrent = false;
    } catch (error) {
      this.#log.warn({ agent: id, code: asBusError(error).code }, 'no card');
    }
  }

  #rebuild(): void {
    const trees = new Map<string, Known[]>();
    for (const known of this.#cards.values()) {
      const { root } = known.card;
      trees.set(root, [...(trees.get(root) ?? []), known]);
    }
    for (const root of [...this.#lattices.keys()])
      if (!trees.has(root)) this.#lattices.delete(root);
    for (const [root, all] of trees) {
      const cards = all.map(({ card }) => card);
      const before = this.#lattices.get(root);
      if (before !== undefined && isSame(cards, [...before.cards.values()])) continue;
      const ports = all.map(
        ({ view, card }) => new RemoteShard(this.#client, card.agent, view.record.id),
      );
      this.#lattices.set(root, new Lattice(ports, cards));
    }
  }
}

/**
 * Shards of an earlier plan stay registered as offline for ever; they are none of a project's present
 * ones. A shard of the present plan that is offline is kept: an answer without it must say so.
 */
function current(views: AgentView[]): AgentView[] {
  const planOf = (view: AgentView): string =>
    view.record.capabilities.find((each) => each.startsWith('plan:')) ?? '';
  const plans = new Set(
    views
      .filter((view) => view.state !== 'offline')
      .map((view) => `${view.record.project} ${planOf(view)}`),
  );
  return views.filter((view) => plans.has(`${view.record.project} ${planOf(view)}`));
}

function versionOf(view: AgentView): string {
  return view.record.overlays.O1?.version ?? '';
}

function isSame(cards: Card[], others: Card[]): boolean {
  const key = (all: Card[]): string =>
    all
      .map((card) => `${card.agent} ${card.index_version}`)
      .sort()
      .join('\n');
  return key(cards) === key(others);
}

/** The lattice that a question is about: the only one, the named one, or the one that most likely knows. */
export function choose(
  lattices: ReadonlyMap<string, Lattice>,
  rank: (lattice: Lattice) => number,
): Lattice {
  const all = [...lattices.values()];
  const [first] = all;
  if (first === undefined) throw new BusError('NO_SHARDS');
  if (all.length === 1) return first;
  return (
    all.map((lattice) => ({ lattice, rank: rank(lattice) })).sort((a, b) => b.rank - a.rank)[0]
      ?.lattice ?? first
  );
}
