import { expect, test } from 'vitest';
import { renderDot, renderTopology, selected } from '../../../src/render/topology.js';

const topology = {
  version: 'v',
  shards: ['a', 'b"\\', 'c'],
  edges: [
    { from: 'a', to: 'b"\\', references: 9, symbols: ['f'] },
    { from: 'b"\\', to: 'a', references: 2, symbols: ['g'] },
    { from: 'c', to: 'a', references: 1, symbols: ['g'] },
  ],
  nodes: [
    { agent: 'a', files: 1, lines: 100 },
    { agent: 'b"\\', files: 1, lines: 4 },
    { agent: 'c', files: 1, lines: 0 },
  ],
  truncated: false,
};

test('a drawing holds every node and edge, with names that break no quotes', () => {
  const dot = renderDot(topology);
  expect(dot).toContain('"a" -> "b\\"\\\\" [label="9", weight=9');
  expect(dot).toContain('"b\\"\\\\" -> "a"');
  expect(dot).toContain('"a" [label="a\\n100 lines", width=4.00]');
  expect(dot.match(/"/g)!.length % 2).toBe(0);
});

test('of one agent there is who it needs and who needs it', () => {
  const text = renderTopology(selected(topology, 'a', 1), 'a');
  expect(text).toContain('a depends on 1 shards');
  expect(text).toContain('2 shards depend on a');
  expect(selected(topology, 'c', 1).shards).toEqual(['a', 'c']);
});

test('weak edges are left out, and an agent that is none is told', () => {
  expect(selected(topology, undefined, 2).edges).toHaveLength(2);
  expect(() => selected(topology, 'x', 1)).toThrow(
    expect.objectContaining({ code: 'UNKNOWN_AGENT' }),
  );
});
