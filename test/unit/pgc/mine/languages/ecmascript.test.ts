import { describe, expect, test } from 'vitest';
import type { FileFacts } from '../../../../../src/pgc/format/facts.js';
import { callsOf, mined, symbolOf, wordsIn } from '../../../../support/miners/mined.js';

function outline(facts: FileFacts): string[] {
  return facts.symbols.map((each) => {
    const name = each.container === '' ? each.name : `${each.container}.${each.name}`;
    const marks = `${each.exported ? ' exported' : ''}${each.declaration ? ' declared' : ''}`;
    return `${each.kind} ${name}${marks}`;
  });
}

describe('TypeScript', () => {
  test('a class has its methods, and they are exported with it', async () => {
    const facts = await mined(
      'typescript',
      `/**
 * A mailbox. It holds {@link Lease leases}.
 * @template T anything
 */
export class Mailbox<T> extends Base.Box<T> implements Port {
  static async open(path: string, mode?: number): Promise<Mailbox> { return new Mailbox(path); }
  #drain = () => flush(1);
  private settle() { this.#drain(); this.store.put?.(3); }
  abstract peek(): void;
}
`,
    );
    expect(outline(facts)).toEqual([
      'class Mailbox exported',
      'method Mailbox.open exported',
      'method Mailbox.#drain',
      'method Mailbox.settle',
      'method Mailbox.peek exported declared',
    ]);
    expect(facts.symbols.map((each) => each.signature).slice(0, 2)).toEqual([
      'class:Mailbox | extends:Base.Box | implements:Port | methods:3',
      'method:open | params:2 | returns:Promise<Mailbox> | async:true | static:true | (path: string, mode?: number)',
    ]);
    expect(symbolOf(facts, 'Mailbox').doc).toBe('A mailbox. It holds Lease leases.');
    expect(callsOf(facts)).toEqual([
      'open → Mailbox (construct)',
      '#drain → flush (direct)',
      'settle → this.#drain (member)',
      'settle → this.store.put (member)',
    ]);
  });

  test('types, enums, namespaces and ambient declarations are symbols', async () => {
    const facts = await mined(
      'typescript',
      `export interface Port extends Base { open: string; close(x: number): void }
export type Mode = 'a' | 'b';
enum Level { Low, High = 2 }
declare function ambient(a: number): void;
declare module 'zz' { export function inside(): void; }
namespace Deep { export const limit: number = 1 }
function over(a: string): void;
function over(a: any) {}
`,
    );
    expect(outline(facts)).toEqual([
      'interface Port exported',
      'method Port.close exported declared',
      'type Mode exported',
      'enum Level',
      'function ambient declared',
      'module zz',
      'function zz.inside exported declared',
      'module Deep',
      'constant Deep.limit exported',
      'function over declared',
      'function over',
    ]);
    expect(symbolOf(facts, 'Port').signature).toBe('interface:Port | extends:Base | properties:2');
    expect(symbolOf(facts, 'Mode').signature).toBe("type:Mode | 'a' | 'b'");
  });

  test('the methods of an interface are declared in it, those of its property types are not', async () => {
    const facts = await mined(
      'typescript',
      `interface Shard {
  /** All call sites of these names. */
  callers(symbols: string[]): Promise<CallSite[]>;
  readonly store: { close(): void };
  new (path: string): Shard;
}
class Local { parts: { open(): void }; }
`,
    );
    expect(outline(facts)).toEqual([
      'interface Shard',
      'method Shard.callers declared',
      'class Local',
    ]);
    expect(symbolOf(facts, 'callers')).toMatchObject({
      line_start: 3,
      line_end: 3,
      doc: 'All call sites of these names.',
      signature: 'method:callers | params:1 | returns:Promise<CallSite[]> | (symbols: string[])',
    });
  });

  test('imports of every form keep target and names', async () => {
    const facts = await mined(
      'typescript',
      `import def, { k as l, type m } from 'z';
import * as ns from "w";
import 'side';
import fs = require('fs');
import type { X } from './x.js';
export { a as c } from './y.js';
export * from 'all';
const { r, s: t } = require('u');
async function late() { const { w } = await import('v'); await import(name); }
`,
    );
    expect(facts.imports.map(({ target, names }) => `${target}: ${names.join(' ')}`)).toEqual([
      'z: default:def k:l m',
      'w: *:ns',
      'side: ',
      'fs: *:fs',
      './x.js: X',
      './y.js: a:c',
      'all: *',
      'u: r s:t',
      'v: w',
    ]);
    expect(facts.calls).toEqual([]);
  });

  test('what is exported at the end of the file is exported', async () => {
    const facts = await mined(
      'typescript',
      'class A { run() {} }\nconst b = 1;\nfunction c() {}\nexport { A, b as other };\nexport default c;\n',
    );
    expect(facts.symbols.every((each) => each.exported)).toBe(true);
  });

  test('a call in a callback belongs to the nearest function with a name', async () => {
    const facts = await mined(
      'tsx',
      `export function List({ items }: Props) {
  const render = (item) => format(item);
  items.map((item) => render(item));
  return <Row onClick={() => select()}><Cell /></Row>;
}
`,
    );
    expect(outline(facts)).toEqual(['function List exported', 'function List.render']);
    expect(callsOf(facts)).toEqual([
      'render → format (direct)',
      'List → items.map (member)',
      'List → render (direct)',
      'List → Row (construct)',
      'List → select (direct)',
      'List → Cell (construct)',
    ]);
  });
});

describe('JavaScript', () => {
  test('CommonJS exports and prototypes define symbols', async () => {
    const facts = await mined(
      'javascript',
      `function open() {}
function hidden() {}
function Parser() {}
Parser.prototype.parse = function (text) { this.lex(text); };
exports.close = function () {};
module.exports = { open, Parser, extra() { helper(); }, alias: hidden };
`,
    );
    expect(outline(facts)).toEqual([
      'function open exported',
      'function hidden exported',
      'function Parser exported',
      'method Parser.parse exported',
      'function close exported',
      'method extra exported',
    ]);
    expect(callsOf(facts)).toEqual(['parse → this.lex (member)', 'extra → helper (direct)']);
  });

  test('an object that a module-level name holds has methods; local variables are no symbols', async () => {
    const facts = await mined(
      'javascript',
      `const api = { open() { start(); }, close: (x) => stop(x) };
describe('x', () => { const local = 1; });
`,
    );
    expect(outline(facts)).toEqual(['constant api', 'method api.open', 'method api.close']);
    expect(wordsIn(facts, undefined)).toEqual({ describ: 1, local: 1 });
  });
});

test('variance of type parameters does not hide what stands behind it', async () => {
  const source = `export interface Schema<in out A, in out I = A, out R = never> extends Variance<A> {
  readonly a: A;
}
export class Sink<in In extends object> {}
for (const key in Object) void key;
`;
  const facts = await mined('typescript', source);
  expect(facts.error_bytes).toBe(0);
  expect(facts.symbols.map(({ name, kind }) => [kind, name])).toEqual([
    ['interface', 'Schema'],
    ['class', 'Sink'],
  ]);
});

test('members that begin with type parameters need no semicolon before them', async () => {
  const source = `export const get: {
  <A>(key: string): (self: Store<A>) => Option<A>
  /**
   * Both at once.
   */
  <
    A,
    B extends A
  >(self: Store<A>, key: B): Option<A>
  // And with a default.

  <const A = string>(self: A): \`\${A}\`
  <B>(b: B): { b: B }
} = dual(2, find)
const pick =
  <A>(a: A) =>
  <B>(b: B): A => use(a, b)
export type Text = \`Say \\\`class extends \${string}\\\` here\`
export type * from './types.js'
export function after(a: number, b: number): boolean {
  return a
    < b
}
`;
  const facts = await mined('typescript', source);
  expect(facts.error_bytes).toBe(0);
  expect(outline(facts)).toEqual([
    'constant get exported',
    'function pick',
    'type Text exported',
    'function after exported',
  ]);
  expect(symbolOf(facts, 'get')).toMatchObject({ line_start: 1, line_end: 14 });
  expect(symbolOf(facts, 'pick').line_end).toBe(17);
  expect(callsOf(facts)).toEqual(['- → dual (direct)', 'pick → use (direct)']);
  expect(facts.imports).toEqual([{ target: './types.js', names: ['*'], line: 19 }]);
});

test('elements in elements stay what they are', async () => {
  const source = `export const Page = () => (
  <main>
    <List></List>
    {items}
    <Row />
  </main>
)
`;
  const facts = await mined('tsx', source);
  expect(facts.error_bytes).toBe(0);
  expect(callsOf(facts)).toEqual(['Page → List (construct)', 'Page → Row (construct)']);
});
