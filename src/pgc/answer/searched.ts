import { createHash } from 'node:crypto';
import { BoundedMap } from '../../base/bounded-map.js';
import { BusError } from '../../errors/bus-error.js';
import { isSentence } from '../search/question/asked-symbol.js';
import { analyse, withHints, type Question } from '../search/question/question.js';
import type { Weighing } from '../search/rank/weighing.js';
import type { Found, Search } from '../search/search.js';
import {
  citationsMax,
  overlayNames,
  type AskRequest,
  type LeftOut,
  type OverlayName,
  type WordCounts,
} from '../shapes.js';

export const topKDefault = 10;
/** Overlays that one request may name; the others are not looked at. */
export const overlaysMax = 16;
/** Hits that are looked at for each source: copies, declarations and what cannot be quoted fall away. */
export const hitsPerSource = 4;
/** Searches that are kept for who asks for the answer next. */
export const keptSearchesMax = 8;
export type KeptSearches = BoundedMap<string, Searched>;

/** What was asked for, within its limits. */
export interface Asked {
  topK: number;
  /** Overlays by name; none: all. */
  named: string[];
  warnings: string[];
  /** The same for the same request to the same index. */
  key: string;
}

/** What one shard finds for a question. */
export interface Searched {
  question: Question;
  /** Overlays that were searched. */
  wanted: ReadonlySet<OverlayName>;
  /** Of what may be shown; empty: any. */
  roles: readonly string[];
  found: Found[];
  weighing: Weighing;
  /** As of `Search.find`. */
  likelihood: number | undefined;
  /** Overlays that could not be consulted. */
  gaps: BusError[];
  errors: BusError[];
  left_out: LeftOut[];
  warnings: string[];
}

export function askedBy(request: AskRequest, version: string): Asked {
  const { question, query_hints = [], roles = [], counts } = request;
  const topK = topKOf(request);
  const wanted = [...new Set(request.overlays.map((each) => each.trim().toUpperCase()))];
  const named = wanted.slice(0, overlaysMax).sort();
  const parts = [question, named.join(), String(topK), version, roles.toSorted().join()];
  const weights = counts ? JSON.stringify(counts) : '';
  return {
    ...{ topK, named, key: digest([...parts, weights, ...query_hints]) },
    warnings:
      wanted.length > overlaysMax
        ? [`Only the first ${overlaysMax} of ${wanted.length} overlays were looked at.`]
        : [],
  };
}

export function topKOf({ top_k }: AskRequest): number {
  return Math.max(1, Math.min(citationsMax, Math.trunc(top_k) || topKDefault));
}

/** Searches, or takes what was found just now. Throws as `analyse`. */
export async function searched(
  { search, searches }: { search: Search; searches: KeptSearches },
  request: AskRequest,
  { topK, named, key }: Asked,
): Promise<Searched> {
  const kept = searches.use(key);
  if (kept !== undefined) return kept;
  const { roles = [], counts } = request;
  const question = read(request);
  const { wanted, errors } = chooseOverlays(search, named);
  const { found, weighing, likelihood, gaps } = await search.find(
    question,
    wanted,
    hitsPerSource * topK,
    roles,
    counts,
  );
  const others = gaps.filter(({ data }) => typeof data.overlay !== 'string').map(missed);
  const warnings = [...question.warnings, ...others];
  const all: Searched = {
    ...{ question, wanted, roles, found, weighing, likelihood, gaps, warnings },
    // What was not asked for by name is only missing in the warnings.
    errors: named.length > 0 ? [...errors, ...gaps] : errors,
    left_out: gaps.flatMap(({ data: { overlay }, message }) =>
      typeof overlay === 'string' ? [{ overlay, why: message }] : [],
    ),
  };
  if (gaps.length === 0) searches.set(key, all);
  return all;
}

/** All shards of a process are asked the same: it is read once. */
const lastRead = new BoundedMap<string, Question>(4);

function read({ question: text, query_hints = [] }: AskRequest): Question {
  const key = [text, ...query_hints].join('\0');
  let question = lastRead.get(key);
  if (question === undefined) {
    question = withHints(analyse(text), query_hints);
    lastRead.set(key, question);
  }
  return question;
}

/** Of the question in this shard. Throws as `analyse`. */
export async function countsOf(
  search: Search,
  request: AskRequest,
  { named }: Asked,
): Promise<WordCounts> {
  const { wanted } = chooseOverlays(search, named);
  return search.counts(read(request), wanted);
}

/**
 * Whether an answer shows what the search finds, in its order: not where the graph says more of a symbol that the question names, nor
 * where it looks for what is printed.
 */
export function isBySearch({ text, asks, intent, identifiers, messages }: Question): boolean {
  const isOfSymbol = (asks !== undefined || intent === 'usage') && isSentence(text);
  return messages.length === 0 && !(isOfSymbol && identifiers.length > 0);
}

function missed(gap: BusError): string {
  return `${String(gap.data.path)} was not consulted: ${gap.message}.`;
}

/** Without a name: all that were ever made here. */
function chooseOverlays(
  { overlays }: Search,
  named: readonly string[],
): { wanted: ReadonlySet<OverlayName>; errors: BusError[] } {
  if (named.length === 0) {
    const made = overlayNames.filter((name) => overlays.state(name) !== 'missing');
    return { wanted: new Set(made), errors: [] };
  }
  const isKnown = (name: string): name is OverlayName =>
    (overlayNames as readonly string[]).includes(name);
  return {
    wanted: new Set(named.filter(isKnown)),
    errors: named
      .filter((name) => !isKnown(name))
      .map((overlay) => new BusError('UNKNOWN_OVERLAY', { overlay })),
  };
}

export function digest(parts: string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('hex');
}
