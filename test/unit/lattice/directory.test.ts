import { expect, test } from 'vitest';
import { Directory } from '../../../src/lattice/topology/directory.js';
import type { Card } from '../../../src/pgc/shapes.js';

function card(agent: string, languages: string[], defines: string[]): Card {
  const place = { agent, alias: agent, project: 'p', root: '/p', scope: [agent] };
  const counts = { files: 1, lines: 1, documents: 1, index_version: '1' };
  return {
    ...{ ...place, ...counts, languages, defines },
    ...{ terms: [], stand_ins: [], unresolved: [] },
  };
}

test('a call in C leads to no shard that speaks another language', () => {
  const directory = new Directory([
    card('net', ['c'], ['open']),
    card('web', ['typescript'], ['open']),
    card('mm', ['c', 'python'], ['open']),
  ]);
  const lookup = {
    name: 'open',
    container: '',
    path: '',
    line: 0,
  };
  expect(directory.find(lookup, 'net')).toEqual(['mm']);
});
