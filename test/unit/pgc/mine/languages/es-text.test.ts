import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readable } from '../../../../../src/pgc/mine/languages/ecmascript/es-text.js';

test('what the grammar does not know is rewritten in place', () => {
  expect(readable('interface A<in out T, out E> {}')).toBe('interface A<       T,     E> {}');
  expect(readable("export type * from 'a'")).toBe("export      * from 'a'");
  expect(readable('type A = `a \\` b`')).toBe('type A = `a    b`');
  expect(readable('type A = {\n  a: B\n  <C>(c: C): D\n}')).toBe(
    'type A = {\n  a: B\n ;<C>(c: C): D\n}',
  );
});

test.each([
  ['a function that is the value of another', 'const f = <A>(a: A) =>\n  <B>(b: B) => a'],
  ['the first member', 'type A = {\n  <B>(b: B): C }'],
  ['a type that begins on the line', 'type A = B |\n  <C>(c: C) => D'],
  ['a type behind a keyword', 'type A<B> = B extends\n  <C>(c: C) => D ? E : F'],
  ['a member behind a comment that is too long', `a\n/*${' '.repeat(10_000)}*/\n  <B>(b: B): C`],
  ['a comparison', 'a\n  < b'],
  ['a backslash before the end of a text', 'const a = `\\\\`, b = 1'],
])('%s stays', (_, source) => {
  expect(readable(source)).toBe(source);
});

test('every text keeps its length, and its lines', () => {
  const pieces = fc.constantFrom(
    ...['\n', '\n  ', '<A>', '<', 'in ', 'out ', 'A', ',', '>', '/*', '*/', '//', '`', '\\', '=>'],
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
      const source = parts.join('');
      const read = readable(source);
      expect(read).toHaveLength(source.length);
      expect(read.split('\n')).toHaveLength(source.split('\n').length);
    }),
  );
});
