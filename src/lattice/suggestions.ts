import { targetsOfCall } from '../pgc/bind/call-graph.js';
import { cardOf } from '../pgc/search/card/card.js';
import { firstSentence } from '../pgc/answer/said.js';
import { wordsOf } from '../pgc/format/words.js';
import { isAside } from '../pgc/search/prior.js';
import { roleIn, roleOf } from '../pgc/source/role.js';
import type { ShardIndex, SymbolRow } from '../pgc/format/shard-index.js';
import { Directory } from './topology/directory.js';

/** Size of the sample of functions that are weighed in each shard. */
const symbolsWeighedMax = 10_000;
/** A sentence of fewer words repeats the name. */
const docWordsMin = 4;
/** A longer question is not asked. */
const phraseCharsMax = 90;
/** Functions that are called from everywhere are tools, not what a code base is about. */
const filesCountedMax = 12;
/** Candidates kept of each shard. */
const candidatesPerShard = 20;
const determiners = new Set(
  'a an the its their one all any each every this that what which whether where who how both some no'.split(
    ' ',
  ),
);

interface Known {
  name: string;
  sentence: string;
  worth: number;
}

/**
 * Three questions that a newcomer would ask: how something that is documented and used in several places
 * does what it does, why one shard calls another, and who uses the next one. Fewer when there is less to ask.
 */
export function suggestQuestions(indexes: readonly ShardIndex[]): string[] {
  const known = indexes
    .flatMap((index) => wellKnown(index, indexes))
    .sort((one, other) => other.worth - one.worth || (one.name < other.name ? -1 : 1));
  const distinct = [...new Map(known.map((each) => [each.name, each])).values()];
  const first =
    distinct.find((each) => phraseOf(each.name, each.sentence) !== undefined) ?? distinct[0];
  const others = distinct.filter((each) => each !== first);
  const edge = tellingEdge(indexes);
  const second = others.find((each) => each.name !== edge?.name);
  return [
    first && howQuestion(first),
    edge && `Why does ${edge.from} call ${edge.name} of ${edge.to}?`,
    second && `Who calls ${second.name}?`,
  ].filter((each) => each !== undefined);
}

/** "How does planShards cut a tree into shards?" when the documentation begins with a verb. */
function howQuestion({ name, sentence }: Known): string {
  return `${phraseOf(name, sentence) ?? `What does ${name} do`}?`;
}

/** Undefined when the sentence does not begin with a verb, as far as its second word tells. */
function phraseOf(name: string, sentence: string): string | undefined {
  const clause = (sentence.split(/[,;:(–—]|\s-\s|\.\s/)[0] ?? '').trim();
  const [verb = '', next = '', ...rest] = clause.split(/\s+/);
  const isVerb =
    /^[A-Za-z]?[a-z]+$/.test(verb) &&
    !determiners.has(verb.toLowerCase()) &&
    determiners.has(next) &&
    rest.length > 2;
  if (!isVerb || clause.length > phraseCharsMax) return undefined;
  return `How does ${name} ${[infinitive(verb.toLowerCase()), next, ...rest].join(' ')}`;
}

/** `cuts` is `cut`, `watches` is `watch`, `carries` is `carry`; an imperative stays. */
function infinitive(verb: string): string {
  if (/[^s]ies$/.test(verb)) return verb.replace(/ies$/, 'y');
  if (/(?:s|x|z|ch|sh|o)es$/.test(verb) && !/(?:[aeiou]se|ose)s$/.test(verb))
    return verb.replace(/es$/, '');
  return /[^s]s$/.test(verb) ? verb.slice(0, -1) : verb;
}

/** Documented functions with a name of their own that several files call, the most used first. */
function wellKnown(index: ShardIndex, indexes: readonly ShardIndex[]): Known[] {
  const found: Known[] = [];
  const stride = Math.max(1, Math.ceil(index.symbolCount / symbolsWeighedMax));
  for (let symbol = 0; symbol < index.symbolCount; symbol += stride) {
    const row = index.symbol(symbol);
    if (!isTelling(index, row)) continue;
    // A name with several definitions has call sites that belong to the others.
    if (indexes.reduce((sum, each) => sum + definitionsNamed(each, row.name), 0) > 1) continue;
    const files = new Set(indexes.flatMap((each) => callingFiles(each, row.name)));
    if (files.size < 2) continue;
    const sentence = firstSentence(row.doc, row.name);
    const worth = useOf(files.size) * (row.exported ? 1 : 0.5) * clarityOf(row.name, sentence);
    found.push({ name: row.name, sentence, worth });
  }
  return found.sort((one, other) => other.worth - one.worth).slice(0, candidatesPerShard);
}

/** A function used in some places is characteristic; one used everywhere is a utility. */
function useOf(places: number): number {
  return places <= filesCountedMax ? places : filesCountedMax / 4;
}

/** Documentation that says what is done makes a better question, and so does a longer one. */
function clarityOf(name: string, sentence: string): number {
  const words = Math.min(12, sentence.split(/\s+/).length);
  return (phraseOf(name, sentence) === undefined ? 1 : 2) * Math.sqrt(words);
}

function isTelling(index: ShardIndex, row: SymbolRow): boolean {
  const isCallable = row.kind === 'function' || row.kind === 'method';
  if (
    !isCallable ||
    row.declaration ||
    row.doc === '' ||
    isAside(roleIn(index.info, index.file(row.file).path))
  )
    return false;
  if (firstSentence(row.doc, row.name).split(/\s+/).length < docWordsMin) return false;
  // Names of one word are everywhere and mean something else everywhere.
  return wordsOf(row.name).length > 2 && !/^[#_]|^[A-Z0-9_]+$/.test(row.name);
}

function definitionsNamed(index: ShardIndex, name: string): number {
  return index.symbolsNamed(name).filter((each) => !index.symbol(each).declaration).length;
}

/** Files whose calls of the name lead to a definition, here or elsewhere; tests do not count. */
function callingFiles(index: ShardIndex, name: string): string[] {
  const files = new Set<string>();
  for (const call of index.callsTo(name)) {
    if (files.size > filesCountedMax) break;
    const { inside, lookups } = targetsOfCall(index, call);
    const { path } = index.file(call.file);
    if (inside.length + lookups.length > 0 && !isAside(roleIn(index.info, path))) files.add(path);
  }
  return [...files];
}

/** The name that one shard calls most among those that another one surely defines and explains. */
function tellingEdge(
  indexes: readonly ShardIndex[],
): { from: string; to: string; name: string } | undefined {
  const cards = indexes.map((index) => cardOf(index));
  const directory = new Directory(cards);
  let best: { from: string; to: string; name: string; worth: number } | undefined;
  for (const card of cards) {
    for (const reference of card.unresolved) {
      const { term: name, documents } = reference;
      const agents = directory.findOpen(reference, card.agent);
      const [agent] = agents;
      if (agents.length !== 1 || agent === card.agent) continue;
      const target = indexes.find((index) => index.info.agent === agent);
      if (target === undefined || isRest(card.scope)) continue;
      const rows = target.symbolsNamed(name).map((each) => target.symbol(each));
      const row = rows.find((each) => isTelling(target, each));
      if (row === undefined) continue;
      const clarity = clarityOf(row.name, firstSentence(row.doc, row.name));
      const worth = useOf(documents) * clarity;
      if (worth <= (best?.worth ?? 0)) continue;
      best = { from: card.alias, to: target.info.alias, name, worth };
    }
  }
  return best;
}

/** A shard of tests or leftovers says little about the code base. */
function isRest(scope: readonly string[]): boolean {
  return scope.some((each) => each === '.' || each === '' || isAside(roleOf(`${each}/any`)));
}
