import { BusError } from '../../errors/bus-error.js';
import { knownMin } from '../search/likelihood.js';
import { certaintyOf, certaintyOfCall, targetsOfCall } from '../bind/call-graph.js';
import { candidatesMax } from '../bind/visibility.js';
import type { Excerpts } from './citation.js';
import { resolveSymbol } from '../bind/definitions.js';
import { pathTo, Report, type Node, type Outgoing } from './hop-report.js';
import { callersOfEntries } from './callers-of-entries.js';
import { worthNaming } from './named.js';
import { NameMatcher } from '../search/name-matcher.js';
import { NamedFolders } from '../search/named-folders.js';
import { analyse, withHints } from '../search/question/question.js';
import { weigh } from '../search/rank/weighing.js';
import type { Found, Search } from '../search/search.js';
import type {
  CodedError,
  HopAnswer,
  HopRequest,
  Lookup,
  OverlayName,
  Reference,
  Step,
} from '../shapes.js';
import type { ShardIndex } from '../format/shard-index.js';
import type { CallTargets } from '../bind/index-cache.js';

/** Calls followed inside the shard, from where the question enters it. */
export const depthMax = 4;
export const nodesMax = 600;
export const referencesMax = 40;
/** Each call away from the entry makes it less likely that the question means this place. */
const depthDecay = 0.95;
/** What a call inside the shard keeps of its caller's strength when its name says nothing of the question. */
const unnamedShare = 0.75;
/** What a call keeps when only its surroundings speak of the question. */
const unnamedReference = 0.3;
/** Calls begin in symbols; what other overlays know of them is for `ask`. */
const symbolsOnly: ReadonlySet<OverlayName> = new Set(['O1']);
/** Functions that a question enters at by search; the weaker ones matter only for where they lead. */
const entriesMax = 40;
/** Definitions of one name that a hop enters at. */
const definitionsEntered = 3;
const referencesCited = 4;
/** Functions that are named before the calls that lead on: a lattice may have room for the first of both. */
const namedFirst = 4;
/** References below this share of the best one's relevance are offered, but not described. */
const tellingReference = 0.3;
/** Nor are those that hardly anything speaks for. */
const tellingReferenceMin = 0.1;

/**
 * What the question still needs from other shards after it entered this one: where its words lead, or at
 * symbols that another shard refers to. Those have no similarity of their own: who followed the reference knows
 * how far it can be trusted.
 */
export async function hop(
  { index, search }: { index: ShardIndex; search: Search },
  excerpts: Excerpts,
  request: HopRequest,
): Promise<Omit<HopAnswer, 'elapsed_ms'>> {
  const question = withHints(analyse(request.question), request.query_hints ?? []);
  const errors: CodedError[] = [];
  const isLed = request.symbols.length > 0;
  const {
    found: hits,
    gaps,
    likelihood = 0,
  } = isLed ? { found: [], gaps: [] } : await search.find(question, symbolsOnly, entriesMax);
  // Found by words alone is another answer than what the model would have chosen.
  errors.push(...gaps.map((gap) => failure(index, gap)));
  const entries = isLed
    ? entered(index, request.symbols, errors)
    : found(index, new NamedFolders(index, question), hits);
  if (entries.length === 0) {
    if (errors.length === gaps.length) errors.push(failure(index, new BusError('NOT_FOUND')));
    const { version: index_version } = index.info;
    return { evidence: [], flow: [], references: [], errors, index_version, likelihood: 0 };
  }
  const matcher = new NameMatcher(index, question);
  const callers = isLed ? [] : callersOfEntries(index, matcher, entries);
  const nodes = walk(index, matcher, [...entries, ...callers]);
  const wanted = Math.max(0, Math.min(referencesMax, request.references_max || 20));
  const outgoing = written(index, excerpts, leaving(index, matcher, nodes), wanted);
  const similarities = similaritiesOf(hits);
  const { masses } = weigh([index], question);
  const report = new Report(index, excerpts, similarities, { question, masses });
  const named = worthNaming(index, matcher, nodes);
  for (const node of named.slice(0, namedFirst)) report.named(node);
  const references = outgoing.map((each) => referenceOf(index, each));
  const strongest = outgoing[0]?.relevance ?? 0;
  for (const each of outgoing.slice(0, referencesCited)) {
    if (each.relevance >= Math.max(tellingReferenceMin, tellingReference * strongest))
      report.reference(each);
  }
  for (const node of named.slice(namedFirst)) report.named(node);
  return {
    evidence: report.evidence,
    flow: report.flow,
    references,
    errors,
    index_version: index.info.version,
    likelihood,
  };
}

function similaritiesOf(hits: readonly Found[]): Map<number, number> {
  return new Map(
    hits.flatMap((hit) =>
      hit.kind === 'symbol' && hit.symbol !== undefined ? [[hit.symbol, hit.similarity]] : [],
    ),
  );
}

function found(index: ShardIndex, folders: NamedFolders, hits: readonly Found[]): Node[] {
  const best = Math.max(0, hits[0]?.score ?? 0);
  // How likely a way that begins here leads anywhere, the whole answer says.
  if (!hits.some(({ known, exact }) => known >= knownMin || exact > 0)) return [];
  const symbols = hits.flatMap((hit) =>
    hit.kind === 'symbol' && hit.symbol !== undefined ? [{ ...hit, symbol: hit.symbol }] : [],
  );
  const functions = symbols.filter(({ symbol }) => isCallable(index, symbol));
  return (functions.length > 0 ? functions : symbols)
    .map(({ symbol, document, file, score }) => {
      const share = folders.shareOf(document, index.file(file).path);
      // Where even the best is worth nothing, none leads.
      const worth = best > 0 ? Math.max(0, score / best) : 1;
      return entryNode(symbol, share * worth);
    })
    .sort((one, other) => other.strength - one.strength);
}

function isCallable(index: ShardIndex, symbol: number): boolean {
  const { kind, declaration } = index.symbol(symbol);
  return !declaration && (kind === 'function' || kind === 'method');
}

/** The caller vouches for the symbols it names: they enter at full strength. */
function entered(index: ShardIndex, symbols: string[], errors: CodedError[]): Node[] {
  return symbols.flatMap((wanted) => {
    const all = resolveSymbol(index, wanted);
    const definitions = all.filter((each) => !index.symbol(each).declaration);
    if (all.length === 0)
      errors.push(failure(index, new BusError('NO_SUCH_SYMBOL', { symbol: wanted })));
    return (definitions.length > 0 ? definitions : all)
      .slice(0, definitionsEntered)
      .map((each) => entryNode(each, 1));
  });
}

function entryNode(symbol: number, strength: number): Node {
  return { symbol, depth: 0, strength, entry: strength, parent: undefined, call: undefined };
}

/** Level by level, the strongest first; a stronger way to a function that was reached before replaces the old one. */
function walk(index: ShardIndex, matcher: NameMatcher, entries: Node[]): Node[] {
  const visited = new Map<number, Node>();
  for (const entry of entries) if (!visited.has(entry.symbol)) visited.set(entry.symbol, entry);
  let level = [...visited.values()];
  for (let depth = 1; depth <= depthMax && level.length > 0; depth += 1) {
    const next = new Map<number, Node>();
    for (const node of level) {
      for (const call of index.callsFrom(node.symbol)) {
        const targets = targetsOfCall(index, call);
        const { inside } = targets;
        if (inside.length === 0) continue;
        const share = unnamedShare + (1 - unnamedShare) * matcher.match(call.callee);
        const strength = node.strength * depthDecay * share * shareOfEach(targets);
        for (const symbol of inside) {
          const known = next.get(symbol) ?? visited.get(symbol);
          if (known === undefined || known.strength < strength)
            next.set(symbol, { symbol, depth, strength, entry: node.entry, parent: node, call });
        }
      }
    }
    level = [...next.values()]
      .sort((one, other) => other.strength - one.strength || one.symbol - other.symbol)
      .slice(0, nodesMax - visited.size);
    for (const node of level) visited.set(node.symbol, node);
  }
  return [...visited.values()];
}

function leaving(index: ShardIndex, matcher: NameMatcher, nodes: Node[]): Outgoing[] {
  const best = new Map<string, Outgoing>();
  for (const node of nodes) {
    for (const call of index.callsFrom(node.symbol)) {
      const targets = targetsOfCall(index, call);
      const lookup = leadingTo(targets, matcher);
      if (lookup === undefined) continue;
      const match = Math.max(matcher.match(call.callee), matcher.match(lookup.name));
      const share = unnamedReference + (1 - unnamedReference) * match;
      const specific = matcher.specificity(call.callee) * shareOfEach(targets);
      const relevance = node.strength * share * specific;
      const known = best.get(call.callee);
      if (known === undefined || known.relevance < relevance)
        best.set(call.callee, { node, call, relevance, lookup });
    }
  }
  return [...best.values()].sort(
    (one, other) =>
      other.relevance - one.relevance || (one.call.callee < other.call.callee ? -1 : 1),
  );
}

/** How much of a call is meant for each that it may reach. */
function shareOfEach({ inside, lookups }: CallTargets): number {
  return 1 / Math.sqrt(Math.max(1, inside.length + lookups.length));
}

/**
 * What a call leads to outside the shard. Through an interface: of what implements it, that of which the question speaks
 * most; where too many are alike, nothing tells.
 */
function leadingTo(
  { lookups, asked = lookups.length }: CallTargets,
  matcher: NameMatcher,
): Lookup | undefined {
  const implementing = lookups.slice(asked);
  if (implementing.length === 0) return lookups[0];
  const matches = implementing.map(({ path, name }) => matcher.spokenOf(`${path} ${name}`));
  const best = Math.max(...matches);
  const alike = implementing.filter((_, at) => matches[at] === best);
  return alike.length > candidatesMax ? lookups.slice(0, asked)[0] : alike[0];
}

/** The best references whose call site really holds the name, in the text that is cited. */
function written(
  index: ShardIndex,
  excerpts: Excerpts,
  outgoing: Outgoing[],
  wanted: number,
): Outgoing[] {
  const found: Outgoing[] = [];
  for (const each of outgoing) {
    if (found.length >= wanted) break;
    const { file, line, callee } = each.call;
    const [text] = excerpts.lines(index.file(file), line, line) ?? [];
    if (text?.includes(callee) === true) found.push(each);
  }
  return found;
}

function referenceOf(index: ShardIndex, { node, call, relevance, lookup }: Outgoing): Reference {
  const chain = pathTo(node).map((each): Step => {
    const row = index.symbol(each.symbol);
    return {
      symbol: row.name,
      file_path: index.file(row.file).path,
      line: row.line_start,
      agent: index.info.agent,
      call_site:
        each.call === undefined ? '' : `${index.file(each.call.file).path}:${each.call.line}`,
      certainty: each.call === undefined ? '' : certaintyOfCall(index, each.call),
    };
  });
  return {
    symbol: call.callee,
    from_symbol: index.symbol(node.symbol).name,
    from_path: index.file(call.file).path,
    from_line: call.line,
    relevance: round(relevance),
    strength: round(node.strength),
    // What the name leads to elsewhere is found out by the lattice: one definition.
    certainty: certaintyOf(targetsOfCall(index, call).binding, 1),
    chain,
    includes: index.importsOf(call.file).map((each) => each.target),
    lookup,
  };
}

function round(share: number): number {
  return Math.round(share * 1e4) / 1e4;
}

function failure(index: ShardIndex, error: BusError): CodedError {
  return { ...error.toFailure(), agent: index.info.agent };
}
