// Random items of one overlay with the source lines they cite, to be judged by a reader: how many are right?
//
//   npm run bench:overlays -- --repo DIR --overlay O2 [--seed 1] [--count 30] [--rule NAME] [--json]
//   npm run bench:overlays -- --repo DIR --counts [--overlay O2] [--json]
//
// DIR has an index under SIGMA_HOME. Every item of the overlay, whichever shard it is in, is equally likely to be
// drawn; the same seed on the same index draws the same items. `--rule` draws from one rule alone (of O1: a
// kind or `import`; of O3: `call:direct`, `slot` and so on, and the rules of the history).
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openIndex } from '../../../dist/src/pgc/search/open-index.js';
import { overlayNames } from '../../../dist/src/pgc/shapes.js';

/** Source lines shown before and after the cited ones. */
const linesAround = 4;
/** Of a long range only the beginning and the end are shown. */
const headLines = 24;
const tailLines = 4;

const { values: options } = parseArgs({
  options: {
    repo: { type: 'string' },
    overlay: { type: 'string' },
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '30' },
    rule: { type: 'string' },
    counts: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
if (options.repo === undefined) throw new Error('--repo DIR is needed');
if (options.overlay === undefined && !options.counts) throw new Error('--overlay O1..O7 is needed');
if (options.overlay !== undefined && !overlayNames.includes(options.overlay))
  throw new Error(`no such overlay: ${options.overlay}`);
const home = process.env.SIGMA_HOME ?? path.join(process.env.HOME ?? '', '.sigma');
const tree = await openIndex(options.repo, home);

if (options.counts) printCounts(await countsOf(tree, options.overlay));
else printSample(await sampleOf(tree));

/** Reservoir sampling: one pass, whatever the number of items; Vitter's algorithm R. */
async function sampleOf(tree) {
  const random = seededRandom(Number(options.seed));
  const size = Number(options.count);
  const kept = [];
  let seen = 0;
  for await (const item of itemsOf(tree, options.overlay)) {
    if (options.rule !== undefined && item.rule !== options.rule) continue;
    seen += 1;
    if (kept.length < size) {
      kept.push(item);
      continue;
    }
    const at = Math.floor(random() * seen);
    if (at < size) kept[at] = item;
  }
  const items = kept.map((item) => item.read()).sort(byPlace);
  return { overlay: options.overlay, seed: Number(options.seed), of: seen, items };
}

async function countsOf(tree, only) {
  const counts = {};
  for (const overlay of only === undefined ? overlayNames : [only]) {
    const rules = new Map();
    for await (const { rule } of itemsOf(tree, overlay))
      rules.set(rule, (rules.get(rule) ?? 0) + 1);
    const sorted = [...rules].sort(([, a], [, b]) => b - a);
    const items = sorted.reduce((sum, [, count]) => sum + count, 0);
    counts[overlay] = { items, rules: Object.fromEntries(sorted) };
  }
  return counts;
}

/** Every item as `{rule, read}`: `read` makes the whole of it, which only those that are drawn need. */
async function* itemsOf(tree, overlay) {
  if (overlay === 'O1') {
    for (const shard of tree.shards) yield* structureOf(shard);
    return;
  }
  if (overlay === 'O3') {
    for (const shard of tree.shards) yield* callsOf(shard);
    for (const shard of tree.shards) yield* slotsOf(shard);
  }
  for (const file of await tree.overlay(overlay))
    for (const item of file.items()) yield { rule: item.rule, read: () => item };
}

function* structureOf(shard) {
  for (let file = 0; file < shard.fileCount; file += 1) {
    for (const symbol of shard.symbolsOf(file)) {
      const row = shard.symbol(symbol);
      yield { rule: row.kind, read: () => symbolItem(shard, row) };
    }
    for (const row of shard.importsOf(file))
      yield { rule: 'import', read: () => importItem(shard, file, row) };
  }
}

function symbolItem(shard, row) {
  const { path: file_path, blob } = shard.file(row.file);
  const { kind: rule, line_start, line_end, name: symbol, signature: text } = row;
  const { container, exported, declaration, doc } = row;
  const place = { overlay: 'O1', rule, file_path, line_start, line_end, blob };
  return { ...place, symbol, text, container, exported, declaration, doc };
}

function importItem(shard, file, { target, names, line }) {
  const { path: file_path, blob } = shard.file(file);
  const place = {
    overlay: 'O1',
    rule: 'import',
    file_path,
    line_start: line,
    line_end: line,
    blob,
  };
  return {
    ...place,
    symbol: '',
    text: names.length === 0 ? target : `${target}: ${names.join(', ')}`,
  };
}

function* callsOf(shard) {
  for (let symbol = 0; symbol < shard.symbolCount; symbol += 1)
    for (const row of shard.callsFrom(symbol))
      yield { rule: `call:${row.kind}`, read: () => callItem(shard, row) };
  for (const row of shard.callsOutside())
    yield { rule: `call:${row.kind}`, read: () => callItem(shard, row) };
}

function* slotsOf(shard) {
  for (const slot of shard.slots()) yield { rule: 'slot', read: () => callItem(shard, slot) };
}

function callItem(shard, { callee, caller, file, line, kind, unused, receiver }) {
  const { path: file_path, blob } = shard.file(file);
  const from = caller < 0 ? '(file)' : shard.symbol(caller).name;
  const rule = kind === 'slot' ? 'slot' : `call:${kind}`;
  const text =
    kind === 'slot'
      ? `${callee} is put into ${receiver} in ${from}`
      : `${from} calls ${callee}${receiver === '' ? '' : ` on ${receiver}`}`;
  const place = { overlay: 'O3', rule, file_path, line_start: line, line_end: line, blob };
  return { ...place, symbol: callee, text, caller: from, unused };
}

/** Marsaglia's xorshift over 32 bits, after a multiplicative scramble of the seed; in [0, 1). */
function seededRandom(seed) {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

function byPlace(a, b) {
  if (a.file_path !== b.file_path) return a.file_path < b.file_path ? -1 : 1;
  return a.line_start - b.line_start;
}

/** `{line, cited, text}` of the lines around an item; a number instead of a text: lines left out. */
function sourceOf(root, { file_path, line_start, line_end }) {
  const lines = readFileSync(path.join(root, file_path), 'utf8').split('\n');
  const first = Math.max(line_start - linesAround, 1);
  const last = Math.min(line_end + linesAround, lines.length);
  const shown = [];
  for (let line = first; line <= last; line += 1) {
    const isInside = line >= line_start + headLines && line <= line_end - tailLines;
    if (isInside) continue;
    shown.push({
      line,
      cited: line >= line_start && line <= line_end,
      text: lines[line - 1] ?? '',
    });
  }
  return shown;
}

function printSample({ overlay, seed, of, items }) {
  const rows = items.map((item, at) => ({
    number: at + 1,
    ...item,
    source: sourceOf(tree.root, item),
  }));
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ overlay, seed, of, items: rows }, null, 1)}\n`);
    return;
  }
  process.stdout.write(`${overlay}: ${rows.length} of ${of} items, seed ${seed}\n`);
  for (const row of rows) {
    const { number, rule, file_path, line_start, line_end, symbol, text, source } = row;
    process.stdout.write(
      `\n#${number} ${rule} ${file_path}:${line_start}-${line_end}${symbol === '' ? '' : ` [${symbol}]`}\n`,
    );
    process.stdout.write(`   says: ${text}\n   ${describe(row)}\n`);
    let before = source[0]?.line ?? 0;
    for (const { line, cited, text: code } of source) {
      if (line > before + 1) process.stdout.write(`     ... ${line - before - 1} lines ...\n`);
      process.stdout.write(`${cited ? '>' : ' '} ${String(line).padStart(6)} ${code}\n`);
      before = line;
    }
  }
}

/** What an item says besides place and text. */
function describe(row) {
  const keys = [
    'subject',
    'severity',
    'cwe',
    'container',
    'exported',
    'declaration',
    'doc',
    'caller',
    'unused',
  ];
  return Object.entries(row)
    .filter(([key, value]) => keys.includes(key) && value !== '')
    .map(([key, value]) => `${key}: ${value}`)
    .join(' | ');
}

function printCounts(counts) {
  if (options.json) {
    process.stdout.write(`${JSON.stringify(counts, null, 1)}\n`);
    return;
  }
  for (const [overlay, { items, rules }] of Object.entries(counts)) {
    process.stdout.write(`${overlay} ${items}\n`);
    for (const [rule, count] of Object.entries(rules))
      process.stdout.write(`   ${String(count).padStart(9)} ${rule}\n`);
  }
}
