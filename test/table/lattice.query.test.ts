import { describe, expect, test } from 'vitest';
import type { LinkOffer } from '../../src/lattice/query/hop-choice.js';
import { start, stateName, step } from '../../src/machine/step.js';
import {
  queryMachine,
  type QueryContext,
  type QueryEffect,
  type QueryEvent,
} from '../../src/lattice/query/query.machine.js';

type Snapshot = ReturnType<typeof start<typeof queryMachine>>['snapshot'];

const link = (agent: string, relevance: number, continues = '', from = 'c'): LinkOffer => ({
  id: `to ${agent}`,
  agent,
  from,
  target: `${agent}.c:1`,
  relevance,
  covers: [],
  continues,
  passes: [],
});

const probed = (agent: string, strength: number, ...links: LinkOffer[]): QueryEvent => ({
  type: 'probe.answered',
  agent,
  strength,
  entries: strength > 0 ? [`${agent}.c:1`] : [],
  links,
});

/** One of each event, as it would come in a lattice of two probed shards and two further ones. */
const events: [string, QueryEvent][] = [
  ['ranked(a, b)', { type: 'shards.ranked', agents: ['a', 'b'] }],
  ['ranked()', { type: 'shards.ranked', agents: [] }],
  ['probe a ok', probed('a', 0.9, link('c', 0.6, '', 'a'))],
  ['probe b ok', probed('b', 0)],
  ['probe a failed', { type: 'probe.failed', agent: 'a' }],
  ['probe b failed', { type: 'probe.failed', agent: 'b' }],
  ['hop c ok', { type: 'hop.answered', agent: 'c', links: [link('a', 0.9), link('d', 0.5)] }],
  ['hop c failed', { type: 'hop.failed', agent: 'c' }],
  ['hop d ok', { type: 'hop.answered', agent: 'd', links: [link('b', 0.05)] }],
  ['hop d failed', { type: 'hop.failed', agent: 'd' }],
  ['composed', { type: 'answer.composed' }],
  ['deadline', { type: 'deadline.reached' }],
  ['cancelled', { type: 'cancelled' }],
];

function label(snapshot: Snapshot): string {
  const { probes, probesFailed, visited, asking, isPartial, reason }: QueryContext =
    snapshot.context;
  const facts = [
    Object.keys(probes).length > 0 ? `probed ${Object.keys(probes).sort().join()}` : '',
    probesFailed.length > 0 ? `lost ${[...probesFailed].sort().join()}` : '',
    visited.length > 0 ? `visited ${visited.join('>')}` : '',
    asking.length > 0 ? `asking ${asking.join()}` : '',
    isPartial ? 'partial' : '',
    reason ?? '',
  ].filter(Boolean);
  return `${stateName(snapshot)}${facts.length > 0 ? ` (${facts.join('; ')})` : ''}`;
}

function told(effect: QueryEffect): string {
  switch (effect.type) {
    case 'agent.probe':
      return `probe ${effect.agent}`;
    case 'agent.hop':
      return `hop ${effect.agent}`;
    case 'answer.compose':
      return `compose${effect.isPartial ? ' partial' : ''}`;
    case 'shards.rank':
      return 'rank';
  }
}

function walk(maxHops: number): { rows: string[]; finals: Set<string> } {
  const first = start(queryMachine, { maxHops });
  const rows = [`--> ${label(first.snapshot)} / ${first.effects.map(told).join(', ')}`];
  const finals = new Set<string>();
  const known = new Map<string, Snapshot>([[label(first.snapshot), first.snapshot]]);
  for (const [name, snapshot] of known) {
    const refused: string[] = [];
    for (const [said, event] of events) {
      if (!snapshot.can(event)) {
        refused.push(said);
        continue;
      }
      const next = step(queryMachine, snapshot, event);
      const effects = next.effects.map(told).join(', ');
      rows.push(
        `${name} --${said}--> ${label(next.snapshot)}${effects === '' ? '' : ` / ${effects}`}`,
      );
      if (!known.has(label(next.snapshot))) known.set(label(next.snapshot), next.snapshot);
    }
    if (refused.length === events.length) finals.add(stateName(snapshot));
  }
  return { rows, finals };
}

test('the whole table of a lattice query is as written', async () => {
  await expect(`${walk(6).rows.join('\n')}\n`).toMatchFileSnapshot('lattice.query.txt');
});

test('only done and failed accept nothing more', () => {
  expect(walk(6).finals).toEqual(new Set(['done', 'failed']));
});

test('with a budget of one agent nothing is asked beyond the entry', () => {
  expect(walk(1).rows.filter((row) => row.includes('hop '))).toEqual([]);
});

test('no agent is visited twice, whatever order answers come in', () => {
  for (const row of walk(6).rows) {
    const visited = /visited ([^;)]+)/.exec(row.split('-->').at(-1) ?? '')?.[1]?.split('>') ?? [];
    expect(new Set(visited).size).toBe(visited.length);
  }
});

/** The hops asked for after this one answered, each with its links. */
function hopsAfter(before: QueryEvent[], last: QueryEvent): string[] {
  let { snapshot } = start(queryMachine, { maxHops: 6 });
  for (const event of before) ({ snapshot } = step(queryMachine, snapshot, event));
  return step(queryMachine, snapshot, last).effects.flatMap((effect) =>
    effect.type === 'agent.hop' ? [`${effect.agent}: ${effect.links.join(', ')}`] : [],
  );
}

const untilC: QueryEvent[] = [
  { type: 'shards.ranked', agents: ['a'] },
  probed('a', 1, link('c', 0.9, '', 'a'), link('e', 0.4, '', 'a')),
];
const answerOfC = (...links: LinkOffer[]): QueryEvent => ({
  type: 'hop.answered',
  agent: 'c',
  links,
});

test('a hop that carries on from the last one goes before a side branch of equal relevance', () => {
  expect(hopsAfter(untilC, answerOfC(link('b', 0.5), link('d', 0.5, 'to c')))).toEqual(['d: to d']);
});

test('links that are followed together begin with the one that carries on', () => {
  const main = { ...link('d', 0.4, 'to c'), id: 'main' };
  const side = { ...link('d', 0.6), id: 'side' };
  expect(hopsAfter(untilC, answerOfC(side, main))).toEqual(['d: main, side']);
});

test('of two shards the one that leads to what the other would answer with is entered', () => {
  const ranked: QueryEvent = { type: 'shards.ranked', agents: ['a', 'b'] };
  const entered = (...links: LinkOffer[]): string[] => {
    let { snapshot } = start(queryMachine, { maxHops: 6 });
    for (const event of [ranked, probed('a', 0.4), probed('b', 0.2, ...links)])
      ({ snapshot } = step(queryMachine, snapshot, event));
    return snapshot.context.visited.slice(0, 1);
  };
  expect(entered()).toEqual(['a']);
  expect(entered(link('a', 0.8, '', 'b'))).toEqual(['b']);
  expect(entered({ ...link('a', 0.8, '', 'b'), target: 'a.c:99' })).toEqual(['a']);
});

test('of two ways to one agent the one that deals with something new is told first', () => {
  const before: QueryEvent[] = [
    { type: 'shards.ranked', agents: ['a'] },
    probed(
      'a',
      1,
      { ...link('c', 0.9, '', 'a'), covers: [1, 2] },
      {
        ...link('d', 0.7, '', 'a'),
        id: 'new',
        covers: [2, 3],
      },
    ),
  ];
  const again = { ...link('d', 0.7), id: 'again', covers: [1, 2] };
  expect(hopsAfter(before, answerOfC(again))).toEqual(['d: new, again']);
});

describe('a question that may begin in several shards', () => {
  const both = (strength: number, maxHops = 6): Snapshot => {
    let { snapshot } = start(queryMachine, { maxHops });
    const probes: QueryEvent[] = [
      { type: 'shards.ranked', agents: ['a', 'b'] },
      probed('a', 1, link('c', 0.9, '', 'a')),
      probed('b', strength, link('d', 0.9, '', 'b'), link('c', 0.9, '', 'b')),
    ];
    for (const event of probes) ({ snapshot } = step(queryMachine, snapshot, event));
    return snapshot;
  };
  const answered = (snapshot: Snapshot, agent: string, ...links: LinkOffer[]): Snapshot =>
    step(queryMachine, snapshot, { type: 'hop.answered', agent, links }).snapshot;

  test('is told from the surest one first, and then from the next, which leads on as well', () => {
    const first = both(0.6);
    expect(first.context.visited).toEqual(['a', 'c']);
    const second = answered(first, 'c');
    expect(second.context.visited).toEqual(['a', 'c', 'b', 'd']);
    expect(second.context.reach).toMatchObject({ a: 1, b: 0.6 });
    expect(second.context.followed['b']).toBeUndefined();
    expect(stateName(answered(second, 'd'))).toBe('composing');
  });

  test('is told from one only when the other is much less sure', () => {
    expect(answered(both(0.15), 'c').context.visited).toEqual(['a', 'c']);
  });

  test('nobody is entered again whom a link has led to', () => {
    const led = answered(both(0.6), 'c', link('b', 0.9, '', 'c'));
    expect(led.context.visited).toEqual(['a', 'c', 'b']);
    expect(led.context.followed['b']).toHaveLength(1);
    expect(stateName(answered(led, 'b'))).toBe('composing');
  });

  test('at the deadline the other beginnings are told, which have answered already', () => {
    const cut = (maxHops: number): Snapshot =>
      step(queryMachine, both(0.6, maxHops), { type: 'deadline.reached' }).snapshot;
    expect(cut(6).context).toMatchObject({ visited: ['a', 'c', 'b'], isPartial: true });
    expect(cut(2).context.visited).toEqual(['a', 'c']);
  });

  test('the budget holds for all beginnings together', () => {
    expect(answered(both(0.6, 2), 'c').context.visited).toEqual(['a', 'c']);
  });
});
