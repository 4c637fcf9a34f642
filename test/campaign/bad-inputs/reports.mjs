// Bad reports, alone and in batches; then indexes of which there is none, or that are damaged, for questions too.
import { chmodSync, cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { tried } from './answers.mjs';
import { damageTo } from './damage.mjs';
import { asking, goodQuestion, goodReport, indexed, locating } from './indexed.mjs';
import { texts } from './texts.mjs';

const mebibyte = 1024 * 1024;
const nobody = 65_534;
const deep = 100_000;
const randomBytes = texts.find(({ name }) => name.includes('random bytes')).text;
const row = (id, description) => JSON.stringify({ id, title: 'gate', description });

/** What stands in a batch, and how its lines end. */
const batches = [
  ['not JSON', 'the gate does not open\n', 'REPORT_MALFORMED'],
  ['empty', '', 'nothing'],
  ['blank lines', '\n \r\n\n', 'nothing'],
  [
    'a line without id, between good ones',
    `${row(1)}\n{"title":"gate"}\n${row(2)}`,
    'files, REPORT_MALFORMED',
  ],
  ['ids that are none', '{"id":null}\n{"id":{}}\n{"id":[1]}\n', 'REPORT_MALFORMED'],
  ['values that are no text', '{"id":1,"title":7}\n{"id":2,"description":{}}', 'REPORT_MALFORMED'],
  ['JSON that is no object', '1\n"gate"\nnull\n[]\n', 'REPORT_MALFORMED'],
  ['a prototype', '{"__proto__":{"id":1},"title":"gate"}', 'REPORT_MALFORMED'],
  ['a mark of its encoding, and CR LF', `\ufeff${row(1)}\r\n${row(2)}\r\n`, 'files'],
  ['halves of characters', '{"id":"\\ud800","title":"gate \\udc00"}', 'files'],
  ['100 000 open brackets', `${'['.repeat(deep)}\n${'{"a":'.repeat(deep)}`, 'REPORT_MALFORMED'],
  ['a line of 10 MB', row(1, 'the gate opens. '.repeat((10 * mebibyte) / 16)), 'files'],
  ['a line of 10 MB that is no JSON', 'gate '.repeat(2 * mebibyte), 'REPORT_MALFORMED'],
  [
    'a line of 17 MB, and a good one',
    `${'x'.repeat(17 * mebibyte)}\n${row(1)}`,
    'TOO_LARGE, files',
  ],
  ['reports without a word', '{"id":1}\n{"id":2,"title":"?","description":null}', 'REPORT_EMPTY'],
  ['random bytes', randomBytes, 'REPORT_MALFORMED'],
  ['1 000 lines', Array.from({ length: 1_000 }, (_, at) => row(at)).join('\n'), 'files'],
];

/** How `ask` and `locate` end when the file of this kind is damaged: what does not need it, answers. */
const needs = {
  '.seg': ['INDEX_CORRUPT', 'files'],
  '.words': ['an answer', 'INDEX_CORRUPT'],
  '.vec': ['an answer', 'files'],
  '.O3.ovl': ['an answer', 'files'],
  '.O4.ovl': ['an answer', 'files'],
  '.candidates.ovl': ['an answer', 'files'],
  'manifest.json': ['INDEX_CORRUPT', 'INDEX_CORRUPT'],
};
/** Without these an answer has less to say, and says so. */
const warned = new Set(['.vec', '.O3.ovl', '.O4.ovl']);
const tellsLack = /was not consulted|searched by words alone/;

/** `{ name, run }`, as in contents.mjs. */
export const reports = [
  { name: 'locate: texts that are no report', run: locateTexts },
  { name: 'locate: options and files', run: locateFiles },
  { name: 'locate: batches', run: locateBatches },
  { name: 'ask and locate: no index, no tree', run: absent },
  { name: 'ask and locate: damaged files', run: damagedFiles },
];

async function locateTexts(at) {
  await indexed(at);
  for (const { name, text, locate } of texts)
    await tried(at, { input: name, words: locating(at), stdin: text, expected: locate });
}

async function locateFiles(at) {
  await indexed(at);
  const report = path.join(at.folder, 'report.txt');
  writeFileSync(report, goodReport);
  const limits = ['0', '-1', '51', '1e9', '1.5', 'NaN', '', '9'.repeat(400)];
  const cases = [
    ['a report that does not exist', [path.join(at.folder, 'absent')], 'USAGE'],
    ['a report that is a folder', [at.folder], 'USAGE'],
    ['a report without end', ['/dev/zero'], 'REPORT_UNREADABLE'],
    ['a report that ends with an error', ['/proc/self/mem'], 'USAGE'],
    ['a name with an escape', ['a\u001b[31mb'], 'USAGE'],
    ['two reports', [report, report], 'USAGE'],
    ['a report and a batch', [report, '--batch', report], 'USAGE'],
    ['a good one', [report], 'files'],
    ...limits.map((count) => [
      `--limit ${count.slice(0, 12)}`,
      [report, '--limit', count],
      'USAGE',
    ]),
  ];
  for (const [input, words, expected] of cases)
    await tried(at, { input, words: [...locating(at), ...words], expected });
  chmodSync(report, 0);
  const ran = await at.as(nobody, [...locating(at), report]);
  if (ran !== undefined) at.coded(ran, 'USAGE', 2);
}

async function locateBatches(at) {
  await indexed(at);
  const file = path.join(at.folder, 'batch.jsonl');
  for (const [input, content, expected] of batches) {
    writeFileSync(file, content);
    await tried(at, { input, words: [...locating(at), '--batch', file], expected });
  }
  const places = [
    ['a batch that does not exist', path.join(at.folder, 'absent'), 'USAGE'],
    ['a batch that is a folder', at.folder, 'USAGE'],
    ['a batch of no bytes from a device', '/dev/null', 'nothing'],
  ];
  for (const [input, place, expected] of places)
    await tried(at, { input, words: [...locating(at), '--batch', place], expected });
}

async function absent(at) {
  const places = [
    ['a tree that was never indexed', at.root, 'INDEX_MISSING'],
    ['no folder', at.at('absent'), 'REPO_UNREADABLE'],
    ['a file', at.at('src/sentinel.c'), 'REPO_UNREADABLE'],
    ['no name', '', 'REPO_UNREADABLE'],
  ];
  for (const [what, place, expected] of places) {
    const ask = ['ask', goodQuestion, '--repo', place];
    await tried(at, { input: `ask: ${what}`, words: ask, expected });
    const locate = ['locate', '--repo', place];
    await tried(at, { input: `locate: ${what}`, words: locate, stdin: goodReport, expected });
  }
  await tried(at, { input: 'ask: no broker', words: ['ask', goodQuestion], expected: 'NO_BROKER' });
  const locate = { words: ['locate'], stdin: goodReport, expected: 'USAGE' };
  await tried(at, { input: 'locate: no tree is named', ...locate });
}

async function damagedFiles(at) {
  await indexed(at);
  const { place } = at;
  const kept = path.join(at.folder, 'kept');
  cpSync(place, kept, { recursive: true });
  for (const [kind, [ask, locate]] of Object.entries(needs)) {
    for (const [what, damage] of Object.entries(damageTo)) {
      damage(fileOf(at, kind));
      const input = `${kind}, ${what}`;
      const isGone = kind === 'manifest.json' && what === 'it is gone';
      const endOf = (usual) => (isGone ? 'INDEX_MISSING' : usual);
      const words = asking(at, goodQuestion);
      const { json } = await tried(at, { input: `ask: ${input}`, words, expected: endOf(ask) });
      if (warned.has(kind)) {
        at.claim(
          `ask: ${input}: it is told`,
          json?.left_out?.length > 0 || tellsLack.test(json?.overlay_warnings),
          json?.overlay_warnings,
        );
      }
      await tried(at, {
        ...{ input: `locate: ${input}`, words: locating(at), stdin: goodReport },
        expected: endOf(locate),
      });
      rmSync(place, { recursive: true });
      cpSync(kept, place, { recursive: true });
    }
  }
}

function fileOf(at, kind) {
  if (kind === 'manifest.json') return path.join(at.place, kind);
  const segments = path.join(at.place, 'segments');
  const name = readdirSync(segments).find(
    (each) => each.startsWith('gate-') && each.endsWith(kind),
  );
  return path.join(segments, name);
}
