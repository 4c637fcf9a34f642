import { createHash } from 'node:crypto';
import { BusError } from '../errors/bus-error.js';
import { wordsOf } from '../pgc/format/words.js';
import type { Card, CodedError, ShardPort } from '../pgc/shapes.js';
import { failureOf } from './fan-out.js';
import { SeenStates } from './seen-states.js';
import { CardNames } from './topology/card-names.js';
import { Directory } from './topology/directory.js';
import { Router } from './route/routing.js';
import { TopologyKeeper } from './topology/topology.js';
import { Vocabularies } from './route/vocabularies.js';

/**
 * The shards of a tree with what their cards say. One lattice serves many queries over the same cards. Each part is made when it is first needed, because the cards of a hundred shards take longer to make than most answers.
 */
export class Lattice {
  readonly ports: ReadonlyMap<string, ShardPort>;
  readonly #makeCards: () => readonly Card[];
  #cards: ReadonlyMap<string, Card> | undefined;
  #directory: Directory | undefined;
  #versions: string | undefined;
  #router: Router | undefined;
  #names: CardNames | undefined;

  constructor(
    ports: readonly ShardPort[],
    cards: readonly Card[] | (() => readonly Card[]),
    /** Reused from the previous lattice of the same tree, in which most shards are the same. */
    readonly kept = keptOfTree(),
  ) {
    this.ports = new Map(ports.map((port) => [port.agent, port]));
    this.#makeCards = typeof cards === 'function' ? cards : () => cards;
  }

  get cards(): ReadonlyMap<string, Card> {
    this.#cards ??= new Map(this.#makeCards().map((card) => [card.agent, card]));
    return this.#cards;
  }

  /** Of the tree; empty: no shard has said it yet. */
  get root(): string {
    return [...this.cards.values()][0]?.root ?? '';
  }

  /** Shards that sent no card: their content is unknown, and no answer is complete without them. */
  unknownShards(): CodedError[] {
    return [...this.ports.keys()]
      .filter((agent) => !this.cards.has(agent))
      .map((agent) => failureOf(agent, new BusError('AGENT_OFFLINE', { agent })));
  }

  /** Changes with the index version of any shard. */
  get versions(): string {
    return (this.#versions ??= versionOf([...this.cards.values()]));
  }

  get names(): CardNames {
    return (this.#names ??= new CardNames([...this.cards.values()]));
  }

  get directory(): Directory {
    return (this.#directory ??= new Directory([...this.cards.values()], this.names));
  }

  get router(): Router {
    return (this.#router ??= new Router([...this.cards.values()], wordsOf, this.names));
  }
}

/** What outlives one lattice of a tree. */
export function keptOfTree(): {
  topologies: TopologyKeeper;
  vocabularies: Vocabularies;
  states: SeenStates;
} {
  return {
    ...{ topologies: new TopologyKeeper(), vocabularies: new Vocabularies() },
    states: new SeenStates(),
  };
}

function versionOf(cards: readonly Card[]): string {
  const all = cards.map(({ agent, index_version }) => `${agent} ${index_version}`).sort();
  return createHash('sha256').update(all.join('\n')).digest('hex');
}
