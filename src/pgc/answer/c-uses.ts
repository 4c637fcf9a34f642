import { setImmediate as later } from 'node:timers/promises';
import { isTail, parseReference, placeOfSymbol, resolveSymbol } from '../bind/definitions.js';
import { headersSeen, includesOf } from '../bind/index-cache.js';
import { candidateOf, candidatesNamed } from '../bind/symbol-candidate.js';
import { isHeader } from '../bind/c-visibility.js';
import { equallyGood, seesPublic, visibleDefinitions, type Candidate } from '../bind/visibility.js';
import { isCFamily } from '../format/facts.js';
import { bodyTermsOf, wordCharsMax } from '../format/words.js';
import type { ShardIndex } from '../format/shard-index.js';
import { saidRole } from '../source/role.js';
import type { CallSite } from '../shapes.js';
import type { Excerpts } from './citation.js';
import { CText, type Occurrence } from './c-text-uses.js';

/** Files that are read before others get their turn. */
const filesAtOnce = 16;
/** Files that one question reads in a shard; each beyond may use the name, and is listed so. */
const filesReadMax = 4_000;
const typeKinds = /^(?:struct|union|enum|type)$/;

/** What is asked for. */
interface Wanted {
  name: string;
  /** Empty: any file. */
  path: string;
  /** Of this shard. */
  symbols: readonly number[];
}

/**
 * Where texts of C use a name without calling it. They are read when they are asked for: an entry for each use would be
 * the largest part of an index. The postings say which files hold the name; one that is not as it was indexed, or is not read, may use
 * it. A text of C++ may use what a header of C defines: it is read too, and nothing is certain there. `known`: sites that are listed already, by `path:line`. What is named by a word before it (`struct page`) or by a
 * `typedef` of this shard is of the kind `type`, anything else a `value`.
 */
export async function usesInC(
  index: ShardIndex,
  excerpts: Excerpts,
  references: readonly string[],
  known: ReadonlySet<string>,
  filesMax = filesReadMax,
): Promise<CallSite[]> {
  const byName = new Map<string, Wanted[]>();
  for (const each of references) {
    const wanted = wantedBy(index, each);
    if (/^[A-Za-z_]\w*$/.test(wanted.name) && !areMembers(index, wanted))
      byName.set(wanted.name, [...(byName.get(wanted.name) ?? []), wanted]);
  }
  const sites = new Map<string, CallSite>();
  let read = 0;
  for (const [name, wanted] of byName)
    for (const file of filesWith(index, name)) {
      if ((read += 1) % filesAtOnce === 0) await later();
      const readable = read <= filesMax ? excerpts : undefined;
      for (const site of usesIn(index, readable, file, name, wanted)) {
        const place = `${site.file_path}:${site.line}`;
        if (!known.has(place) && !sites.has(place)) sites.set(place, site);
      }
    }
  return [...sites.values()];
}

function wantedBy(index: ShardIndex, reference: string): Wanted {
  const [, text = reference] = /^(.+#[^/]+):[1-9]\d*$/.exec(reference) ?? [];
  const { path, name: written } = parseReference(text);
  const symbols = resolveSymbol(index, text);
  const [first] = symbols;
  const isLine = /^\d+$/.test(written);
  const name = isLine && first !== undefined ? index.symbolPlace(first).name : written;
  return { name: name.slice(name.lastIndexOf('.') + 1), path, symbols };
}

/** Members are used by the names of their structures. */
function areMembers(index: ShardIndex, { symbols }: Wanted): boolean {
  return symbols.length > 0 && symbols.every((each) => index.symbolPlace(each).kind === 'method');
}

/** Files with the rarest word of the name that may mean something of C; all where it has none, or is too long to be indexed. */
function filesWith(index: ShardIndex, name: string): number[] {
  const terms = name.length > wordCharsMax ? [] : bodyTermsOf(name);
  const [rarest] = [...terms].sort(
    (one, other) => index.documentFrequency(one) - index.documentFrequency(other),
  );
  const files = new Set<number>();
  if (rarest === undefined) for (let each = 0; each < index.fileCount; each += 1) files.add(each);
  else index.postings(rarest, (document) => void files.add(index.fileOf(document)));
  return [...files].filter((file) => isCFamily(index.file(file).language)).sort((a, b) => a - b);
}

function usesIn(
  index: ShardIndex,
  excerpts: Excerpts | undefined,
  file: number,
  name: string,
  wanted: readonly Wanted[],
): CallSite[] {
  const { path, blob, lines } = index.file(file);
  const hasTypedef = index.symbolsNamed(name).some((id) => index.outline(id).kind === 'type');
  const meaning = new Map<boolean, 'exact' | 'possible' | undefined>();
  const meant = (isTag: boolean): 'exact' | 'possible' | undefined => {
    const isType = isTag || hasTypedef;
    if (!meaning.has(isType)) meaning.set(isType, meaningIn(index, file, name, isType, wanted));
    return meaning.get(isType);
  };
  if (meant(true) === undefined && meant(false) === undefined) return [];
  const text = excerpts?.lines({ path, blob }, 1, lines);
  if (text === undefined) {
    const unread: Occurrence = { line: 1, isTag: hasTypedef, holder: undefined };
    return [siteOf(index, file, unread, { isType: hasTypedef, certainty: 'possible' })];
  }
  const symbols = index.symbolsOf(file).map((id) => ({ id, ...index.symbolPlace(id) }));
  const bound = boundLines(index, file, name);
  return new CText(text, symbols).occurrencesOf(name).flatMap((each) => {
    const certainty = meant(each.isTag);
    return certainty === undefined || bound.has(each.line)
      ? []
      : [siteOf(index, file, each, { isType: each.isTag || hasTypedef, certainty })];
  });
}

/** Of which the binder of C++ says what the name means. */
function boundLines(index: ShardIndex, file: number, name: string): Set<number> {
  if (index.file(file).language === 'c') return new Set();
  const sites = [...index.callsTo(name), ...index.usesOf(name)];
  const bound = sites.filter(
    (each) =>
      each.file === file && /^(?:exact|dispatch)$/.test(index.bound?.bindingOf(each.id) ?? ''),
  );
  return new Set(bound.map(({ line }) => line));
}

/** Whether a name in a file is what is wanted: the file's own, else one that it sees. */
function meaningIn(
  index: ShardIndex,
  file: number,
  name: string,
  isType: boolean,
  wanted: readonly Wanted[],
): 'exact' | 'possible' | undefined {
  if (index.file(file).language !== 'c') return mayBeOfC(index, file, name, wanted);
  if (wanted.some(({ path }) => path === '')) return 'exact';
  const { path } = index.file(file);
  const isOfKind = ({ kind, declaration }: Candidate): boolean =>
    !declaration && kind !== 'method' && typeKinds.test(kind) === isType;
  const here = candidatesNamed(index, name).filter(isOfKind);
  const own = here.filter((each) => each.file_path === path);
  const isNamed = (each: Candidate): boolean =>
    wanted.some((its) => isTail(each.file_path, its.path));
  const isTypedef = ({ kind }: Candidate): boolean => kind === 'type';
  // `typedef struct page page;`: one type of two kinds of names.
  const isMeant = (each: Candidate): boolean =>
    isNamed(each) ||
    (isType && here.some((its) => isNamed(its) && isTypedef(its) !== isTypedef(each)));
  if (own.length > 0) return own.some(isMeant) ? 'exact' : undefined;
  const isLinked =
    isType || here.some(isMeant) || wanted.some(({ symbols }) => symbols.length === 0);
  if (!isLinked) return undefined;
  // Definitions of other shards are known by their paths alone.
  const far = wanted
    .filter(({ symbols }) => symbols.length === 0)
    .map((its) => ({ ...unknownOf(name), file_path: its.path }));
  const isFar = (its: string): boolean => far.some(({ file_path }) => file_path === its);
  const lookup = { name, container: '', line: 0, path: '' };
  const includes = includesOf(index, file);
  const sees = headersSeen(index, file);
  const all = [...here, ...far].map((each) => ({
    ...{ ...each, kind: asSeen(each), container: '' },
    isMeant: isMeant(each),
  }));
  const use = { path, lookup, includes, sees };
  const visible = visibleDefinitions(use, all);
  if (visible.length === 0 && seesPublic(use, all)) return 'possible';
  if (!visible.some((each) => each.isMeant)) return undefined;
  // Other shards may have more structures of this name in their sources.
  const isKnown = !isType || visible.every(({ file_path: its }) => isHeader(its) || !isFar(its));
  // Which of those that are equally good is meant, conditions decide.
  const best = visible.slice(0, equallyGood(use, visible));
  return best.some((each) => each.isMeant) && isKnown ? 'exact' : 'possible';
}

/** What a text of C++ means by a name of C is not known; one of its own it means itself. */
function mayBeOfC(
  index: ShardIndex,
  file: number,
  name: string,
  wanted: readonly Wanted[],
): 'possible' | undefined {
  const isOfC = wanted.some(
    ({ symbols, path }) =>
      (symbols.length === 0 && (path === '' || /\.[ch]$/.test(path))) ||
      symbols.some((each) => index.file(index.symbolPlace(each).file).language === 'c'),
  );
  const isOwn = index
    .symbolsNamed(name)
    .some((each) => index.symbolPlace(each).file === file && !index.symbolPlace(each).declaration);
  return isOfC && !isOwn ? 'possible' : undefined;
}

function unknownOf(name: string): Candidate {
  return {
    ...{ symbol: name, kind: 'constant', file_path: '', line: 0, exported: true },
    ...{ declaration: false, container: '' },
  };
}

/**
 * The rule of visibility knows what can be called: what it says of constants holds for types. A structure of a source
 * file is known elsewhere by its tag, without what it holds; a `typedef` is not.
 */
function asSeen({ kind, file_path: path }: Candidate): string {
  return kind === 'macro' || (kind === 'type' && !isHeader(path)) ? 'macro' : 'constant';
}

function siteOf(
  index: ShardIndex,
  file: number,
  { line, holder }: Occurrence,
  { isType, certainty }: { isType: boolean; certainty: 'exact' | 'possible' },
): CallSite {
  const { path } = index.file(file);
  const caller = holder === undefined ? undefined : candidateOf(index, holder);
  return {
    ...{ symbol: caller?.symbol ?? '', file_path: path, line, agent: index.info.agent },
    ...{ kind: isType ? 'type' : 'value', lookup: null, container: caller?.container ?? '' },
    definition: holder === undefined ? '' : placeOfSymbol(index, holder),
    ...{ ignored: false, certainty, via: '', role: saidRole(index.info, path) },
  };
}
