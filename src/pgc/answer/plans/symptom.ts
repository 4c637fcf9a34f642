import { targetsOfCall } from '../../bind/call-graph.js';
import type { ShardIndex } from '../../format/shard-index.js';
import { bodyTermsOf, identifiersOf } from '../../format/words.js';
import type { Question } from '../../search/question/question.js';
import type { Found } from '../../search/search.js';
import { saidRoleAt } from '../../source/role.js';
import type { Excerpts } from '../citation.js';
import { placed } from './placing.js';

/** Fewer words in a row stand in many texts. */
const wordsMin = 3;
const fragmentsMax = 8;
/** Functions that are read for one fragment; what has its words in more of them is no message. */
const readMax = 200;
const linesMax = 600;
const holdersMax = 4;
/** Who uses a text that has a name. */
const readersMax = 3;
const quotation =
  /(?<!\w)(?:"([^"\n]{8,200})"|“([^”\n]{8,200})”|'((?:[^'\n]|'(?=\w)){8,200})'(?!\w))/g;
/** What the program fills in, or the question leaves out. */
const filledIn = /\.\.\.|…|\d+|[()[\]{}<>:;,'"`#]/;
const isData = /^(?:variable|constant|class|enum)$/;

/** Where a message is made: what holds its words as a text comes before all that merely has them. */
export function messageFirst(
  index: ShardIndex,
  excerpts: Excerpts,
  question: Question,
  found: readonly Found[],
): Found[] {
  const words = new Map<number, number>();
  for (const fragment of fragmentsOf(question.text))
    for (const symbol of holding(index, excerpts, fragment))
      words.set(symbol, (words.get(symbol) ?? 0) + fragment.length);
  const lines = (symbol: number): number => {
    const { line_start, line_end } = index.symbolPlace(symbol);
    return line_end - line_start;
  };
  const most = Math.max(0, ...words.values());
  const holders = [...words]
    .filter(([, count]) => count * 2 >= most)
    .sort(([one, a], [other, b]) => b - a || lines(one) - lines(other))
    .slice(0, holdersMax)
    .map(([symbol]) => symbol);
  const data = holders.filter((each) => isData.test(index.symbolPlace(each).kind));
  const readers = data.flatMap((each) => readersOf(index, each));
  return placed(index, found, 0, [...new Set([...holders, ...readers])]);
}

/** Words in a row that a program may have printed, in lower case. */
function fragmentsOf(text: string): string[][] {
  return [...text.matchAll(quotation)]
    .flatMap(([, double, curved, single]) => (double ?? curved ?? single ?? '').split(filledIn))
    .map(plainWords)
    .filter(({ length }) => length >= wordsMin)
    .slice(0, fragmentsMax);
}

function plainWords(text: string): string[] {
  return identifiersOf(text.toLowerCase());
}

/** The sources that have the words one behind the other, on lines with a text. */
function holding(index: ShardIndex, excerpts: Excerpts, fragment: readonly string[]): number[] {
  const sought = ` ${fragment.join(' ')} `;
  return withAll(index, [...new Set(fragment.flatMap(bodyTermsOf))]).filter((symbol) => {
    const { file, line_start, line_end } = index.symbolPlace(symbol);
    const row = index.file(file);
    if (saidRoleAt(index, file, symbol) !== '') return false;
    const lines = excerpts.lines(row, line_start, Math.min(line_end, line_start + linesMax)) ?? [];
    const texts = lines.filter((line) => /["'`]/.test(line)).join(' ');
    return ` ${plainWords(texts).join(' ')} `.includes(sought);
  });
}

/** Symbols with all of these terms; none where there are too many. */
function withAll(index: ShardIndex, terms: readonly string[]): number[] {
  const rarest = terms.toSorted(
    (one, other) => index.documentFrequency(one) - index.documentFrequency(other),
  );
  let all: Set<number> | undefined;
  for (const term of rarest) {
    const its = new Set<number>();
    index.postings(term, (document) => {
      if (document < index.symbolCount && (all?.has(document) ?? true)) its.add(document);
    });
    all = its;
    if (all.size === 0) break;
  }
  return all === undefined || all.size > readMax ? [] : [...all];
}

function readersOf(index: ShardIndex, symbol: number): number[] {
  const { name } = index.symbolPlace(symbol);
  const sites = [...index.usesOf(name), ...index.callsTo(name)].filter(
    (site) =>
      site.caller >= 0 &&
      saidRoleAt(index, site.file, site.caller) === '' &&
      targetsOfCall(index, site).inside.includes(symbol),
  );
  return [...new Set(sites.map(({ caller }) => caller))].slice(0, readersMax);
}
