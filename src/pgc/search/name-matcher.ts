import { siteCount } from '../bind/index-cache.js';
import { conceptsIn, type Question } from './question/question.js';
import { weigh } from './rank/weighing.js';
import type { ShardIndex } from '../format/shard-index.js';

/** Concepts of a question that one name can be expected to speak of. */
const wordsOfNameMax = 2;

/** How much of the question a name speaks of. */
export class NameMatcher {
  readonly #worth: number[];
  readonly #attainable: number;
  readonly #matches = new Map<string, number>();
  readonly #spoken = new Map<string, number>();

  constructor(
    readonly index: ShardIndex,
    readonly question: Question,
  ) {
    const { masses } = weigh([index], question);
    const reachable = question.concepts.map((concept, at) => {
      const stands = concept.variants.some(({ term }) => index.documentFrequency(term) > 0);
      return stands ? (masses[at] ?? 0) : 0;
    });
    const heaviest = Math.max(...reachable, Number.EPSILON);
    // A word that stands everywhere in a shard is what the shard is about: its names still lead on.
    this.#worth = question.concepts.map((concept, at) => {
      const mass = reachable[at] ?? 0;
      // A symbol that the question names is where it enters, not where it leads.
      return mass === 0 || concept.isName
        ? 0
        : Math.min(1, concept.weight) * (0.5 + (0.5 * mass) / heaviest);
    });
    const sorted = [...this.#worth].sort((one, other) => other - one);
    this.#attainable = sorted.slice(0, wordsOfNameMax).reduce((sum, each) => sum + each, 0);
  }

  /** 0 to 1; 1 when the name speaks of as much of the question as a name can. */
  match(name: string): number {
    const known = this.#matches.get(name);
    if (known !== undefined) return known;
    let covered = 0;
    for (const [at, trust] of conceptsIn(this.question, name))
      covered += trust * (this.#worth[at] ?? 0);
    const value = this.#attainable === 0 ? 0 : Math.min(1, covered / this.#attainable);
    this.#matches.set(name, value);
    return value;
  }

  /** How much of the question a place elsewhere speaks of, also in words that this shard lacks. */
  spokenOf(place: string): number {
    const known = this.#spoken.get(place);
    if (known !== undefined) return known;
    let covered = 0;
    for (const [at, trust] of conceptsIn(this.question, place))
      covered += trust * (this.question.concepts[at]?.weight ?? 0);
    this.#spoken.set(place, covered);
    return covered;
  }

  /** A function that is called from everywhere (printk, memcpy) explains little, unless the question names it. */
  specificity(name: string): number {
    const sites = siteCount(this.index, name);
    return (1 / (1 + 0.4 * Math.log2(1 + sites / 4))) ** (1 - this.match(name));
  }
}
