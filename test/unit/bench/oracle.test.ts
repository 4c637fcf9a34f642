import { expect, test } from 'vitest';

// The oracle is plain JavaScript without types.
const oracle = '../../oracle';
const { Truth } = await import(`${oracle}/truth.mjs`);
const { drawChains, drawSymbols } = await import(`${oracle}/sample.mjs`);
const { measureCallers } = await import(`${oracle}/measure-callers.mjs`);
const { measureChains } = await import(`${oracle}/measure-chains.mjs`);

const definition = (place: string, name: string, kind: string, container = '') => {
  const [file, line] = place.split(':');
  return { is: 'definition', name, container, kind, file, line: Number(line) };
};
const site = (place: string, holder: string, name: string, its: object) => {
  const [file, line] = place.split(':');
  const at = { file, line: Number(line), start: Number(line) };
  return { is: 'site', ...at, holder, name, form: 'plain', ...its };
};

/** `serve` calls `Store.Get`, which is `Memory.Get` or `Disk.Get`; `Disk.Get` calls `read`; `setup` names it. */
const facts = [
  ...['a.go', 'b.go'].map((path) => ({ is: 'file', path, test: false })),
  definition('a.go:1', 'serve', 'function'),
  definition('a.go:5', 'Get', 'interface', 'Store'),
  definition('b.go:1', 'Get', 'method', 'Memory'),
  definition('b.go:5', 'Get', 'method', 'Disk'),
  definition('b.go:9', 'read', 'function'),
  definition('b.go:20', 'unused', 'function'),
  definition('b.go:30', 'setup', 'function'),
  definition('b.go:40', 'Close', 'method', 'Disk'),
  definition('b.go:50', 'hidden', 'function'),
  site('b.go:34', 'b.go:30', 'hidden', { kind: 'unknown' }),
  site('a.go:2', 'a.go:1', 'Get', { kind: 'interface', target: 'a.go:5', interface: 'Store' }),
  { ...site('b.go:7', 'b.go:5', 'read', { kind: 'static', target: 'b.go:9' }), start: 6 },
  site('b.go:31', 'b.go:30', 'read', { kind: 'value', target: 'b.go:9' }),
  site('b.go:32', 'b.go:30', 'read', { kind: 'unknown' }),
  site('b.go:33', 'b.go:30', 'Close', { kind: 'interface', interface: 'io.Closer' }),
  ...['b.go:1', 'b.go:5'].map((target) => ({
    ...{ is: 'implementation', interface: 'Store', method: 'Get', target },
  })),
  { is: 'implementation', interface: 'io.Closer', method: 'Close', target: 'b.go:40' },
  { is: 'summary', packages: 1, missing: 0, errors: 0 },
];

const truth = new Truth(facts);

/** A product that answers with these lines, whatever it is asked. */
function answering(...lines: string[]) {
  const callers = lines.map((line) => {
    const [file_path, at] = line.split(':');
    return { file_path, line: Number(at), definition: '' };
  });
  return { callers: () => Promise.resolve({ answer: { definitions: [], callers }, ms: 1 }) };
}

async function scoped(place: string, ...lines: string[]) {
  const symbols = [{ place, kind: 'function', definition: truth.definitions.get(place) }];
  const [row] = await measureCallers({ truth, product: answering(...lines), symbols });
  return row;
}

test('a call through an interface leads to what implements it, and is a static edge of its method alone', async () => {
  expect(await scoped('b.go:1', 'a.go:2')).toMatchObject({
    wanted: { static: 0, dispatch: 1 },
    found: { static: 0, dispatch: 1 },
    invented: [],
  });
  expect(await scoped('a.go:5')).toMatchObject({
    ...{ asked: 'a.go#Store.Get', isNone: true, wanted: { static: 1, dispatch: 0 } },
    missed: [{ site: 'a.go:2', via: 'static' }],
  });
});

test('a call over two lines is found at its name and at its begin', async () => {
  expect((await scoped('b.go:9', 'b.go:6')).found.static).toBe(1);
  expect((await scoped('b.go:9', 'b.go:7')).found.static).toBe(1);
});

test('what is named, what the compiler cannot say, and files it has not read are no inventions', async () => {
  const row = await scoped('b.go:9', 'b.go:31', 'b.go:32', 'c.go:1', 'b.go:33', 'b.go:12');
  expect(row).toMatchObject({ named: 1, unjudged: 2 });
  expect(row.invented.map((each: { site: string }) => each.site)).toEqual(['b.go:33', 'b.go:12']);
});

test('a call through an interface of a library is right, and not asked for', async () => {
  expect(await scoped('b.go:40', 'b.go:33')).toMatchObject({
    wanted: { static: 0, dispatch: 0 },
    found: { foreign: 1 },
    invented: [],
  });
});

test('symbols without callers are drawn only when no call of their name is unknown', () => {
  const places = drawSymbols(truth, 1).map((each: { place: string }) => each.place);
  expect(places).toEqual(expect.arrayContaining(['a.go:1', 'b.go:20', 'b.go:30', 'b.go:9']));
  expect(places).not.toContain('b.go:50');
});

test('chains follow true calls, also through interfaces', () => {
  const chains = drawChains(truth, { seed: 1, count: 4 });
  expect(chains).toEqual([{ places: ['a.go:1', 'b.go:5', 'b.go:9'], crosses: true }]);
});

test('a link that no compiler knows is invented', async () => {
  const path = [
    { file_path: 'a.go', line: 1, call_site: '' },
    { file_path: 'b.go', line: 5, call_site: 'a.go:2' },
    { file_path: 'b.go', line: 9, call_site: 'b.go:33' },
  ];
  const product = { trace: () => Promise.resolve({ answer: { found: true, path }, ms: 1 }) };
  const chains = [{ places: ['a.go:1', 'b.go:9'], crosses: true }];
  const [row] = await measureChains({ truth, product, chains });
  expect(row).toMatchObject({ links: 2, unjudged: 0, invented: [{ site: 'b.go:33' }] });
});
