import { expect, test } from 'vitest';
import type { FactsLanguage } from '../../../../../src/pgc/format/facts.js';
import type { ItemSource } from '../../../../../src/pgc/mine/items/item.js';
import { failedRule, itemCharsMax, itemsOf } from '../../../../../src/pgc/mine/items/items.js';
import { shippedRules } from '../../../../../src/pgc/mine/items/rules-in-force.js';
import { Draft, type SymbolDraft } from '../../../../../src/pgc/mine/draft.js';

/** Work that grows with the text takes four times as long for four times as much. */
const growthMax = 8;
/** Below this a growth is noise. */
const floorMs = 2_000;

const repeated =
  (part: string, head = '', tail = '') =>
  (times: number): string =>
    head + part.repeat(times) + tail;

/** `size` repetitions, then four times as many. */
const hostile: readonly [
  FactsLanguage,
  what: string,
  of: (times: number) => string,
  size: number,
][] = [
  ['make', 'a line that goes on', repeated('a\\\n', 'X = CONFIG_X'), 10_000],
  ['make', 'blanks before an assignment', repeated(' ', 'CONFIG_X', 'x'), 20_000],
  ['python', 'an empty list of names', repeated('\n', '__all__ = ['), 20_000],
  ['python', 'lists of names without an end', repeated('__all__ = [\n'), 10_000],
  ['python', 'sections of kernel-doc', repeated('/**\n * DOC: x\n'), 10_000],
  ['python', 'strings without an end', repeated('"""a\'\'\'\nassert x\n'), 10_000],
  ['python', 'blanks behind an assertion', repeated(' ', 'assert'), 20_000],
  ['markdown', 'long words in code', repeated(`    ${'a'.repeat(9_900)};\n`), 20],
  ['markdown', 'humps', repeated(`${'aB'.repeat(4_900)}; b()\n`), 20],
  ['markdown', 'underscores', repeated(`a${'_'.repeat(9_900)}; b()\n`), 10],
  ['rst', 'calls in one line', repeated('see read_it() and get_it(); ', 'a_b() '), 10_000],
  ['c', 'blanks of a comment', repeated('\n', '/**', '*/ int f(void);'), 20_000],
  ['c', 'kernel-doc without an end', repeated('\n', '/**', 'DOC: x'), 20_000],
  ['c', 'sections of kernel-doc', repeated('/**\n * DOC: x\n'), 10_000],
  ['c', 'tables without handlers', repeated('.procname = "a",\n'), 10_000],
  ['c', 'parameters without an end', repeated('module_param(a, 1\n'), 10_000],
  ['c', 'descriptions without an end', repeated('MODULE_PARM_DESC(a, "x"\n'), 10_000],
  ['c', 'an annotation without an end', repeated('\n', 'REQUIRES('), 20_000],
  ['c', 'annotations without an end', repeated('REQUIRES(a '), 10_000],
  ['c', 'comments without an end', repeated('/* '), 20_000],
  ['c', 'options in one line', repeated('IS_ENABLED(CONFIG_A) '), 10_000],
  ['c', 'a directive that goes on', repeated('\\\n', '#if CONFIG_A '), 20_000],
  ['shell', 'a long comment at the head', repeated('# a b c d e f\n'), 20_000],
  ['shell', 'quotes behind the usage', repeated('"\' ', 'echo usage: a ', 'x'), 20_000],
  ['javascript', 'blanks of documentation', repeated(' ', '/**\n', '*/'), 20_000],
];

/** As a miner would find them: the text is the documentation of one function, which calls all it can. */
function sourceOf(language: FactsLanguage, text: string): ItemSource {
  const draft = new Draft(text);
  const symbol: SymbolDraft = {
    ...{ name: 'operator++', kind: 'function', container: '', doc: '', signature: 'f | (a)' },
    ...{ start: text.length, end: text.length, wordsStart: 0 },
    ...{ exported: true, declaration: false },
  };
  if (language === 'python') Object.assign(symbol, { start: 0, wordsStart: 0 });
  if (['c', 'javascript', 'python'].includes(language)) draft.symbols.push(symbol);
  return { language, text, draft };
}

function timed(language: FactsLanguage, text: string): number {
  const source = sourceOf(language, text);
  const from = performance.now();
  const items = itemsOf(source, shippedRules);
  const took = performance.now() - from;
  expect(items.filter(({ rule }) => rule === failedRule)).toEqual([]);
  return took;
}

test.each(hostile)('%s: %s takes as long as it is long', (language, _what, of, size) => {
  const small = timed(language, of(size));
  const large = timed(language, of(4 * size));
  expect(large).toBeLessThan(Math.max(floorMs, growthMax * small));
});

test('of a text that is too large only the beginning of a document is looked at', () => {
  const filler = 'x\n'.repeat(itemCharsMax / 2);
  const document = itemsOf(sourceOf('text', `Theorem 1: It ends.\n\n${filler}`), shippedRules);
  expect(document.map(({ rule }) => rule)).toEqual(['theorem']);
  expect(itemsOf(sourceOf('shell', `echo Usage: run it\n${filler}`), shippedRules)).toEqual([]);
});
