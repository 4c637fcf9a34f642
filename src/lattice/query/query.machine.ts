import { assertEvent, assign, enqueueActions, setup, type SnapshotFrom } from 'xstate';
import type { ErrorCode } from '../../errors/catalogue.js';
import { stateName } from '../../machine/step.js';
import { nextHops, type LinkOffer } from './hop-choice.js';

/** Default limit of agents that one query visits. */
export const maxHopsDefault = 6;
/** What a link keeps of its relevance when the shard that it leaves was itself reached by a weak link. */
const inheritedShare = 0.6;
/** What a link gains over side branches when its chain begins where the last hop was led to. */
const continuationGain = 1.15;

/** Limit of further entries of one query, and the strength that they need relative to the first. */
const furtherMax = 3;
const furtherShare = 0.2;

export interface Probe {
  /** How likely the question enters in this shard; 0: nothing found. */
  strength: number;
  /** Definitions that the agent would answer with, `path:line`. */
  entries: string[];
  links: LinkOffer[];
}

export interface QueryContext {
  maxHops: number;
  /** Agents to probe, best first. */
  candidates: string[];
  probes: Record<string, Probe>;
  probesFailed: string[];
  /** In the order in which they were asked, pending ones included. */
  visited: string[];
  asking: string[];
  /** How relevant the link was that led to an agent; 1 for the entry. */
  reach: Record<string, number>;
  /** The links that were followed to an agent, the most relevant first. */
  followed: Record<string, LinkOffer[]>;
  frontier: LinkOffer[];
  /** Further possible entries, best first: used when no link led there. */
  further: string[];
  /** The deadline cut the query, or an agent on its way failed. */
  isPartial: boolean;
  reason: ErrorCode | null;
}

export type QueryEvent =
  | { type: 'shards.ranked'; agents: string[] }
  | ({ type: 'probe.answered'; agent: string } & Probe)
  | { type: 'probe.failed'; agent: string }
  | { type: 'hop.answered'; agent: string; links: LinkOffer[] }
  | { type: 'hop.failed'; agent: string }
  | { type: 'answer.composed' }
  | { type: 'deadline.reached' }
  | { type: 'cancelled' };

export type QueryEffect =
  | { type: 'shards.rank' }
  | { type: 'agent.probe'; agent: string }
  /** Enter the agent's shard at the targets of these links, the most relevant first. */
  | { type: 'agent.hop'; agent: string; links: string[] }
  | { type: 'answer.compose'; visited: string[]; isPartial: boolean };

const query = setup({
  types: {
    context: {} as QueryContext,
    input: {} as { maxHops: number },
    events: {} as QueryEvent,
    emitted: {} as QueryEffect,
  },
  guards: {
    anyCandidate: ({ event }) => {
      assertEvent(event, 'shards.ranked');
      return event.agents.length > 0;
    },
    isAskedFor: ({ context, event }) =>
      (event.type === 'probe.answered' || event.type === 'probe.failed') &&
      context.candidates.includes(event.agent) &&
      !(event.agent in context.probes) &&
      !context.probesFailed.includes(event.agent),
    isAsking: ({ context, event }) =>
      (event.type === 'hop.answered' || event.type === 'hop.failed') &&
      context.asking.includes(event.agent),
    allProbed: ({ context }) =>
      context.candidates.length > 0 &&
      Object.keys(context.probes).length + context.probesFailed.length ===
        context.candidates.length,
    isIdle: ({ context }) => context.asking.length === 0,
    mayEnterFurther: ({ context }) =>
      context.asking.length === 0 &&
      context.visited.length < context.maxHops &&
      context.further.length > 0,
  },
  actions: {
    rememberCandidates: assign({
      candidates: ({ event }) => {
        assertEvent(event, 'shards.ranked');
        return event.agents;
      },
    }),
    rememberProbe: assign({
      probes: ({ context, event }) => {
        assertEvent(event, 'probe.answered');
        return {
          ...context.probes,
          [event.agent]: { strength: event.strength, entries: event.entries, links: event.links },
        };
      },
    }),
    rememberFailedProbe: assign({
      probesFailed: ({ context, event }) => {
        assertEvent(event, 'probe.failed');
        return [...context.probesFailed, event.agent];
      },
      isPartial: true,
    }),
    enter: assign(({ context }) => entered(context)),
    enterFurther: assign(({ context }) => enteredFurther(context)),
    rememberLinks: assign(({ context, event }) => {
      assertEvent(event, 'hop.answered');
      return {
        asking: context.asking.filter((agent) => agent !== event.agent),
        frontier: [
          ...context.frontier,
          ...inherited(event.links, context.followed[event.agent] ?? []),
        ],
      };
    }),
    rememberFailedHop: assign(({ context, event }) => {
      assertEvent(event, 'hop.failed');
      return { asking: context.asking.filter((agent) => agent !== event.agent), isPartial: true };
    }),
    cut: assign(({ context }) => cutShort(context)),
    giveUp: assign({
      reason: ({ event }): ErrorCode => (event.type === 'cancelled' ? 'CANCELLED' : 'NO_SHARDS'),
    }),
    probeAll: enqueueActions(({ context, enqueue }) => {
      for (const agent of context.candidates) enqueue.emit({ type: 'agent.probe', agent });
    }),
    /** The best of the frontier first; entered again after each answer. */
    askNext: enqueueActions(({ context, enqueue }) => {
      const next = nextHops(context);
      enqueue.assign({
        asking: [...context.asking, ...next.map((each) => each.agent)],
        visited: [...context.visited, ...next.map((each) => each.agent)],
        reach: {
          ...context.reach,
          ...Object.fromEntries(
            next.map((each) => [each.agent, each.links[0]?.relevance ?? each.relevance]),
          ),
        },
        followed: {
          ...context.followed,
          ...Object.fromEntries(next.map((each) => [each.agent, each.links])),
        },
        frontier: context.frontier.filter(
          (link) => !next.some((each) => each.agent === link.agent),
        ),
      });
      for (const { agent, links } of next) {
        enqueue.emit({ type: 'agent.hop', agent, links: links.map((link) => link.id) });
      }
    }),
  },
});

const rankShards = query.emit({ type: 'shards.rank' });
const compose = query.emit(({ context }) => ({
  type: 'answer.compose',
  visited: context.visited,
  isPartial: context.isPartial,
}));

/** One question over many shards. Pure: the shell in query.ts performs the effects and reports back. */
export const queryMachine = query.createMachine({
  id: 'lattice.query',
  context: ({ input }) => ({
    maxHops: input.maxHops,
    candidates: [],
    probes: {},
    probesFailed: [],
    visited: [],
    asking: [],
    reach: {},
    followed: {},
    frontier: [],
    further: [],
    isPartial: false,
    reason: null,
  }),
  initial: 'routing',
  states: {
    routing: {
      entry: rankShards,
      on: {
        'shards.ranked': [
          { guard: 'anyCandidate', target: 'entering', actions: 'rememberCandidates' },
          { target: 'failed', actions: 'giveUp' },
        ],
        'deadline.reached': { target: 'composing', actions: 'cut' },
        cancelled: { target: 'failed', actions: 'giveUp' },
      },
    },
    entering: {
      entry: 'probeAll',
      always: { guard: 'allProbed', target: 'hopping', actions: 'enter' },
      on: {
        'probe.answered': { guard: 'isAskedFor', actions: 'rememberProbe' },
        'probe.failed': { guard: 'isAskedFor', actions: 'rememberFailedProbe' },
        'deadline.reached': { target: 'composing', actions: ['enter', 'cut'] },
        cancelled: { target: 'failed', actions: 'giveUp' },
      },
    },
    hopping: {
      entry: 'askNext',
      always: [
        { guard: 'mayEnterFurther', target: 'hopping', reenter: true, actions: 'enterFurther' },
        { guard: 'isIdle', target: 'composing' },
      ],
      on: {
        'hop.answered': {
          guard: 'isAsking',
          target: 'hopping',
          reenter: true,
          actions: 'rememberLinks',
        },
        'hop.failed': {
          guard: 'isAsking',
          target: 'hopping',
          reenter: true,
          actions: 'rememberFailedHop',
        },
        'deadline.reached': { target: 'composing', actions: 'cut' },
        cancelled: { target: 'failed', actions: 'giveUp' },
      },
    },
    composing: {
      entry: compose,
      on: { 'answer.composed': 'done', cancelled: { target: 'failed', actions: 'giveUp' } },
    },
    done: { type: 'final' },
    failed: { type: 'final' },
  },
});

/** The pending effects of a state, for the process that resumes the query. */
export function outstanding(snapshot: SnapshotFrom<typeof queryMachine>): QueryEffect[] {
  const { candidates, probes, probesFailed, asking, followed, visited, isPartial } =
    snapshot.context;
  switch (stateName(snapshot)) {
    case 'routing':
      return [{ type: 'shards.rank' }];
    case 'entering':
      return candidates
        .filter((agent) => !(agent in probes) && !probesFailed.includes(agent))
        .map((agent) => ({ type: 'agent.probe', agent }));
    case 'hopping':
      return asking.map((agent) => {
        const links = (followed[agent] ?? []).map(({ id }) => id);
        return { type: 'agent.hop', agent, links };
      });
    case 'composing':
      return [{ type: 'answer.compose', visited, isPartial }];
    default:
      return [];
  }
}

/** The strongest probe is where the question enters; its links are the first frontier. */
function entered(context: QueryContext): Partial<QueryContext> {
  const ranked = Object.entries(context.probes)
    .filter(([, each]) => each.strength > 0)
    .map(([agent, probe]) => ({ agent, probe, worth: upstream(probe, context) }))
    .sort(
      (one, other) =>
        other.worth - one.worth ||
        context.candidates.indexOf(one.agent) - context.candidates.indexOf(other.agent),
    );
  const [first] = ranked;
  if (first === undefined) return {};
  const further = ranked
    .slice(1, 1 + furtherMax)
    .filter(({ worth }) => worth >= furtherShare * first.worth)
    .map(({ agent }) => agent);
  return {
    visited: [first.agent],
    reach: { [first.agent]: 1 },
    frontier: first.probe.links,
    further,
  };
}

/** Enters at the next likely agent that no link has led to. */
function enteredFurther(context: QueryContext): Partial<QueryContext> {
  const further = context.further.filter((agent) => !context.visited.includes(agent));
  const [agent, ...rest] = further;
  const probe = context.probes[agent ?? ''];
  const [first = ''] = context.visited;
  if (agent === undefined || probe === undefined) return { further: [] };
  const share = Math.min(1, probe.strength / (context.probes[first]?.strength ?? probe.strength));
  return {
    visited: [...context.visited, agent],
    reach: { ...context.reach, [agent]: share },
    frontier: [
      ...context.frontier,
      ...probe.links.map((link) => ({ ...link, relevance: link.relevance * share })),
    ],
    further: rest,
  };
}

/** Ends waiting at the deadline; further entries have answered their probes already. */
function cutShort({ visited, further, maxHops }: QueryContext): Partial<QueryContext> {
  const known = further.filter((agent) => !visited.includes(agent));
  const shown = [...visited, ...known.slice(0, maxHops - visited.length)];
  return { isPartial: true, asking: [], visited: shown, further: [] };
}

/** The strength of an entry: a probe whose links lead to the entries of another probe gains. */
function upstream(probe: Probe, { probes }: QueryContext): number {
  const ledTo = probe.links.map((link) => {
    const other = probes[link.agent];
    return other?.entries.includes(link.target) === true ? link.relevance * other.strength : 0;
  });
  return probe.strength + Math.max(0, ...ledTo);
}

/** A link inherits part of the relevance of the link that led to its chain; the main line gains. */
export function inherited<Link extends LinkOffer>(
  links: readonly Link[],
  followed: readonly LinkOffer[],
): Link[] {
  const [main] = followed;
  return links.map((link) => {
    const before = followed.find((each) => each.id === link.continues) ?? main;
    const kept = 1 - inheritedShare + inheritedShare * (before?.relevance ?? 1);
    const gain = main !== undefined && link.continues === main.id ? continuationGain : 1;
    return { ...link, relevance: Math.min(1, link.relevance * kept * gain) };
  });
}
