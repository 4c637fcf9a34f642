import type { Field } from '../../src/pgc/format/fields.js';
import type { ShardIndex } from '../../src/pgc/format/shard-index.js';

/** All that an index says. */
export function said(index: ShardIndex): unknown {
  const files = Array.from({ length: index.fileCount }, (_, file) => file);
  const symbols = Array.from({ length: index.symbolCount }, (_, symbol) => symbol);
  const sites = Array.from({ length: index.siteCount }, (_, site) => site);
  const documents = Array.from({ length: index.documentCount }, (_, document) => document);
  const names = [...index.names()].filter(
    (name) =>
      index.symbolsNamed(name).length + index.callsTo(name).length + index.usesOf(name).length > 0,
  );
  const fields = [0, 1, 2, 3, 4] as Field[];
  const terms = index.terms();
  const postings = terms.map(({ term, documents: count }) => {
    const found: number[][] = [];
    index.postings(term, (...posting) => found.push(posting));
    return [term, count, index.documentFrequency(term), found];
  });
  const { vectors } = index;
  return {
    files: files.map((file) => [
      ...[index.file(file), index.fileAt(index.file(file).path), index.symbolsOf(file)],
      ...[index.importsOf(file), index.typesOf(file), [...index.ownTypesOf(file)]],
      index.siteSpans(file).filter(([first, end]) => first < end),
      index.slotsIn(file),
    ]),
    symbols: symbols.map((symbol) => [
      ...[index.symbol(symbol), index.symbolPlace(symbol), index.isTest(symbol)],
      ...[index.isDocumented(symbol), index.nameAt(index.outline(symbol).name)],
      ...[index.outline(symbol).kind, index.callsFrom(symbol), index.fileOf(symbol)],
      ...[index.typesOfSymbol(symbol), index.nameHashes()[index.outline(symbol).name]],
    ]),
    sites: sites.map((site) => [index.site(site), index.expressionOf(site)]),
    tables: [[...index.calls()], [...index.uses()], index.callsOutside(), [...index.slots()]],
    names: names.map((name) => [
      ...[name, index.symbolsNamed(name), index.callsTo(name), index.usesOf(name)],
      ...[index.slotsOf(name), index.scannedNamed(name)],
    ]),
    byName: [[...index.symbolsByName()], [...index.callsByName()]],
    some: [...index.slots((name) => name.length % 2 === 0)],
    sums: [
      index.callCount,
      index.items,
      index.defines(),
      index.unresolved(),
      new Set(index.symbolNames()),
    ],
    postings,
    lengths: documents.map((document) => fields.map((field) => index.length(document, field))),
    averages: fields.map((field) => [index.averageLength(field), index.lengthSum(field)]),
    documents: documents.map((document) => index.fileOf(document)),
    vectors: [[...vectors.symbols], [...vectors.rows]],
  };
}
