import type { ShardIndex } from '../../format/shard-index.js';
import type { Found } from '../../search/search.js';

export function symbolOf(each: Found): number | undefined {
  return each.kind === 'symbol' ? each.symbol : undefined;
}

/** The hits with these symbols behind the first `after` of them, as similar as the hit whose place they take. */
export function placed(
  index: ShardIndex,
  found: readonly Found[],
  after: number,
  symbols: readonly number[],
): Found[] {
  const lead = found.slice(0, after);
  const at = found[after] ?? found.at(-1);
  if (at === undefined) return [];
  const { score, known, similarity } = at;
  const hits = new Map(found.map((each) => [symbolOf(each), each]));
  const put = symbols.map((symbol): Found => {
    const its = hits.get(symbol);
    if (its !== undefined) return { ...its, similarity: Math.max(similarity, its.similarity) };
    return {
      ...{ kind: 'symbol', document: symbol, symbol, file: index.fileOf(symbol), similarity },
      ...{ score, known, attained: 0, context: 0, held: 0, exact: 0 },
    };
  });
  const isPut = new Set(symbols);
  return [
    ...lead,
    ...put,
    ...found.slice(after).filter((each) => !isPut.has(symbolOf(each) ?? -1)),
  ];
}
