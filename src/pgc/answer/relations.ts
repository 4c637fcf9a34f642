import { callersOf, implementationsOf, implementedSymbols, sortedOut } from '../bind/call-sites.js';
import { resolveSymbol } from '../bind/definitions.js';
import type { ShardIndex } from '../format/shard-index.js';
import type { Question } from '../search/question/question.js';
import type { Found } from '../search/search.js';
import { saidRoleAt } from '../source/role.js';
import type { CallSite } from '../shapes.js';
import { callSimilarity } from './cited-calls.js';

export type SymbolHit = Extract<Found, { kind: 'symbol' }>;

/** A symbol whose users or implementations a question asks for. */
export interface AskedSymbol {
  hit: SymbolHit;
  symbol: number;
  /** Means this symbol alone. */
  reference: string;
}

/** Definitions of one name that an answer speaks of. */
const definitionsMax = 2;

/**
 * What the question names: what has the scope it gives; definitions before declarations; of which implementations are wanted, one
 * that has any. `others`: further definitions that may be meant, for the question gives a name and no scope.
 */
export function askedSymbols(
  index: ShardIndex,
  question: Question,
  found: readonly Found[],
): { asked: AskedSymbol[]; others: number } {
  const named = found.filter((each): each is NamedHit => isNamed(each));
  const [first] = named;
  if (first === undefined) return { asked: [], others: 0 };
  const scoped = new Set(question.scoped.flatMap((text) => resolveSymbol(index, text)));
  const { name } = index.symbol(first.symbol);
  const isMeant = (id: number): boolean =>
    scoped.size === 0 ? index.symbol(id).name === name : scoped.has(id);
  const ranked = named.map(({ symbol }) => symbol);
  const all = [...new Set([...ranked, ...scoped, ...index.symbolsNamed(name)])].filter(isMeant);
  const defined = all.filter((id) => !index.symbol(id).declaration);
  const asAsked = (symbol: number): AskedSymbol => {
    const its = { document: symbol, symbol, file: index.symbol(symbol).file };
    const found = named.find((each) => each.symbol === symbol) ?? { ...first, ...its };
    // What the graph says of what is named does not depend on the other words of the question.
    const hit = { ...found, similarity: Math.max(found.similarity, callSimilarity) };
    return { hit, symbol, reference: referenceOf(index, symbol) };
  };
  if (question.asks === 'implementations') {
    const replaced = implementedSymbols(index);
    // A method of an interface is nowhere more than declared.
    const symbol = all.find((id) => replaced.has(id));
    if (symbol !== undefined) return { asked: [asAsked(symbol)], others: 0 };
  }
  const meant = defined.length > 0 ? defined : all.slice(0, 1);
  return {
    asked: meant.slice(0, definitionsMax).map(asAsked),
    others: Math.max(0, meant.length - definitionsMax),
  };
}

type NamedHit = SymbolHit & { symbol: number };

function isNamed(each: Found): boolean {
  return each.kind === 'symbol' && each.exact > 0 && each.symbol !== undefined;
}

/** `path#Type.name`. */
export function referenceOf(index: ShardIndex, symbol: number): string {
  const { file, container, name } = index.symbol(symbol);
  return `${index.file(file).path}#${container === '' ? '' : `${container}.`}${name}`;
}

/** Proven calls, those of sources first and of each caller one before its second; and how many may be meant as well. */
export function callersFor(
  index: ShardIndex,
  reference: string,
): { callers: CallSite[]; possible: number } {
  const { callers, possible } = sortedOut(callersOf(index, [reference]));
  const seen = new Set<string>();
  const ranks = new Map<CallSite, number>();
  for (const site of callers) {
    const caller = `${site.file_path} ${site.container} ${site.symbol}`;
    ranks.set(site, (site.role === '' ? 0 : 2) + (seen.has(caller) ? 1 : 0));
    seen.add(caller);
  }
  const ordered = callers.toSorted((one, other) => (ranks.get(one) ?? 0) - (ranks.get(other) ?? 0));
  return { callers: ordered, possible: possible.length };
}

/** Names of the question that this shard calls and does not define, with the proven calls. */
export function callersByName(
  index: ShardIndex,
  { scoped, identifiers }: Question,
): { name: string; callers: CallSite[] }[] {
  const all = scoped.length > 0 ? scoped : identifiers;
  return all
    .filter((name) => resolveSymbol(index, name).length === 0)
    .map((name) => ({
      name: name.split(/\.|::/).at(-1) ?? name,
      callers: callersFor(index, name).callers,
    }))
    .filter(({ callers }) => callers.length > 0);
}

/** What may run, or stand, in place of a symbol; sources first. */
export function implementationsFor(index: ShardIndex, reference: string): number[] {
  const isAside = (symbol: number): number =>
    saidRoleAt(index, index.fileOf(symbol), symbol) === '' ? 0 : 1;
  return implementationsOf(index, [reference]).toSorted(
    (one, other) => isAside(one) - isAside(other),
  );
}
