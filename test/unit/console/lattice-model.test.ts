import { expect, test } from 'vitest';
import {
  colourOf,
  coloursMax,
  drawnLinks,
  lineId,
  linksAlong,
  matching,
  modelOf,
  stressOf,
} from '../../../services/console/page/pages/map/lattice-model.js';
import type { TopologyAnswer } from '../../../src/pgc/shapes.js';

const topology = (
  shards: string[],
  edges: [from: string, to: string, references: number][],
): TopologyAnswer => ({
  ...{ version: 'v', shards, truncated: false },
  edges: edges.map(([from, to, references]) => ({ from, to, references, symbols: ['open'] })),
  nodes: shards.map((agent, at) => ({ agent, files: at + 1, lines: 100 * (at + 1) })),
});

const agent = (alias: string, ...scope: string[]) => ({
  ...{ id: `pgc-${alias}`, alias, scope, state: 'online' },
});

test('a shard belongs to the first folder in which the shards differ', () => {
  const model = modelOf(topology(['net', 'fs', 'ext4', 'top'], []), [
    agent('net', 'linux/net'),
    agent('fs', 'linux/fs'),
    agent('ext4', 'linux/fs/ext4'),
    agent('top', '.'),
  ]);
  const groups = new Map(model.shards.map((shard) => [shard.agent, shard.group]));
  expect(Object.fromEntries(groups)).toEqual({ net: 'net', fs: 'fs', ext4: 'fs', top: 'root' });
  expect(model.shards.map(({ lines }) => lines)).toEqual([400, 300, 200, 100]);
});

test('in which folder they differ does not depend on their order', () => {
  const scopes = ['src', 'src/a', 'src/b'];
  for (const names of [scopes, scopes.toReversed()]) {
    const { shards } = modelOf(
      topology(names, []),
      names.map((name) => agent(name, name)),
    );
    const groups = shards.map((shard) => [shard.agent, shard.group]);
    expect(Object.fromEntries(groups)).toEqual({ src: 'src', 'src/a': 'a', 'src/b': 'b' });
  }
});

test('a shard that no agent serves is there, too, and has the beginning of its name as its part', () => {
  const model = modelOf(topology(['drivers-net', 'drivers-gpu'], []), []);
  expect(model.shards.map(({ group, state }) => [group, state])).toEqual([
    ['drivers', ''],
    ['drivers', ''],
  ]);
  expect(model.groups).toEqual(['drivers']);
});

test('more parts than colours share the last colour', () => {
  const names = Array.from({ length: coloursMax + 3 }, (_, at) => `part${at}`);
  const model = modelOf(
    topology(names, []),
    names.map((name) => agent(name, name)),
  );
  const colours = model.groups.map((group) => colourOf(model, group));
  expect(Math.max(...colours)).toBe(coloursMax - 1);
  expect(new Set(colours).size).toBe(coloursMax);
});

test('a drawing has the strongest links, and none below the limit; no shard that has a link is alone', () => {
  const names = Array.from({ length: 12 }, (_, at) => `s${at}`);
  const edges = names.flatMap((from) =>
    names.flatMap((to, at): [string, string, number][] =>
      from === to || from === 's11' || to === 's11' ? [] : [[from, to, 100 + at]],
    ),
  );
  const model = modelOf(topology(names, [...edges, ['s11', 's0', 1]]), []);
  const drawn = drawnLinks(model, 1);
  expect(drawn.length).toBeLessThan(model.links.length);
  expect(drawn.some(({ from }) => from === 's11')).toBe(true);
  expect(drawnLinks(model, 105).every(({ references }) => references >= 105)).toBe(true);
});

test('a shard is found by its name and by its paths', () => {
  const model = modelOf(topology(['net', 'fs'], []), [
    agent('net', 'linux/net'),
    agent('fs', 'linux/FS'),
  ]);
  expect(matching(model, 'linux fs').map((shard) => shard.agent)).toEqual(['fs']);
  expect(matching(model, ' ')).toEqual([]);
});

test('along a path stands each link that is known', () => {
  const model = modelOf(topology(['a', 'b', 'c'], [['a', 'b', 3]]), []);
  expect(linksAlong(model, ['a', 'b', 'c']).map((link) => link?.references)).toEqual([
    3,
    undefined,
  ]);
});

const line = (from: string, to: string) => ({ id: lineId(from, to), from, to, width: 1 });

test('a shard stands out with its links, and what they lead to stays near', () => {
  const lines = [line('net', 'fs'), line('fs', 'net'), line('fs', 'mm')];
  const stress = stressOf(lines, { shards: ['net'] })!;
  expect([...stress.shards]).toEqual(['net']);
  expect([...stress.links]).toEqual([lineId('net', 'fs'), lineId('fs', 'net')]);
  expect([...stress.near]).toEqual(['net', 'fs']);
  expect(stressOf(lines, { shards: ['net', 'mm'] })!.links.size).toBe(0);
  expect(stressOf(lines, { shards: [] })).toBeUndefined();
});

test('a way stands out with its links alone, also with those that the drawing leaves out', () => {
  const steps: [string, string][] = [
    ['net', 'fs'],
    ['fs', 'fs'],
    ['fs', 'mm'],
  ];
  const shown = { shards: ['net', 'fs', 'mm'], steps };
  const { links, added } = stressOf([line('net', 'fs'), line('net', 'mm')], shown)!;
  expect([...links]).toEqual([lineId('net', 'fs'), lineId('fs', 'mm')]);
  expect(added.map(({ id }) => id)).toEqual([lineId('fs', 'mm')]);
});
