import { BusError } from '../../errors/bus-error.js';
import {
  citationsMax,
  type CalleesAnswer,
  type CallersAnswer,
  type CallSite,
  type Citation,
  type CodedError,
  type Definition,
  type Expansion,
  type ImplementationsAnswer,
  type SourcesAnswer,
  type SourceText,
} from '../../pgc/shapes.js';
import { sortedOut } from '../../pgc/bind/call-sites.js';
import { nearness } from '../../pgc/bind/visibility.js';
import { plainName } from '../../pgc/answer/verify.js';
import { hasRole } from '../../pgc/source/role.js';
import { fanOut, merged } from '../fan-out.js';
import { FarDefinitions, farUseOf, type FarUse } from '../topology/far-definitions.js';
import type { Lattice } from '../lattice.js';

/** Of those that a scoped name may mean. */
const referencesMax = 200;
/** Definitions that are named where a scope is wrong. */
const nearMax = 3;
/** Sites that may mean a symbol in one answer. */
const possibleMax = 200;

/**
 * Every call site of a symbol, over all shards. Complete unless `errors` names a failed shard. `cite`: number of call
 * sites that are cited. `withUses`: also where it is used without being called; `isOfCallsAlone`: such uses are not even counted, for that
 * takes reading texts. `roles`: only sites in files of these.
 */
export async function callersOf(
  lattice: Lattice,
  symbol: string,
  {
    signal,
    cite = 0,
    withUses = false,
    isOfCallsAlone = false,
    roles = [],
  }: {
    signal?: AbortSignal;
    cite?: number;
    withUses?: boolean;
    isOfCallsAlone?: boolean;
    roles?: readonly string[];
  } = {},
): Promise<CallersAnswer> {
  const ports = [...lattice.ports.values()];
  const definitions = await fanOut(ports, signal, (port) => port.definitions([symbol], signal));
  const known = definitions.answers.flat();
  const sites = await fanOut(ports, signal, (port) => {
    const wanted = referencesTo(symbol, known, port.agent);
    return isOfCallsAlone ? port.callers(wanted, signal) : port.references(wanted, signal);
  });
  const anywhere = sorted(sites.answers.flat().filter((each) => fitsKind(each, known)));
  const all = anywhere.filter((each) => hasRole(each, roles));
  const isCertain = ({ certainty }: CallSite): boolean => certainty !== 'possible';
  const { callers, possible, uses_total } = withUses
    ? {
        callers: all.filter(isCertain),
        possible: all.filter((each) => !isCertain(each)),
        uses_total: 0,
      }
    : sortedOut(all);
  const cited = await citationsOf(lattice, symbol, callers, { signal, cite });
  const failed = merged(definitions.errors, sites.errors, cited.errors);
  const found = known.length + anywhere.length;
  return {
    symbol,
    definitions: sortedDefinitions(known),
    callers,
    possible: nearest(possible, known).slice(0, possibleMax),
    possible_total: possible.length,
    uses_total,
    errors: failed.length > 0 ? failed : await missing(lattice, symbol, found, signal),
    citations: cited.citations,
  };
}

/** A text of C says whether it names a type or anything else; a `typedef` of another shard may look like either. */
function fitsKind({ kind, file_path }: CallSite, definitions: readonly Definition[]): boolean {
  const isUse = (kind === 'value' || kind === 'type') && /\.[ch]$/.test(file_path);
  const kinds = definitions.flatMap((each) => (/\.[ch]$/.test(each.file_path) ? [each.kind] : []));
  if (!isUse || kinds.includes('type')) return true;
  if (kinds.length === 0) return definitions.length === 0;
  const wanted = /^(?:struct|union|enum)$/;
  return kinds.some((each) => each !== 'method' && wanted.test(each) === (kind === 'type'));
}

/** A place is known in its own shard only; the others know the definition by its path, name and line. */
function referencesTo(symbol: string, definitions: readonly Definition[], agent: string): string[] {
  const isPlain = !/[#:./]/.test(symbol);
  const isPlace = /:[1-9]\d*$/.test(symbol);
  const anchors = definitions.map((each) =>
    isPlace && each.agent === agent
      ? `${each.file_path}:${each.line}`
      : `${each.file_path}#${each.container}.${each.symbol}${isPlace ? `:${each.line}` : ''}`,
  );
  return isPlain || anchors.length === 0 ? [symbol] : [...new Set(anchors)].slice(0, referencesMax);
}

/** Those whose paths share the most folders with a definition come first. */
function nearest(sites: readonly CallSite[], definitions: readonly Definition[]): CallSite[] {
  const near = ({ file_path: path }: CallSite): number =>
    Math.max(0, ...definitions.map(({ file_path }) => nearness(path, file_path)));
  return sites
    .map((site) => ({ site, near: near(site) }))
    .sort((one, other) => other.near - one.near)
    .map(({ site }) => site);
}

/** Sites that ignore the result are cited first. */
async function citationsOf(
  lattice: Lattice,
  symbol: string,
  sites: readonly CallSite[],
  { signal, cite }: { signal: AbortSignal | undefined; cite: number },
): Promise<{ citations: Citation[]; errors: CodedError[] }> {
  const wanted = [...sites]
    .sort((one, other) => Number(other.ignored) - Number(one.ignored))
    .slice(0, Math.min(cite, citationsMax));
  const ports = [...lattice.ports.values()].filter(({ agent }) =>
    wanted.some((each) => each.agent === agent),
  );
  const cited = await fanOut(ports, signal, (port) =>
    port.citeCalls(
      plainName(symbol),
      wanted.filter(({ agent }) => agent === port.agent),
      signal,
    ),
  );
  const placeOf = ({ file_path, line_start }: Citation): number =>
    wanted.findIndex((each) => each.file_path === file_path && each.line === line_start);
  const citations = cited.answers.flat().sort((one, other) => placeOf(one) - placeOf(other));
  return { citations, errors: cited.errors };
}

interface Wanted {
  signal?: AbortSignal | undefined;
  /** Only rows in files of these; empty: any. */
  roles?: readonly string[] | undefined;
}

/** What all definitions of a symbol call, in the order of path and line. */
export async function calleesOf(
  lattice: Lattice,
  symbol: string,
  { signal, roles }: Wanted = {},
): Promise<CalleesAnswer> {
  const ports = [...lattice.ports.values()];
  const known = await fanOut(ports, signal, (port) => port.definitions([symbol], signal));
  const definitions = sortedDefinitions(known.answers.flat());
  const owners = ports.filter((port) => definitions.some((each) => each.agent === port.agent));
  const expanded = await fanOut(owners, signal, (port) =>
    port.expand(
      [
        ...new Set(
          definitions
            .filter((each) => each.agent === port.agent && !each.declaration)
            .map((each) => `${each.file_path}:${each.line}`),
        ),
      ],
      signal,
    ),
  );
  const expansions = expanded.answers.flat();
  const resolved = await resolveOpen(lattice, expansions, signal);
  const failed = merged(known.errors, expanded.errors, resolved.errors);
  return {
    symbol,
    definitions,
    callees: sorted(resolved.sites.filter((each) => hasRole(each, roles))),
    errors: failed.length > 0 ? failed : await missing(lattice, symbol, definitions.length, signal),
  };
}

/** What these symbols define, with its lines: definitions before declarations, in the order of path and line. */
export async function sourcesOf(
  lattice: Lattice,
  symbols: string[],
  signal: AbortSignal | undefined,
): Promise<SourcesAnswer> {
  const ports = [...lattice.ports.values()];
  const found = await fanOut(ports, signal, (port) => port.sources(symbols, signal));
  const all = found.answers.flat();
  const order = new Map(
    sortedDefinitions(all.map(({ definition }) => definition)).map((each, at) => [each, at]),
  );
  const placeOf = ({ definition }: SourceText): number => order.get(definition) ?? 0;
  return {
    sources: all.sort((one, other) => placeOf(one) - placeOf(other)),
    errors: merged(found.errors),
    root: lattice.root,
  };
}

/** The methods that may run in place of one, or the types that may stand for one, in the order of path and line. */
export async function implementationsOf(
  lattice: Lattice,
  symbol: string,
  { signal, roles }: Wanted = {},
): Promise<ImplementationsAnswer> {
  const ports = [...lattice.ports.values()];
  const known = await fanOut(ports, signal, (port) => port.definitions([symbol], signal));
  const definitions = sortedDefinitions(known.answers.flat());
  const found = await fanOut(ports, signal, (port) =>
    port.implementations(referencesTo(symbol, definitions, port.agent), signal),
  );
  const failed = merged(known.errors, found.errors);
  const implementations = sortedDefinitions(found.answers.flat());
  return {
    symbol,
    definitions,
    implementations: implementations.filter((each) => hasRole(each, roles)),
    errors:
      failed.length > 0
        ? failed
        : await missing(lattice, symbol, definitions.length + implementations.length, signal),
  };
}

/** Calls that leave their shard find their definition in another one, the best that is visible. */
async function resolveOpen(
  lattice: Lattice,
  expansions: Expansion[],
  signal: AbortSignal | undefined,
): Promise<{ sites: CallSite[]; errors: CodedError[] }> {
  const far = new FarDefinitions(lattice.ports, lattice.directory, signal);
  const open = expansions.flatMap(({ calls, includes }) =>
    calls.map((site): [CallSite, FarUse | undefined] => [site, farUseOf(site, includes)]),
  );
  await far.learn(open.flatMap(([, use]) => use ?? []));
  const sites = new Map<string, CallSite[]>();
  for (const [site, use] of open) {
    const [target] = use === undefined ? [] : far.of(use);
    const definition =
      target === undefined ? site.definition : `${target.file_path}:${target.line}`;
    const role = target === undefined ? site.role : target.role;
    const found = {
      ...{ ...site, symbol: target?.symbol ?? site.symbol, definition, lookup: null },
      ...(role !== undefined && { role }),
    };
    const key = `${site.file_path}:${site.line}:${found.symbol}`;
    sites.set(key, withSite(sites.get(key) ?? [], found));
  }
  return { sites: [...sites.values()].flat(), errors: far.errors };
}

const inHeader = /\.h:\d+$/;

/** A call may lead to several definitions; that none is known counts only where it leads to no other. */
function withSite(known: readonly CallSite[], site: CallSite): CallSite[] {
  if (site.definition === '' && known.length > 0) return [...known];
  const others = known.filter(
    ({ definition }) => definition !== '' && definition !== site.definition,
  );
  // In C, a stand-in in a header and the real function share a site: the real one is what runs. Elsewhere a line may call
  // several functions of one name.
  if (site.certainty === 'dispatch') return [...others, site];
  const isProven = known.some(({ certainty }) => certainty === 'exact');
  if (site.file_path.endsWith('.c') && isProven && site.certainty === 'possible') return [...known];
  if (site.file_path.endsWith('.c')) return [site];
  const isReal = site.file_path.endsWith('.h') && !inHeader.test(site.definition);
  return [
    ...(isReal ? others.filter(({ definition }) => !inHeader.test(definition)) : others),
    site,
  ];
}

function sorted(sites: CallSite[]): CallSite[] {
  return sites.sort(
    (one, other) =>
      compare(one.file_path, other.file_path) ||
      one.line - other.line ||
      compare(one.symbol, other.symbol) ||
      compare(one.definition, other.definition),
  );
}

/** Definitions first, declarations after. */
function sortedDefinitions(definitions: Definition[]): Definition[] {
  return definitions.sort(
    (one, other) =>
      Number(one.declaration) - Number(other.declaration) ||
      compare(one.file_path, other.file_path) ||
      one.line - other.line,
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/**
 * That there is no such symbol, which is known only when every shard has answered, and what bears its name in another
 * place: people write the wrong class, or the separators of another language.
 */
export async function missing(
  lattice: Lattice,
  symbol: string,
  found: number,
  signal: AbortSignal | undefined,
): Promise<CodedError[]> {
  if (found > 0) return [];
  const failure = { ...new BusError('NO_SUCH_SYMBOL', { symbol }).toFailure(), agent: '' };
  const name = symbol.split(/[#.:/]+/).at(-1) ?? '';
  if (name === symbol || name === '' || /^\d+$/.test(name)) return [failure];
  const ports = [...lattice.ports.values()];
  const { answers } = await fanOut(ports, signal, (port) => port.definitions([name], signal));
  const others = [...new Set(sortedDefinitions(answers.flat()).map(scopedReference))];
  if (others.length === 0) return [failure];
  const more = others.length > nearMax ? ` and ${others.length - nearMax} more` : '';
  const said = `${failure.text}; ${name} is ${others.slice(0, nearMax).join(', ')}${more}`;
  return [{ ...failure, text: said }];
}

function scopedReference({ file_path, container, symbol }: Definition): string {
  return `${file_path}#${container === '' ? '' : `${container}.`}${symbol}`;
}
