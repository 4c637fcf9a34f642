import { describe, expect, test } from 'vitest';
import type { FactsLanguage } from '../../../../src/pgc/format/facts.js';
import { decodeFacts, encodeFacts } from '../../../../src/pgc/format/packed-facts.js';
import { bracketDepthMax, parseBytesMax } from '../../../../src/pgc/mine/mine.js';
import { mined, symbolOf } from '../../../support/miners/mined.js';

const languages: FactsLanguage[] = ['c', 'typescript', 'tsx', 'javascript', 'python'];

describe.each(languages)('%s', (language) => {
  test('nothing gives no facts', async () => {
    expect(await mined(language, '')).toEqual({
      language,
      lines: 0,
      bytes: 0,
      error_bytes: 0,
      symbols: [],
      calls: [],
      uses: [],
      imports: [],
      types: [],
      words: [],
      documents: [{ word: [], count: [] }],
      items: [],
      scanned_names: [],
      scanned_lines: [],
      generated: false,
    });
  });

  test('bytes that are no text are read without an error', async () => {
    const bytes = Uint8Array.from({ length: 4_096 }, (_, i) => (i * 167 + (i >> 3)) % 256);
    const facts = await mined(language, bytes);
    expect(facts.bytes).toBe(4_096);
    expect(facts.error_bytes).toBeGreaterThan(0);
  });

  test('brackets that nest without end are not parsed', async () => {
    const length = bracketDepthMax * 100;
    const facts = await mined(language, '('.repeat(length));
    expect(facts).toMatchObject({ lines: 1, error_bytes: length, symbols: [] });
  });

  test('a file that is one line of many megabytes is read in bounded time', async () => {
    const started = performance.now();
    const facts = await mined(language, 'a = b(c); '.repeat(parseBytesMax));
    expect(facts).toMatchObject({ lines: 1, symbols: [] });
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

describe.each(['c', 'typescript', 'tsx', 'javascript'] as const)('comments of %s', (language) => {
  test('that begin again and again without an end are read in bounded time', async () => {
    const started = performance.now();
    const facts = await mined(language, `${'/* '.repeat(20_000)}\n`);
    expect(facts).toMatchObject({ lines: 1, symbols: [] });
    expect(performance.now() - started).toBeLessThan(3_000);
  });

  test('are left alone where a few begin inside of strings', async () => {
    const facts = await mined(language, 'char = ["src/**/*", "test/*"]; run();\n');
    expect(facts.calls).toMatchObject([{ callee: 'run' }]);
  });
});

test('line breaks of any system give the same symbols and lines', async () => {
  const unix = 'import a from "a";\n\n// Runs.\nexport function run() {\n  go();\n}\n';
  const facts = await mined('typescript', unix);
  const dos = await mined('typescript', unix.replaceAll('\n', '\r\n'));
  expect(dos.symbols).toEqual(facts.symbols);
  expect(dos.calls).toEqual(facts.calls);
  expect(dos.lines).toBe(6);
});

test('text beyond ASCII moves neither lines nor names', async () => {
  const facts = await mined(
    'c',
    '/* Größe 漢字 😀 */\nchar *s = "😀";\nint grüße(void) { return länge(s); }\n',
  );
  expect(symbolOf(facts, 'grüße')).toMatchObject({ line_start: 3, line_end: 3 });
  expect(facts.calls).toMatchObject([{ callee: 'länge', line: 3, caller: 2 }]);
});

test('a text without a final line break has one line more than breaks', async () => {
  expect((await mined('c', 'int a;\nint b;')).lines).toBe(2);
});

test('facts survive their encoding', async () => {
  const facts = await mined('c', '/* Adds. */\nint add(int a, int b)\n{\n\treturn sum(a, b);\n}\n');
  const decoded = decodeFacts(encodeFacts(facts));
  expect(JSON.parse(JSON.stringify(decoded))).toMatchObject({
    symbols: [{ name: 'add', line_start: 2, line_end: 5, doc: 'Adds.' }],
    calls: [{ callee: 'sum', line: 4, caller: 1 }],
    words: facts.words,
    documents: [facts.documents[0], {}],
  });
});

test('the same bytes give the same facts', async () => {
  const source = 'export class A { b() { return c(); } }\n';
  expect(await mined('typescript', source)).toEqual(await mined('typescript', source));
});
