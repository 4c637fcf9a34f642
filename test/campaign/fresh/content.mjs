// What an index says, row by row, in any files: two indexes of one tree must say the same.
import { createHash } from 'node:crypto';
import { openIndex } from '../../bench/lookup/product.mjs';

/** Overlays that have files of their own. */
const filedOverlays = ['O2', 'O3', 'O4', 'O5', 'O6', 'O7'];
/** Files of which the differing rows are looked at, and rows that are told of a kind. */
const explainedFilesMax = 20;
const toldMax = 12;

/**
 * Compares the indexes of a tree in two homes: `{ kinds, examples, drift }`. `kinds`: of each kind of row how many there are,
 * and how many files or names have other ones. `drift`: the largest difference in the number of documents that a term is in,
 * as a share of the documents of the shards.
 */
export async function compared(root, kept, made) {
  const trees = [await openIndex(root, kept), await openIndex(root, made)];
  const [one, other] = [await summed(trees[0]), await summed(trees[1])];
  const kinds = {};
  const differing = [];
  for (const kind of new Set([...one.keys(), ...other.keys()])) {
    const [ours, theirs] = [one.get(kind) ?? new Map(), other.get(kind) ?? new Map()];
    const places = [...new Set([...ours.keys(), ...theirs.keys()])];
    const unlike = places.filter((place) => ours.get(place)?.sum !== theirs.get(place)?.sum);
    const rows = [...theirs.values()].reduce((total, { count }) => total + count, 0);
    kinds[kind] = { rows, places: places.length, unlike: unlike.length };
    differing.push(...unlike.slice(0, explainedFilesMax).map((place) => `${kind}\0${place}`));
  }
  const examples = differing.length === 0 ? [] : await explained(trees, new Set(differing));
  return { kinds, examples, drift: driftOf(...trees) };
}

/** Of each kind and place the sum of the digests of its rows: the order does not count, how often a row comes does. */
async function summed(tree) {
  const kinds = new Map();
  for await (const [kind, place, text] of rowsOf(tree)) {
    let places = kinds.get(kind);
    if (places === undefined) kinds.set(kind, (places = new Map()));
    const its = places.get(place) ?? { sum: 0n, count: 0 };
    const digest = createHash('md5').update(text).digest().readBigUInt64LE();
    places.set(place, { sum: (its.sum + digest) & 0xffffffffffffffffn, count: its.count + 1 });
  }
  return kinds;
}

async function explained(trees, wanted) {
  const found = [];
  for (const tree of trees) {
    const rows = new Map();
    for await (const [kind, place, text] of rowsOf(tree)) {
      const key = `${kind}\0${place}`;
      if (!wanted.has(key)) continue;
      if (!rows.has(key)) rows.set(key, new Map());
      rows.get(key).set(text, (rows.get(key).get(text) ?? 0) + 1);
    }
    found.push(rows);
  }
  const told = [];
  for (const key of wanted) {
    const [ours, theirs] = found.map((rows) => rows.get(key) ?? new Map());
    const surplus = (all, others) =>
      [...all].filter(([text, count]) => count > (others.get(text) ?? 0)).map(([text]) => text);
    const [kind, place] = key.split('\0');
    told.push({
      kind,
      place,
      kept: surplus(ours, theirs).slice(0, toldMax),
      made: surplus(theirs, ours).slice(0, toldMax),
    });
  }
  return told;
}

/** `[kind, file or name, row]`. */
async function* rowsOf(tree) {
  /** A shard has those pairs that concern it, and which they are depends on the cut. */
  const pairs = new Set();
  for (const index of tree.shards) {
    yield* rowsOfShard(index);
    for (const [what, by] of index.bound?.implementations() ?? []) {
      const [one, other] = [targetText(index, what), targetText(index, by)];
      if (pairs.has(`${one} ${other}`)) continue;
      pairs.add(`${one} ${other}`);
      yield ['implementations', index.bound.target(what).path, `${one} by ${other}`];
    }
  }
  for (const name of filedOverlays)
    for (const file of await tree.overlay(name))
      for (const item of file.items()) yield [name, item.file_path, JSON.stringify(item)];
}

function* rowsOfShard(index) {
  const pathOf = (file) => index.file(file).path;
  for (let file = 0; file < index.fileCount; file += 1) {
    const { path, ...row } = index.file(file);
    yield ['files', path, `${index.info.alias} ${JSON.stringify(row)}`];
    for (const its of index.importsOf(file)) yield ['imports', path, JSON.stringify(its)];
    for (const { symbol, ...its } of index.typesOf(file))
      yield ['types', path, `${symbolText(index, symbol)} ${JSON.stringify(its)}`];
  }
  for (let symbol = 0; symbol < index.symbolCount; symbol += 1) {
    const { file, ...row } = index.symbol(symbol);
    const marks = `${index.isTest(symbol)} ${index.isDocumented(symbol)}`;
    yield ['symbols', pathOf(file), `${JSON.stringify(row)} ${marks}`];
  }
  for (let id = 0; id < index.siteCount; id += 1) {
    const { file, caller, id: _, ...row } = index.site(id);
    const path = pathOf(file);
    const place = `${symbolText(index, caller)} ${JSON.stringify(row)} ${index.expressionOf(id)}`;
    yield ['sites', path, place];
    if (index.bound === undefined) continue;
    const targets = index.bound.targetsOf(id).map((target) => targetText(index, target));
    const text = `${place} ${index.bound.bindingOf(id)} ${targets.sort().join(' ')}`;
    yield ['bindings', path, text];
  }
  for (const { file, caller, id: _, ...row } of index.slots())
    yield ['slots', pathOf(file), `${symbolText(index, caller)} ${JSON.stringify(row)}`];
  for (const { term } of index.terms()) {
    const rows = [];
    index.postings(term, (document, field, count) => rows.push([document, field, count]));
    for (const [document, field, count] of rows) {
      const { path, text } = documentText(index, document);
      yield ['words', path, `${term} ${field} ${count} ${text}`];
    }
  }
}

function documentText(index, document) {
  const path = index.file(index.fileOf(document)).path;
  return { path, text: document < index.symbolCount ? symbolText(index, document) : '' };
}

function symbolText(index, symbol) {
  if (symbol < 0) return '-';
  const { name, container, kind, line_start } = index.symbolPlace(symbol);
  return `${kind} ${container}.${name}:${line_start}`;
}

function targetText(index, id) {
  const { path, container, name, kind, line } = index.bound.target(id);
  return `${path}#${kind} ${container}.${name}:${line}`;
}

/** What ranks an answer beside its words: it may be a little behind. */
function driftOf(...trees) {
  const [ours, theirs] = trees.map(({ shards }) => {
    const documents = new Map();
    let count = 0;
    for (const index of shards) {
      count += index.documentCount;
      for (const { term, documents: its } of index.terms())
        documents.set(term, (documents.get(term) ?? 0) + its);
    }
    return { documents, count };
  });
  let most = Math.abs(ours.count - theirs.count);
  for (const [term, count] of theirs.documents)
    most = Math.max(most, Math.abs(count - (ours.documents.get(term) ?? 0)));
  return most / Math.max(1, theirs.count);
}
