import { fieldOf, type Field } from '../../format/fields.js';
import type { ShardIndex } from '../../format/shard-index.js';
import { conceptsIn, type Question } from '../../search/question/question.js';
import type { Weighing } from '../../search/rank/weighing.js';
import type { Found } from '../../search/search.js';
import { placed, symbolOf } from './placing.js';
import { familiesOf, lastName, type Family } from './families.js';

/** Hits that stay before the families: who chooses among the members is found by words. */
const leadMax = 2;
const familiesShown = 2;
/** Of each, with its base; the others follow all that is shown. */
const membersShown = 5;
/** What the ranking says of the members counts beside what the family says of itself. */
const voteWeight = 0.15;
const votesMax = 3;
/** Variants of a word below it are other words. */
const trustMin = 0.5;
const isType = /^(?:class|struct|interface|type|constant)$/;

interface Spoken {
  /** Concepts of the question in its name or its path. */
  named: ReadonlySet<number>;
  /** In its documentation. */
  told: ReadonlySet<number>;
}

interface Weighed {
  family: Family;
  score: number;
}

/**
 * Which ways of doing something there are: the family that the question speaks of, as a whole. By the words of what the members
 * implement, by those that several members share, and by how many of them were found.
 */
export function implementationsFirst(
  index: ShardIndex,
  question: Question,
  weighing: Weighing,
  found: readonly Found[],
): Found[] {
  const votes = new Votes(index, found);
  const families = weighed(index, question, weighing, votes);
  const lead = found.slice(0, leadMax);
  const shown = new Set(lead.flatMap((each) => symbolOf(each) ?? []));
  const chosen: number[] = [];
  const sorts = new Set<string>();
  for (const { family } of families) {
    if (sorts.size === familiesShown) break;
    // A base has the members of its methods once more.
    const again = family.members.filter((each) => shown.has(each)).length;
    if (sorts.has(family.sort) || again * 2 > family.members.length) continue;
    sorts.add(family.sort);
    const members = (family.methods ?? family.members).toSorted(
      (one, other) => votes.of(other) - votes.of(one),
    );
    for (const each of [...family.bases.slice(0, 1), ...members.slice(0, membersShown)]) {
      if (!shown.has(each)) chosen.push(each);
      shown.add(each);
    }
    for (const each of family.members) shown.add(each);
  }
  return placed(index, found, lead.length, chosen);
}

function weighed(
  index: ShardIndex,
  question: Question,
  { masses, total }: Weighing,
  votes: Votes,
): Weighed[] {
  const spoken = spokenIn(index, question);
  const sum = (concepts: Iterable<number>): number =>
    [...new Set(concepts)].reduce((all, at) => all + (masses[at] ?? 0), 0) / (total || 1);
  const scoreOf = ({ name, speaking, members }: Family): number => {
    const its = speaking.map((each) => spoken.get(each));
    const named = [
      ...(speaking.length === 0 && name !== '' ? conceptsIn(question, name).keys() : []),
      ...its.flatMap((each) => [...(each?.named ?? [])]),
    ];
    const told = [...named, ...its.flatMap((each) => [...(each?.told ?? [])])];
    const counts = new Map<number, number>();
    for (const member of members) {
      const each = spoken.get(member);
      for (const at of new Set([...(each?.named ?? []), ...(each?.told ?? [])]))
        counts.set(at, (counts.get(at) ?? 0) + 1);
    }
    const shared = [...counts].filter(([, count]) => count > 1).map(([at]) => at);
    const words = sum(named) + 0.5 * sum(told) + 0.7 * sum(shared) + 0.5 * sum(counts.keys());
    const found = Math.max(0, ...speaking.map((each) => votes.of(each)));
    const best = members.map((each) => votes.of(each)).sort((one, other) => other - one);
    const vote = best.slice(0, votesMax).reduce((all, each) => all + each, found);
    return (words + voteWeight * vote) / Math.sqrt(Math.log2(2 + members.length));
  };
  return familiesOf(index)
    .map((family) => ({ family, score: scoreOf(family) }))
    .sort((one, other) => other.score - one.score);
}

/** What each symbol has of the question, from the lists of its words. */
function spokenIn(index: ShardIndex, question: Question): Map<number, Spoken> {
  const { name, path, doc } = fieldOf;
  const found = new Map<number, { named: Set<number>; told: Set<number> }>();
  question.concepts.forEach(({ variants }, at) => {
    for (const { term, trust } of variants) {
      if (trust <= trustMin) continue;
      index.postings(term, (document: number, field: Field) => {
        if (document >= index.symbolCount) return;
        if (field !== name && field !== path && field !== doc) return;
        let its = found.get(document);
        if (its === undefined) found.set(document, (its = { named: new Set(), told: new Set() }));
        (field === doc ? its.told : its.named).add(at);
      });
    }
  });
  return found;
}

/** How well the symbols were found, as a share of the best hit; a type also by what it contains. */
class Votes {
  readonly #own = new Map<number, number>();
  readonly #inside = new Map<string, number>();

  constructor(
    readonly index: ShardIndex,
    found: readonly Found[],
  ) {
    const most = Math.max(Number.EPSILON, ...found.map(({ score }) => score));
    for (const each of found) {
      const symbol = symbolOf(each);
      if (symbol === undefined) continue;
      const share = Math.max(0, each.score / most);
      this.#own.set(symbol, share);
      const type = lastName(index.symbolPlace(symbol).container);
      this.#inside.set(type, Math.max(share, this.#inside.get(type) ?? 0));
    }
  }

  of(symbol: number): number {
    const own = this.#own.get(symbol) ?? 0;
    const { kind, name } = this.index.symbolPlace(symbol);
    return isType.test(kind) ? Math.max(own, this.#inside.get(name) ?? 0) : own;
  }
}
