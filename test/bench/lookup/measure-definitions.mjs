import { CSource } from '../kernel/c-source.mjs';
import { table } from '../kernel/figures.mjs';
import { definitionsOf } from './product.mjs';
import { Sample } from './random.mjs';
import { kindsOfTag, tagsOf } from './tags.mjs';

/**
 * Of 500 names: in the kernel nine names of ten are macros of register lists, and a plain sample would hold little
 * else. Within a kind every name that is defined once has the same chance.
 */
const shares = { f: 200, d: 100, s: 60, e: 50, v: 50, g: 20, t: 15, u: 5 };
/** So many are drawn for each that is wanted: names that turn out to be defined twice are passed over. */
const spare = 4;
const cFile = /\.[ch]$/;

/**
 * Definitions beside universal-ctags: recall on names that ctags has once, precision on names that we have once.
 * Agreed: the same kind in the same file, with ctags' line between the first and the last of ours.
 */
export async function measureDefinitions({ product, peers, seed, count, rulings }) {
  const size = (tag) => Math.round((shares[tag] * count) / 500);
  const tagFile = await peers.tags();
  const drawn = Object.fromEntries(
    Object.keys(shares).map((tag) => [tag, new Sample(seed, size(tag) * spare)]),
  );
  for await (const { name, tag } of tagsOf(tagFile, peers.root)) drawn[tag].add(name);
  const ours = await ourSample({ product, seed, size });
  const known = await rowsOf(tagFile, peers.root, [
    ...Object.values(drawn).flatMap((sample) => sample.values()),
    ...ours.map(({ name }) => name),
  ]);

  const source = new CSource(peers.root);
  const outcome = { recall: [], precision: [] };
  for (const tag of Object.keys(shares)) {
    const once = drawn[tag].values().filter((name) => known.get(name)?.length === 1);
    for (const name of once.slice(0, size(tag))) {
      const [row] = known.get(name);
      const found = (await definitionsOf(product.ports, name)).filter((each) => !each.declaration);
      const same = found.find((each) => isSame(each, row));
      outcome.recall.push(ruled({ row, tag, side: 'ctags', isAgreed: same !== undefined, found }));
      if (same !== undefined) outcome.recall.at(-1).isSameLine = same.line === row.line;
    }
  }
  for (const { tag, name, definition } of ours) {
    const rows = known.get(name) ?? [];
    const row = { name, tag, file: definition.file_path, line: definition.line };
    const isAgreed = rows.some((each) => isSame(definition, each));
    outcome.precision.push(ruled({ row, tag, side: 'ours', isAgreed, found: rows }));
  }
  return { figures: figuresOf(outcome), text: render(outcome) };

  /** Neither side is the truth where they differ: the text is, as it was read by hand. */
  function ruled(judged) {
    const { side, row, isAgreed } = judged;
    const ruling = isAgreed ? undefined : rulings.of('definition', side, row);
    const text = source.file(row.file)?.raw[row.line - 1]?.trim() ?? '';
    return { ...judged, ruling, text };
  }
}

function isSame(definition, { file, line, tag }) {
  return (
    definition.file_path === file &&
    kindsOfTag[tag].includes(definition.kind) &&
    definition.line <= line &&
    line <= definition.line_end
  );
}

/** Names that our index of C files has once, with their definition. */
async function ourSample({ product, seed, size }) {
  const samples = Object.fromEntries(
    Object.keys(shares).map((tag) => [tag, new Sample(seed + 1, size(tag) * spare)]),
  );
  for (const { index } of product.ports) {
    for (let symbol = 0; symbol < index.symbolCount; symbol += 1) {
      const row = index.symbol(symbol);
      if (!row.declaration && cFile.test(index.file(row.file).path))
        samples[tagOf(row)]?.add(row.name);
    }
    for (const name of index.symbolNames())
      if (samples.d.takes(name) && index.symbolsNamed(name).length === 0) samples.d.add(name);
  }
  const found = [];
  for (const [tag, sample] of Object.entries(samples)) {
    let missing = size(tag);
    for (const name of sample.values()) {
      const definitions = (await definitionsOf(product.ports, name)).filter(
        (each) => !each.declaration && cFile.test(each.file_path),
      );
      if (missing === 0) break;
      if (definitions.length !== 1) continue;
      found.push({ tag, name, definition: definitions[0] });
      missing -= 1;
    }
  }
  return found;
}

/** A constant is an enumerator, or a variable that is one. */
function tagOf({ kind, signature }) {
  if (kind === 'constant') return /\btype:/.test(signature) ? 'v' : 'e';
  return Object.keys(shares).find((tag) => kindsOfTag[tag][0] === kind);
}

async function rowsOf(tagFile, root, names) {
  const rows = new Map(names.map((name) => [name, []]));
  for await (const row of tagsOf(tagFile, root)) rows.get(row.name)?.push(row);
  return rows;
}

function figuresOf({ recall, precision }) {
  return { recall: shareOf(recall), precision: shareOf(precision) };
}

/** Raw: what the other side has. Ruled: with what the text says where the sides differ. */
function shareOf(rows) {
  const agreed = rows.filter(({ isAgreed }) => isAgreed).length;
  // Ruled `right`: the side that has it is right. For recall that is a definition that we lack.
  const isOurs = rows[0]?.side === 'ours';
  const right = rows.filter(({ ruling }) => ruling?.verdict === 'right').length;
  const wrong = rows.filter(({ ruling }) => ruling?.verdict === 'wrong').length;
  const ruled = isOurs ? (agreed + right) / rows.length : agreed / (rows.length - wrong);
  return { names: rows.length, agreed, raw: agreed / rows.length, ruled };
}

function render(outcome) {
  const head = ['KIND', 'NAMES', 'AGREED', 'RAW', 'RULED'];
  const rowsFor = (title, rows) =>
    [
      ...Object.keys(shares).map((tag) => [
        `${title}, ${kindsOfTag[tag][0]}${tag === 'e' ? ' (enumerator)' : ''}`,
        rows.filter((each) => each.tag === tag),
      ]),
      [`${title}, all`, rows],
    ].map(([name, these]) => {
      const { names, agreed, raw, ruled } = shareOf(these);
      return [name, names, agreed, raw.toFixed(3), ruled.toFixed(3)];
    });
  const { recall, precision } = outcome;
  const exact = recall.filter(({ isSameLine }) => isSameLine).length;
  const agreed = recall.filter(({ isAgreed }) => isAgreed).length;
  const differing = [...recall, ...precision].filter(({ isAgreed }) => !isAgreed);
  return [
    table([head, ...rowsFor('recall', recall), ...rowsFor('precision', precision)]),
    `of ${agreed} agreed in recall, ${exact} begin on the very line that ctags gives; the others a type or a body before`,
    ...differing.map(describe),
  ].join('\n');
}

function describe({ side, tag, row, found, ruling, text }) {
  const where = found.map(
    (each) => `${each.kind ?? each.tag} ${each.file_path ?? each.file}:${each.line}`,
  );
  return [
    `  only ${side.padEnd(5)} ${kindsOfTag[tag][0]} ${row.name}  ${row.file}:${row.line}  ${text.slice(0, 80)}`,
    `      the other side: ${where.slice(0, 3).join(', ') || 'nothing'}; ${ruling === undefined ? 'not ruled' : `${ruling.verdict}: ${ruling.reason}`}`,
  ].join('\n');
}
