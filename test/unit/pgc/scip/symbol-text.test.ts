import { expect, test } from 'vitest';
import { isMember, nameText, parseSymbol } from '../../../../src/pgc/scip/symbol-text.js';

test.each([
  ['scip-typescript npm hono 4.13.3 src/`compose.ts`/compose.', 'compose'],
  ['scip-typescript npm hono 4.13.3 src/`a.ts`/Hono#`<constructor>`().', '<constructor>'],
  ['scip-python python werkzeug 3 `werkzeug.http`/parse_date().', 'parse_date'],
  ['scip-java maven com.acme/lib 1.0 com/acme/List#add(+1).', 'add'],
  ['scip-java maven com.acme/lib 1.0 com/acme/List#[T]', 'T'],
  ['scip-python python x 1 `m`/f().(value)', 'value'],
  ['scip-ruby gem a  b 1.0 Foo#', 'Foo'],
  ['cxx . . $ `a``b`!', 'a`b'],
])('%s ends with %s', (symbol, name) => {
  expect(parseSymbol(symbol)?.name).toBe(name);
});

test('the package is what stands before the descriptors', () => {
  expect(parseSymbol('s gem a  b 1.0 Foo#')?.package).toBe('s gem a  b 1.0');
});

test.each(['', 'local 3', 'a b c', 'a b c d', 'a b c d '])('%j is no global symbol', (symbol) => {
  expect(parseSymbol(symbol)).toBeUndefined();
});

test('a name is written so that it is read again', () => {
  for (const name of ['plain', 'a b', 'a`b', '<init>', 'größe'])
    expect(parseSymbol(`s . p . ${nameText(name)}#`)?.name).toBe(name);
});

test('what belongs to a type is a member', () => {
  const base = 'scip-python python python-stdlib 3.11 builtins';
  expect([`${base}/str#upper().`, `${base}/\`a b\`#\`c#\`.`].map(isMember)).toEqual([true, true]);
  expect([`${base}/set#`, `${base}/len().`].map(isMember)).toEqual([false, false]);
});
