import path from 'node:path';
import { expect, test } from 'vitest';
import { verdictsOn, type CitationParts } from '../../../src/manager/citations.js';
import { citationOf } from '../../support/delegation.js';
import { TemporaryTree } from '../../support/git-tree.js';

function parts(fields: Partial<CitationParts>): CitationParts {
  return {
    trees: () => Promise.resolve([]),
    registered: () => Promise.resolve(new Set(['net'])),
    isSettling: () => true,
    encloses: () => Promise.resolve(false),
    ...fields,
  };
}

test('evidence of a tree that is registered and not known yet is not judged yet', async () => {
  const citations = [citationOf({ agent: 'other' }), citationOf({ agent: 'net' })];
  await expect(verdictsOn(citations, parts({}))).rejects.toMatchObject({
    code: 'AGENT_OFFLINE',
    retryable: true,
  });
});

test.each([
  ['nobody is on the way any more', { isSettling: () => false }, 'net'],
  ['nobody of that name ever registered', {}, 'other'],
  ['it names nobody', {}, ''],
])('where %s it is unverified', async (_, fields, agent) => {
  const checked = await verdictsOn([citationOf({ agent })], parts(fields));
  expect(checked).toMatchObject([{ verdict: { status: 'unverified' } }]);
});

test('a citation without lines gets those in which its text stands', async () => {
  await using tree = await TemporaryTree.create({ 'a.c': 'int one;\nint two; /* b */\n' });
  const trees = () =>
    Promise.resolve([{ agent: 'net', alias: 'net', project: 'one', root: tree.root }]);
  const quote = { file_path: 'a.c', line_start: 0, line_end: 0, symbol: '', blob: '' };
  const citations = ['int two;', 'int six;'].map((content) => citationOf({ ...quote, content }));
  const [one, other] = await verdictsOn(citations, parts({ trees }));
  expect(one).toMatchObject({
    verdict: { status: 'valid' },
    citation: { line_start: 2, line_end: 2, content: 'int two; /* b */' },
  });
  expect(other!.verdict).toMatchObject({ status: 'false', reason: 'a.c does not hold this text' });
});

test('a path that names a file of a tree from the top of the disk is one of that tree', async () => {
  await using tree = await TemporaryTree.create({ 'a.c': 'int one;\nint two;\n' });
  const trees = () =>
    Promise.resolve([{ agent: 'net', alias: 'net', project: '', root: tree.root }]);
  const whole = { line_start: 2, line_end: 2, symbol: '', blob: '', content: 'int two;' };
  const citations = [`${tree.root}/a.c`, '/elsewhere/a.c'].map((file_path) =>
    citationOf({ ...whole, file_path }),
  );
  const [one, other] = await verdictsOn(citations, parts({ trees }));
  expect(one).toMatchObject({ verdict: { status: 'valid' }, citation: { file_path: 'a.c' } });
  expect(other!.verdict.status).toBe('false');
});

test('a part of the cited lines, without its indentation, is what it quotes; the symbol may stand around it', async () => {
  const text = 'int f(void)\n{\n\treturn 1;\n}\nint g(void)\n{\n\treturn 1; /* g */\n}\n';
  await using tree = await TemporaryTree.create({ 'a.c': text });
  const trees = () =>
    Promise.resolve([{ agent: 'net', alias: 'net', project: '', root: tree.root }]);
  const encloses: CitationParts['encloses'] = ({ symbol }) => Promise.resolve(symbol === 'g');
  const cited = { file_path: 'a.c', line_start: 7, line_end: 7, blob: '' };
  const verdictOn = async (fields: { content: string; symbol: string }) => {
    const [checked] = await verdictsOn(
      [citationOf({ ...cited, ...fields })],
      parts({ trees, encloses }),
    );
    return checked;
  };
  expect(await verdictOn({ content: 'return 1;', symbol: 'g' })).toMatchObject({
    verdict: { status: 'valid' },
    citation: { line_start: 7, content: '\treturn 1; /* g */', symbol: 'g' },
  });
  expect(await verdictOn({ content: 'return 1;', symbol: '' })).toMatchObject({
    verdict: { status: 'valid' },
  });
  for (const fields of [
    { content: 'return 1;', symbol: 'f' },
    { content: 'return 2;', symbol: 'g' },
  ])
    expect(await verdictOn(fields)).toMatchObject({ verdict: { status: 'false' } });
});

test('a file of the tree that a task is about is judged there, whatever another tree has in its place', async () => {
  await using own = await TemporaryTree.create({ 'src/a.py': 'def a():\n    return 1\n' });
  await using other = await TemporaryTree.create({
    'src/a.py': 'def a():\n    with lock:\n',
    'src/b.py': 'b = 2\n',
  });
  const tree = (name: string, { root }: { root: string }) => ({
    ...{ agent: `pgc-${name}`, alias: name, project: name, root },
  });
  const trees = () => Promise.resolve([tree('other', other), tree('own', own)]);
  const lie = { file_path: 'src/a.py', line_start: 2, line_end: 2, content: '    with lock:' };
  const elsewhere = { file_path: 'src/b.py', line_start: 1, line_end: 1, content: 'b = 2' };
  const unsaid = { agent: 'other', symbol: '', blob: '' };
  const citations = [lie, elsewhere].map((each) => citationOf({ ...each, ...unsaid }));
  const statusIn = async (project: string) =>
    (await verdictsOn(citations, parts({ trees }), project)).map(({ verdict }) => verdict.status);
  expect(await statusIn('')).toEqual(['valid', 'valid']);
  expect(await statusIn(path.join(own.root, 'src'))).toEqual(['false', 'valid']);
  expect(await statusIn('own')).toEqual(['false', 'false']);
  expect(await statusIn('other')).toEqual(['valid', 'valid']);
  expect(await statusIn('none')).toEqual(['unverified', 'unverified']);
  // A name that only begins alike is no folder in it.
  expect(await statusIn(`${own.root}-2`)).toEqual(['valid', 'valid']);
});
