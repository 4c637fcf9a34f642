import { afterAll, expect, test } from 'vitest';
import type { FactsLanguage } from '../../../../src/pgc/format/facts.js';
import { isCpp } from '../../../../src/pgc/source/language.js';
import { Miner, parseBytesMax } from '../../../../src/pgc/mine/mine.js';

/** What is linear takes some hundred milliseconds; what is not takes minutes. */
const msMax = 2_000;
const miner = new Miner();
afterAll(() => miner[Symbol.asyncDispose]());

const lines = (count: number): string => '\n'.repeat(count);

/** Made to be slow, by name: the language, and the text for a number of repetitions. */
const hostile: [string, FactsLanguage, (count: number) => string, number][] = [
  ['blanks behind a name', 'javascript', (n) => `new RegExp${lines(n)};`, 1_000],
  ['blanks in a macro', 'rust', (n) => `fn f() { a!(b${lines(n)}c) }`, 25_000],
  ['modifiers', 'java', (n) => `class A { ${'static '.repeat(n)}int a; }`, 10_000],
  ['parameters without an end', 'c', (n) => 'module_param(a, 1\n'.repeat(n), 2_500],
  ['modes without an end', 'c', (n) => `module_param(a, ${'S_IWUSR '.repeat(n)}`, 5_000],
  ['a system call without an end', 'c', (n) => `SYSCALL_DEFINE1(a${lines(n)}`, 5_000],
  ['system calls without an end', 'c', (n) => 'SYSCALL_DEFINE1(a\n'.repeat(n), 1_000],
  ['empty lines of Python', 'python', (n) => `${lines(n)}@`, 20_000],
  ['a route of Go', 'go', (n) => `package a\nvar b = c.GET("${'/\n'.repeat(n)}`, 10_000],
  ['a flag of Go', 'go', (n) => `package a\nvar b = flag.StringVar(&a,${lines(n)}`, 25_000],
  ['characters', 'c', (n) => `${'char a\n'.repeat(n)}void f(void) { printk(a); }`, 300],
  ['a long macro', 'c', (n) => `#define A \\\n${'printk(x); \\\n'.repeat(n)}\n`, 5_000],
  ['secrets in one word', 'settings', (n) => `${'secret'.repeat(1_600)}\n`.repeat(n), 20],
  ['secrets in one line', 'settings', (n) => 'secret '.repeat(n), 5_000],
  ['a product', 'c', (n) => 'void f(void) { kmalloc(a[a[a b.b.b.b aaaa); }\n'.repeat(n), 500],
  ['a long word', 'c', (n) => `void f(void) { kmalloc(${'a'.repeat(390)}); }\n`.repeat(n), 100],
  ['a structure', 'c', (n) => `struct a${lines(n)}`, 20_000],
  ['a parameter of C++', 'cpp', (n) => `void f(API_MOVE_ARG(A)${lines(n)}`, 25_000],
  ['a call of a sum', 'c', (n) => `int x = (${lines(n)}a + b)(x);`, 1_000],
  ['functions of a shell', 'shell', (n) => 'f() {\n'.repeat(n), 10_000],
  ['comments of what is not parsed', 'c', (n) => '('.repeat(1_001) + '/* '.repeat(n), 20_000],
  ['the same of scripts', 'javascript', (n) => '('.repeat(1_001) + '/* '.repeat(n), 20_000],
  ['one line of make', 'make', (n) => 'a \\\n'.repeat(n), 10_000],
  ['blanks of make', 'make', (n) => `a${' '.repeat(n)}`, 2_000],
  ['brackets of settings', 'settings', (n) => `${'['.repeat(9_000)}\n`.repeat(n), 25],
  ['backticks', 'javascript', (n) => '`'.repeat(n), 50_000],
  ['a chain of calls', 'typescript', (n) => `x = a${'.b()'.repeat(n)}`, 1_000],
  ['a chain of values', 'tsx', (n) => `x = a${'=a'.repeat(n)}`, 1_000],
  ['a chain of Go', 'go', (n) => `package a\nfunc f() { x := a${'.b()'.repeat(n)} }`, 1_000],
  ['a chain of C++', 'cpp', (n) => `void f() { auto x = a${'.b()'.repeat(n)}; }`, 100],
  ['a sum of C++', 'cpp', (n) => `int x = a${' + a'.repeat(n)};`, 1_000],
  [
    'types in types of C++',
    'cpp',
    (n) => `void f() { a${'<b'.repeat(n)}${'>'.repeat(n)} x; }`,
    200,
  ],
  ['namespaces in namespaces', 'cpp', (n) => `${'namespace a {'.repeat(n)}${'}'.repeat(n)}`, 200],
  ['variables of C++', 'cpp', (n) => `void f() {\n${'a b(c);\n'.repeat(n)}}`, 2_000],
  ['marks without an end', 'cpp', (n) => 'API_BEGIN\n'.repeat(n), 15_000],
  ['a chain of values of scripts', 'javascript', (n) => `x = a${'=a'.repeat(n)}`, 1_000],
  ['a chain of Python', 'python', (n) => `x = a${'.b()'.repeat(n)}`, 400],
  ['a chain of Java', 'java', (n) => `class A { int x = a${'.b()'.repeat(n)}; }`, 100],
  ['a chain of Rust', 'rust', (n) => `fn f() { let x = a${'.b()'.repeat(n)}; }`, 1_000],
];

test.each(hostile)('%s take time in proportion', async (_, language, textOf, count) => {
  // Grammars are loaded first.
  await miner.mine(language, Buffer.from('a'));
  const source = Buffer.from(textOf(4 * count));
  const before = process.cpuUsage();
  await miner.mine(language, source);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(msMax);
});

test('a text that is too large to parse is said to be not understood', async () => {
  const line = 'export const a = 1;\n';
  const source = Buffer.from(line.repeat(Math.ceil(parseBytesMax / line.length) + 1));
  const { symbols, bytes, error_bytes } = await miner.mine('typescript', source);
  expect({ symbols: symbols.length, error_bytes }).toEqual({ symbols: 0, error_bytes: bytes });
});

test.each([
  ['empty lines', lines(65_000)],
  ['a namespace without a body', `namespace${lines(65_000)}`],
  ['classes without a body', 'class a\n'.repeat(8_000)],
])('a header of %s is soon known to be C', (_, text) => {
  const startedMs = performance.now();
  expect(isCpp(text)).toBe(false);
  expect(performance.now() - startedMs).toBeLessThan(msMax);
});
