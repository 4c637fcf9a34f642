import { expect, test } from 'vitest';
import type { CallSite, FlowEdge } from '../../../src/pgc/shapes.js';
import { exploredText, type Explored, type Piece } from '../../../src/render/explored.js';

const none = { callers: null, possible: null, uses: null, callees: null, implementations: null };
const text = ['def f():', '\treturn g()', '```'];

function piece(its: Partial<Piece>): Piece {
  return {
    ...{ id: 1, symbol: 'f', container: 'A', kind: 'method', file_path: 'src/a.py', agent: 'p' },
    ...{ line_start: 10, line_end: 12, role: '', said: '', why: [] },
    lines: text.map((each, at) => ({ line: 10 + at, text: each, decides: at === 1 })),
    ...none,
    ...its,
  };
}

function site(its: Partial<CallSite>): CallSite {
  return {
    ...{ symbol: 'f', file_path: 'src/a.py', line: 11, agent: 'p', kind: 'direct' },
    ...{ definition: '', lookup: null, container: '', ignored: false, certainty: 'exact', via: '' },
    ...its,
  };
}

const edge = (to: string, definition: string, line: number): FlowEdge => ({
  ...{ from: 'f', to, definition, site: `src/a.py:${line}`, kind: 'call', certainty: 'exact' },
  ...{ agent: 'p', evidence: 1 },
});

function shown(its: Partial<Explored>): string {
  const whole = { head: ['Found.'], pieces: [], flow: [], unsure: [], errors: [], more: '' };
  return exploredText({ ...whole, more_total: 0, ...its });
}

test('a place is read from where it is named: the same file, the same folder, or its path', () => {
  const flow = [edge('g', 'src/a.py:20', 11), edge('h', 'src/b.py:2', 12), edge('i', 'c.py:3', 12)];
  expect(shown({ pieces: [piece({})], flow })).toContain(
    'f [1] calls g (`:20`) :11, h (`./b.py:2`) :12, i (`c.py:3`) :12',
  );
});

test('calls of one function are one row, and what is shown is named by its number', () => {
  const rows = [11, 12].map((line) => site({ symbol: '__g', line, definition: 'src/b.py:7' }));
  const other = piece({ id: 2, symbol: '__g', file_path: 'src/b.py', line_start: 7 });
  const said = shown({ pieces: [piece({ callers: { rows, total: 5 } }), other] });
  expect(said).toContain('called by `__g` [2] `:11, :12` and 3 more');
});

test('that nothing calls it is said only where nothing may', () => {
  const callers = { rows: [], total: 0 };
  const possible = { rows: [site({ symbol: 'x', certainty: 'possible' })], total: 1 };
  expect(shown({ pieces: [piece({ callers, possible: callers })] })).toContain(
    'no call of it is known; it may be passed on',
  );
  const doubtful = shown({ pieces: [piece({ callers, possible })] });
  expect(doubtful).not.toContain('no call');
  expect(doubtful).toContain('1 other site of this name may mean it: x `:11`');
});

test('lines stand in a fence that they cannot close, with those that decide marked', () => {
  expect(shown({ pieces: [piece({})] })).toContain(
    '````\n10  def f():\n11>   return g()\n12  ```\n````',
  );
});

test('what there was no room for is named, with the way to it', () => {
  const said = shown({
    ...{ pieces: [piece({ lines: [], said: 'It *does*.' })], more: 'ab', more_total: 1 },
  });
  expect(said).toContain('**Also**\n  [1] `src/a.py:10-12` f (method of A) — It \\*does\\*.');
  expect(said).toContain('More: explore with more=ab (--more ab) shows 1 further place.');
});
