import type { Clock } from '../../base/clock.js';
import { BusError } from '../../errors/bus-error.js';
import type { CallSite, CodedError, ShardPort, Step, TraceAnswer } from '../../pgc/shapes.js';
import { mayCallStandIns, withoutStandIns } from '../../pgc/bind/visibility.js';
import { hasRole } from '../../pgc/source/role.js';
import { fanOut, merged } from '../fan-out.js';
import { missing } from './call-sites.js';
import { namesOf, nodeAt, nodeOf, referenceTo, stepOf, type Node } from './call-node.js';
import { FarDefinitions, farUseOf } from '../topology/far-definitions.js';
import type { Lattice } from '../lattice.js';

/** Functions that one search may look at; beyond it the answer says that it gave up. */
export const traceNodesMax = 50_000;
/** The same where a call that nothing proves is looked for: such a chain says little, so it may cost little. */
export const doubtfulNodesMax = 5_000;
/** Anchors in one request to a shard. */
const batchMax = 2_000;
/** Calls away from the start. */
const depthMax = 24;
/**
 * Estimated cost of a step in calls that are read: a function calls some eight others, but may have ten thousand callers. These values stand for unknown numbers, and for callers in the same shard.
 */
const usualCallees = 8;
const usualCallers = 128;
const callersAtHome = 8;

export interface TraceLimits {
  clock: Clock;
  signal?: AbortSignal | undefined;
  /** Only through functions in files of these; empty: any. */
  roles?: readonly string[] | undefined;
  nodesMax?: number;
  doubtfulNodesMax?: number;
}

/** How a node was reached: from the start (`before` calls it) or towards the goal (it calls `before`). */
interface Reached {
  node: Node;
  before: Reached | undefined;
  /** `path:line` of the call between the two. */
  callSite: string;
  certainty: Step['certainty'];
}

/** A call of which nothing proves where it leads. */
interface OpenCall {
  site: CallSite;
  before: Reached;
  /** Where it may lead; undefined: only the name is known. */
  to?: Node;
}

/**
 * The shortest path of calls from one symbol to another over all shards. Searches from both ends, a level at a time, always
 * where the next one costs less: I. Pohl, "Bi-directional search", 1971. A level costs at most one request per shard, and
 * none to a shard whose card rules it out. Where no chain is proven, one call in it may be one that nothing proves; it is marked. Names are `name`, `path#name` or `path:name`; when a name has several
 * definitions, all are tried.
 */
export async function trace(
  lattice: Lattice,
  from: string,
  to: string,
  limits: TraceLimits,
): Promise<TraceAnswer> {
  const startedMs = limits.clock.monotonicMs();
  const search = new TraceSearch(lattice, limits);
  const path = await search.run(from, to);
  return {
    found: path !== undefined,
    path: path ?? [],
    errors: search.errors(),
    agents_asked: search.asked.size,
    elapsed_ms: Math.round((limits.clock.monotonicMs() - startedMs) * 100) / 100,
  };
}

class TraceSearch {
  readonly asked = new Set<string>();
  readonly #errors: CodedError[] = [];
  readonly #forward = new Map<string, Reached>();
  readonly #backward = new Map<string, Reached>();
  /** The first one of all that may mean the same: its chain is the shortest. */
  readonly #open = new Map<string, OpenCall>();
  readonly #far: FarDefinitions;
  readonly #nodesMax: number;
  readonly #doubtfulMax: number;

  constructor(
    readonly lattice: Lattice,
    readonly limits: TraceLimits,
  ) {
    this.#nodesMax = limits.nodesMax ?? traceNodesMax;
    this.#doubtfulMax = limits.doubtfulNodesMax ?? doubtfulNodesMax;
    this.#far = new FarDefinitions(lattice.ports, lattice.directory, limits.signal, this.asked);
  }

  /** A shard that failed at every step is named once. */
  errors(): CodedError[] {
    return merged(this.#errors, this.#far.errors);
  }

  async run(from: string, to: string): Promise<Step[] | undefined> {
    const [starts, goals] = await Promise.all([this.#named(from), this.#named(to)]);
    // Whether there is such a symbol is known only when every shard has answered.
    const unknown =
      this.#errors.length > 0
        ? []
        : [
            ...(await missing(this.lattice, from, starts.length, this.limits.signal)),
            ...(await missing(this.lattice, to, goals.length, this.limits.signal)),
          ];
    this.#errors.push(...unknown);
    if (starts.length === 0 || goals.length === 0) return undefined;
    let ahead = starts.map(endOf);
    let behind = goals.map(endOf);
    for (const each of ahead) this.#forward.set(each.node.anchor, each);
    for (const each of behind) this.#backward.set(each.node.anchor, each);
    let meeting = this.#meeting(ahead);
    for (
      let depth = 0;
      meeting === undefined && ahead.length > 0 && behind.length > 0;
      depth += 1
    ) {
      if (depth >= depthMax || this.#forward.size + this.#backward.size > this.#nodesMax) {
        return this.#cut(from, to, this.#nodesMax);
      }
      if (this.#isForwardCheaper(ahead, behind)) {
        ahead = await this.#advance(ahead);
        meeting = this.#meeting(ahead);
      } else {
        behind = await this.#retreat(behind);
        meeting = this.#meeting(behind);
      }
    }
    if (meeting !== undefined) return this.#path(meeting);
    const { path, isCut } = await this.#doubtful(ahead, behind);
    return path === undefined && isCut ? this.#cut(from, to, this.#doubtfulMax) : path;
  }

  /** What was not looked at may hold a path: that none was found is no answer. */
  #cut(from: string, to: string, limit: number): undefined {
    const failure = new BusError('SEARCH_CUT', { from, to, limit }).toFailure();
    this.#errors.push({ ...failure, agent: '' });
  }

  /** The shortest chain with one call that nothing proves, out of all that is proven from both ends. */
  async #doubtful(
    ahead: Reached[],
    behind: Reached[],
  ): Promise<{ path: Step[] | undefined; isCut: boolean }> {
    let [forward, backward] = [ahead, behind];
    while (forward.length > 0 && this.#forward.size < this.#doubtfulMax) {
      forward = await this.#advance(forward);
      const meeting = this.#meeting(forward);
      if (meeting !== undefined) return { path: this.#path(meeting), isCut: false };
    }
    if (this.#open.size === 0) return { path: undefined, isCut: forward.length > 0 };
    while (backward.length > 0 && this.#backward.size < this.#doubtfulMax) {
      backward = await this.#retreat(backward);
      const meeting = this.#meeting(backward);
      if (meeting !== undefined) return { path: this.#path(meeting), isCut: false };
    }
    const isCut = forward.length + backward.length > 0;
    const named = new Map<string, Reached[]>();
    for (const each of this.#backward.values()) {
      const known = named.get(each.node.calledAs);
      if (known === undefined) named.set(each.node.calledAs, [each]);
      else known.push(each);
    }
    let best: { call: OpenCall; to: Reached; length: number } | undefined;
    for (const call of this.#open.values())
      for (const to of this.#meant(call, named)) {
        const length = stepsTo(call.before) + stepsTo(to);
        if (length < (best?.length ?? Infinity)) best = { call, to, length };
      }
    if (best === undefined) return { path: undefined, isCut };
    const { site, before } = best.call;
    const callSite = `${site.file_path}:${site.line}`;
    const found: Reached = { node: best.to.node, before, callSite, certainty: 'possible' };
    return { path: [...wayTo(found), ...wayOn(best.to)], isCut };
  }

  /** Where the way to the goal goes on after a call. */
  #meant({ site, to }: OpenCall, named: ReadonlyMap<string, Reached[]>): Reached[] {
    if (to === undefined)
      return (named.get(site.symbol) ?? []).filter(({ node }) => mayMean(site, node));
    const known = this.#backward.get(to.anchor);
    return known === undefined ? [] : [known];
  }

  #isForwardCheaper(ahead: readonly Reached[], behind: readonly Reached[]): boolean {
    const { directory } = this.lattice;
    const names = new Set(behind.map(({ node }) => node.calledAs));
    let callers = 0;
    for (const name of names) {
      const sites = directory.knownSitesOf(name);
      callers += sites === undefined ? usualCallers : sites + callersAtHome;
    }
    return ahead.length * usualCallees <= callers;
  }

  #meeting(level: readonly Reached[]): string | undefined {
    return level
      .map((each) => each.node.anchor)
      .find((anchor) => this.#forward.has(anchor) && this.#backward.has(anchor));
  }

  /** All functions that the level calls. */
  async #advance(level: readonly Reached[]): Promise<Reached[]> {
    const byAnchor = new Map(level.map((each) => [each.node.anchor, each]));
    const expansions = await this.#ask(level, (port, anchors, signal) =>
      port.expand(anchors, signal),
    );
    const calls = expansions.flatMap((each) =>
      each.calls.map((site) => ({
        site,
        includes: each.includes,
        before: byAnchor.get(each.anchor),
      })),
    );
    await this.#far.learn(calls.flatMap(({ site, includes }) => farUseOf(site, includes) ?? []));
    const real = this.#reallyElsewhere(calls);
    const next: Reached[] = [];
    for (const { site, includes, before } of calls) {
      if (before === undefined) continue;
      const targets = this.#targets(site, includes, real);
      const { certainty } = site;
      if (targets.length === 0 && certainty === 'possible') this.#note({ site, before });
      for (const node of targets) {
        if (isDoubtful(site)) {
          this.#note({ site, before, to: node });
          continue;
        }
        if (this.#forward.has(node.anchor) || !hasRole(node, this.limits.roles)) continue;
        const reached = { node, before, callSite: `${site.file_path}:${site.line}`, certainty };
        this.#forward.set(node.anchor, reached);
        next.push(reached);
      }
    }
    return next;
  }

  #note(call: OpenCall): void {
    const meaning = call.to?.anchor ?? meaningOf(call.site);
    if (!this.#open.has(meaning)) this.#open.set(meaning, call);
  }

  /** All functions that call the level. A site counts when its own shard says that it may mean the goal. */
  async #retreat(level: readonly Reached[]): Promise<Reached[]> {
    const wanted = this.#callersWanted(level);
    const ports = this.#ports().filter((port) => wanted.has(port.agent));
    const { signal } = this.limits;
    const { answers, errors } = await fanOut(ports, signal, (port) =>
      inBatches(wanted.get(port.agent) ?? [], (batch) => port.callers(batch, signal)),
    );
    this.#errors.push(...errors);
    const callers = new Map<string, Node>();
    for (const site of answers.flat()) {
      if (site.definition === '' || site.certainty === 'possible') continue;
      if (this.#backward.has(site.definition) || !hasRole(site, this.limits.roles)) continue;
      callers.set(site.definition, nodeAt(site));
    }
    return this.#confirm(level, [...callers.values()]);
  }

  /**
   * By agent, whose callers it is asked for: all of its own shard, and those of other shards whose names its card lists as
   * open. In C a name: what it means is known after the includes were looked at.
   */
  #callersWanted(level: readonly Reached[]): Map<string, string[]> {
    const all = new Set(level.map((each) => each.node.calledAs));
    const called = this.lattice.directory.whoCalls(all);
    const wanted = new Map<string, string[]>();
    for (const { agent } of this.#ports()) {
      const own = level.flatMap(({ node }) => (node.agent === agent ? [node.calledAs] : []));
      const some = new Set([...own, ...(called(agent) ?? all)]);
      const symbols = level
        .filter(({ node }) => some.has(node.calledAs))
        .map(({ node }) => (mayCallStandIns(node.path) ? node.calledAs : referenceTo(node)));
      if (symbols.length > 0) wanted.set(agent, [...new Set(symbols)]);
    }
    return wanted;
  }

  /** Reads the callers' own calls: which definition a name means is known on that side only. */
  async #confirm(level: readonly Reached[], callers: Node[]): Promise<Reached[]> {
    const goals = new Map(level.map((each) => [each.node.anchor, each]));
    const byAnchor = new Map(callers.map((node) => [node.anchor, node]));
    const candidates = callers.map(endOf);
    const expansions = await this.#ask(candidates, (port, anchors, signal) =>
      port.expand(anchors, signal),
    );
    const names = new Set(level.map((each) => each.node.calledAs));
    const sites = expansions.flatMap((each) =>
      each.calls
        .filter((site) => !isDoubtful(site) && namesOf(site).some((name) => names.has(name)))
        .map((site) => ({ site, includes: each.includes, caller: byAnchor.get(each.anchor) })),
    );
    await this.#far.learn(sites.flatMap(({ site, includes }) => farUseOf(site, includes) ?? []));
    const real = this.#reallyElsewhere(sites);
    const next: Reached[] = [];
    for (const { site, includes, caller } of sites) {
      if (caller === undefined || this.#backward.has(caller.anchor)) continue;
      const goal = this.#targets(site, includes, real)
        .map((each) => goals.get(each.anchor))
        .find(Boolean);
      if (goal === undefined) continue;
      const callSite = `${site.file_path}:${site.line}`;
      const reached = { node: caller, before: goal, callSite, certainty: site.certainty };
      this.#backward.set(caller.anchor, reached);
      next.push(reached);
    }
    return next;
  }

  /** Calls that reach a stand-in of their own shard and, once more, the real definition in another one. */
  #reallyElsewhere(calls: readonly { site: CallSite; includes: string[] }[]): Set<string> {
    const found = new Set<string>();
    for (const { site, includes } of calls) {
      const use = farUseOf(site, includes);
      if (use !== undefined && mayCallStandIns(site.file_path) && this.#far.of(use).length > 0)
        found.add(callOf(site));
    }
    return found;
  }

  #targets(site: CallSite, includes: string[], real: ReadonlySet<string>): Node[] {
    if (site.definition !== '') return real.has(callOf(site)) ? [] : [nodeAt(site)];
    const use = farUseOf(site, includes);
    return use === undefined ? [] : this.#far.of(use).map(nodeOf);
  }

  async #ask<T>(
    level: readonly Reached[],
    request: (port: ShardPort, anchors: string[], signal: AbortSignal | undefined) => Promise<T[]>,
  ): Promise<T[]> {
    const byAgent = new Map<string, string[]>();
    for (const { node } of level) {
      const anchors = byAgent.get(node.agent);
      if (anchors === undefined) byAgent.set(node.agent, [node.anchor]);
      else anchors.push(node.anchor);
    }
    const ports = this.#ports().filter((port) => byAgent.has(port.agent));
    for (const port of ports) this.asked.add(port.agent);
    const { signal } = this.limits;
    const { answers, errors } = await fanOut(ports, signal, async (port) =>
      inBatches(byAgent.get(port.agent) ?? [], (batch) => request(port, batch, signal)),
    );
    this.#errors.push(...errors);
    return answers.flat();
  }

  async #named(symbol: string): Promise<Node[]> {
    const ports = this.#ports();
    for (const port of ports) this.asked.add(port.agent);
    const { signal } = this.limits;
    const { answers, errors } = await fanOut(ports, signal, (port) =>
      port.definitions([symbol], signal),
    );
    this.#errors.push(...errors);
    const all = answers.flat();
    const found = withoutStandIns(all, all).filter((each) => !each.declaration);
    return [...new Map(found.map(nodeOf).map((each) => [each.anchor, each])).values()];
  }

  #ports(): ShardPort[] {
    return [...this.lattice.ports.values()];
  }

  #path(meeting: string): Step[] {
    return [...wayTo(this.#forward.get(meeting)), ...wayOn(this.#backward.get(meeting))];
  }
}

function endOf(node: Node): Reached {
  return { node, before: undefined, callSite: '', certainty: '' };
}

/** From the start, itself included. */
function wayTo(end: Reached | undefined): Step[] {
  const path: Step[] = [];
  for (let at = end; at !== undefined; at = at.before)
    path.unshift(stepOf(at.node, at.callSite, at.certainty));
  return path;
}

/** To the goal, without itself. */
function wayOn(start: Reached | undefined): Step[] {
  const path: Step[] = [];
  for (let at = start; at?.before !== undefined; at = at.before)
    path.push(stepOf(at.before.node, at.callSite, at.certainty));
  return path;
}

function stepsTo(end: Reached): number {
  let steps = 0;
  for (let at = end.before; at !== undefined; at = at.before) steps += 1;
  return steps;
}

const textOfC = /\.[ch]$/;

/** In C, what a name means under another condition of the build is as real. */
function isDoubtful({ certainty, file_path }: CallSite): boolean {
  return certainty === 'possible' && !textOfC.test(file_path);
}

/** Whether a name says so: a function may be held by a member, but no method is called by its name alone. */
function mayMean({ kind, file_path }: CallSite, { container }: Node): boolean {
  if (kind !== 'member') return container === '';
  // In C the name of a member does not say which function it holds.
  return container !== '' || !mayCallStandIns(file_path);
}

/** Calls for which `mayMean` says the same of each definition of their name. */
function meaningOf({ symbol, kind, file_path }: CallSite): string {
  return `${symbol} ${kind === 'member'} ${mayCallStandIns(file_path)}`;
}

function callOf({ file_path, line, symbol }: CallSite): string {
  return `${file_path}:${line}:${symbol}`;
}

async function inBatches<T, R>(items: T[], request: (batch: T[]) => Promise<R[]>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += batchMax)
    results.push(...(await request(items.slice(at, at + batchMax))));
  return results;
}
