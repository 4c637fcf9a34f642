import { BusError } from '../errors/bus-error.js';
import type {
  CalleesAnswer,
  CallersAnswer,
  CallSite,
  CodedError,
  Definition,
  Expansion,
} from '../pgc/shapes.js';
import { fanOut } from './asking.js';
import type { Lattice } from './query.js';
import { visibleDefinitions } from './visibility.js';

/** Every call site of a symbol, over all shards. Complete unless `errors` names a shard that failed. */
export async function callersOf(
  lattice: Lattice,
  symbol: string,
  signal?: AbortSignal,
): Promise<CallersAnswer> {
  const ports = [...lattice.ports.values()];
  const [definitions, sites] = await Promise.all([
    fanOut(ports, signal, (port) => port.definitions([symbol])),
    fanOut(ports, signal, (port) => port.callers([symbol])),
  ]);
  const callers = sorted(sites.answers.flat());
  return {
    symbol,
    definitions: sortedDefinitions(definitions.answers.flat()),
    callers,
    errors: [
      ...merged(definitions.errors, sites.errors),
      ...missing(symbol, definitions.answers.flat().length + callers.length),
    ],
  };
}

/** What all definitions of a symbol call, in the order of path and line. */
export async function calleesOf(
  lattice: Lattice,
  symbol: string,
  signal?: AbortSignal,
): Promise<CalleesAnswer> {
  const ports = [...lattice.ports.values()];
  const known = await fanOut(ports, signal, (port) => port.definitions([symbol]));
  const definitions = sortedDefinitions(known.answers.flat());
  const owners = ports.filter((port) => definitions.some((each) => each.agent === port.agent));
  const expanded = await fanOut(owners, signal, (port) =>
    port.expand([
      ...new Set(
        definitions.filter((each) => each.agent === port.agent && !each.declaration).map(anchorOf),
      ),
    ]),
  );
  const expansions = expanded.answers.flat();
  const resolved = await resolveOpen(lattice, expansions, signal);
  return {
    symbol,
    definitions,
    callees: sorted(resolved.sites),
    errors: [
      ...merged(known.errors, expanded.errors, resolved.errors),
      ...missing(symbol, definitions.length),
    ],
  };
}

/** Calls that leave their shard find their definition in another one, where exactly one is visible. */
async function resolveOpen(
  lattice: Lattice,
  expansions: Expansion[],
  signal: AbortSignal | undefined,
): Promise<{ sites: CallSite[]; errors: CodedError[] }> {
  const open = expansions.flatMap((each) =>
    each.calls.filter((site) => site.definition === '' && site.kind !== 'member'),
  );
  const names = new Set(open.map((site) => site.symbol));
  const ports = [...lattice.ports.values()];
  const wanted = new Map(
    ports.map((port) => [
      port.agent,
      [...names].filter((name) => lattice.owners.get(name)?.includes(port.agent) === true),
    ]),
  );
  const asked = ports.filter((port) => (wanted.get(port.agent) ?? []).length > 0);
  const { answers, errors } = await fanOut(asked, signal, (port) =>
    port.definitions(wanted.get(port.agent) ?? []),
  );
  const found = answers.flat();
  const sites = new Map<string, CallSite>();
  for (const { calls, includes } of expansions) {
    for (const site of calls) {
      const key = `${site.file_path}:${site.line}:${site.symbol}`;
      const isOpen = site.definition === '' && site.kind !== 'member';
      const elsewhere = found.filter(
        (each) => each.symbol === site.symbol && each.agent !== site.agent,
      );
      const target = isOpen
        ? visibleDefinitions({ path: site.file_path, includes }, elsewhere)[0]
        : undefined;
      const definition =
        target === undefined ? site.definition : `${target.file_path}:${target.line}`;
      // A stand-in in a header and the real function share a site: the real one is what runs.
      if (definition !== '' || !sites.has(key)) sites.set(key, { ...site, definition });
    }
  }
  return { sites: [...sites.values()], errors };
}

function anchorOf(definition: Definition): string {
  return `${definition.file_path}#${definition.symbol}`;
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

/** A shard that failed twice is named once. */
function merged(...lists: CodedError[][]): CodedError[] {
  return [...new Map(lists.flat().map((each) => [`${each.agent} ${each.code}`, each])).values()];
}

function missing(symbol: string, found: number): CodedError[] {
  return found > 0
    ? []
    : [{ ...new BusError('NO_SUCH_SYMBOL', { symbol }).toFailure(), agent: '' }];
}
