import { createHash } from 'node:crypto';
import { BusError } from '../errors/bus-error.js';
import { wordsOf } from '../pgc/format/words.js';
import type { Card, CodedError, ShardPort } from '../pgc/shapes.js';
import { failureOf } from './asking.js';
import { CardNames } from './card-names.js';
import { Directory } from './directory.js';
import { Router } from './routing.js';
import { TopologyKeeper } from './topology.js';
import { Vocabularies } from './vocabularies.js';

/**
 * What a query needs. The lattice is prepared once per set of cards and serves many queries; each part when it
 * is first needed, for the cards of a hundred shards take longer to make than most answers.
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
    /** Of the lattice before this one, of the same tree: most shards are the same. */
    readonly kept = { topologies: new TopologyKeeper(), vocabularies: new Vocabularies() },
  ) {
    this.ports = new Map(ports.map((port) => [port.agent, port]));
    this.#makeCards = typeof cards === 'function' ? cards : () => cards;
  }

  get cards(): ReadonlyMap<string, Card> {
    this.#cards ??= new Map(this.#makeCards().map((card) => [card.agent, card]));
    return this.#cards;
  }

  /** Shards that exist, but never sent a card: what they hold is not known, and no answer is complete without them. */
  unknownShards(): CodedError[] {
    return [...this.ports.keys()]
      .filter((agent) => !this.cards.has(agent))
      .map((agent) => failureOf(agent, new BusError('AGENT_OFFLINE', { agent })));
  }

  /** Changes with everything that its answers come from. */
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

function versionOf(cards: readonly Card[]): string {
  const all = cards.map(({ agent, index_version }) => `${agent} ${index_version}`).sort();
  return createHash('sha256').update(all.join('\n')).digest('hex');
}
