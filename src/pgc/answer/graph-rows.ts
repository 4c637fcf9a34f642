import { calleesOf } from '../bind/call-sites.js';
import type { ShardIndex } from '../format/shard-index.js';
import { hasRole } from '../source/role.js';
import type { CallSite, Definition, Evidence, FlowEdge } from '../shapes.js';

/** Rows of the graph in the answer of one shard, and in one of all. More are counted. */
export const shardRowsMax = 100;
export const rowsMax = 500;

/** What the graph knows of a symbol, as `callers`, `callees` and `implementations` list it; no evidence shows a row yet. */
export interface GraphRows {
  /** What leads to it. */
  above: FlowEdge[];
  /** What it leads to. */
  below: FlowEdge[];
}

/** `definition`: of the callee, where one is meant. */
export function callerRow(site: CallSite, callee: string, definition: string): FlowEdge {
  return { ...rowOf(site), from: site.symbol || site.file_path, to: callee, definition };
}

export function calleeRow(site: CallSite, caller: string): FlowEdge {
  return { ...rowOf(site), from: caller, to: site.symbol, definition: site.definition };
}

function rowOf({
  file_path,
  line,
  kind,
  certainty,
  agent,
}: CallSite): Omit<FlowEdge, 'from' | 'to' | 'definition'> {
  return {
    ...{ site: `${file_path}:${line}`, agent, evidence: 0 },
    kind: kind === 'slot' ? 'slot' : 'call',
    certainty: certainty || 'exact',
  };
}

type Place = Pick<Definition, 'symbol' | 'container' | 'file_path' | 'line' | 'agent'>;

export function implementationRow(its: Place, of: string): FlowEdge {
  const { symbol, container, file_path, line, agent } = its;
  return {
    ...{ from: container === '' ? symbol : `${container}.${symbol}`, to: of },
    ...{ site: `${file_path}:${line}`, agent, evidence: 0, definition: '' },
    kind: 'implements',
    certainty: 'exact',
  };
}

/** All that a function calls, libraries as well, in the order of the text. `roles`: only what files of these define. */
export function calleeRows(
  index: ShardIndex,
  symbol: number,
  roles: readonly string[],
): FlowEdge[] {
  const { file, line_start, name } = index.symbol(symbol);
  const [expansion] = calleesOf(index, [`${index.file(file).path}:${line_start}`]);
  return (expansion?.calls ?? [])
    .filter((site) => hasRole(site, roles))
    .map((site) => calleeRow(site, name));
}

/**
 * The calls of an answer, in which these rows stand instead of what it says of their places; and how many rows there is no room for.
 * `besides`: what it says of other places stays, around them.
 */
export function withRows(
  { flow, evidence }: { flow: readonly FlowEdge[]; evidence: readonly Evidence[] },
  { above, below }: GraphRows,
  { most, besides }: { most: number; besides: boolean },
): { flow: FlowEdge[]; left: number } {
  const rows = [...above, ...below];
  const kept = [...new Map(rows.map((each) => [keyOf(each), each])).values()];
  const sites = new Set(rows.map(({ site }) => site));
  const others = besides ? flow.filter(({ site }) => !sites.has(site)) : [];
  const starts = new Set([...above.map(({ to }) => to), ...below.map(({ from }) => from)]);
  const first = flow.findIndex(({ from }) => starts.has(from));
  const before = new Set(first < 0 ? flow : flow.slice(0, first));
  const shown = kept.slice(0, most).map((row) => ({ ...row, evidence: idOf(row, evidence) }));
  return {
    flow: [
      ...others.filter((each) => before.has(each)),
      ...shown,
      ...others.filter((each) => !before.has(each)),
    ],
    left: kept.length - shown.length,
  };
}

function keyOf({ from, to, site, definition }: FlowEdge): string {
  return [from, to, site, definition].join('\0');
}

/** Of the evidence that shows a row; 0: none. */
function idOf({ site, kind }: FlowEdge, evidence: readonly Evidence[]): number {
  const at = site.lastIndexOf(':');
  const [path, line] = [site.slice(0, at), Number(site.slice(at + 1))];
  const found = evidence.find((each) =>
    kind === 'implements'
      ? each.file_path === path && each.line_start <= line && line <= each.line_end
      : siteOf(each) === site,
  );
  return found?.id ?? 0;
}

/** Of a call, or of where a function is held; empty: the evidence shows something else. */
export function siteOf({ kind, file_path, line_start }: Evidence): string {
  return kind === 'call' || kind === 'slot' ? `${file_path}:${line_start}` : '';
}
