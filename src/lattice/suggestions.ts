import type { ShardIndex } from '../pgc/shard-index.js';

/** Functions of a shard that are weighed: the most called ones are found among any sample this large. */
const symbolsWeighedMax = 40_000;
const docCharsMin = 24;

interface Known {
  index: ShardIndex;
  name: string;
  sites: number;
}

/**
 * Three questions worth asking of a code base: what its most used documented function does, who uses
 * the next one, and how its strongest edge between two shards works. Fewer when there is less to ask.
 */
export function suggestQuestions(indexes: readonly ShardIndex[]): string[] {
  const documented = indexes
    .flatMap((index) => mostCalled(index))
    .sort((one, other) => other.sites - one.sites || (one.name < other.name ? -1 : 1));
  const [first, second] = distinct(documented);
  const edge = strongestEdge(indexes);
  return [
    first && `What does ${first.name} do?`,
    edge && `How does ${edge.from} use ${edge.name} of ${edge.to}?`,
    second && `Who calls ${second.name}?`,
  ].filter((each) => each !== undefined);
}

function distinct(known: Known[]): Known[] {
  return [...new Map(known.map((each) => [each.name, each])).values()];
}

function mostCalled(index: ShardIndex): Known[] {
  const found: Known[] = [];
  const weighed = Math.min(index.symbolCount, symbolsWeighedMax);
  for (let symbol = 0; symbol < weighed; symbol += 1) {
    const row = index.symbol(symbol);
    if (row.declaration || !row.exported || row.doc.length < docCharsMin) continue;
    if (row.kind !== 'function' && row.kind !== 'method') continue;
    // A name with several definitions has call sites that belong to the others.
    if (index.symbolsNamed(row.name).filter((each) => !index.symbol(each).declaration).length > 1)
      continue;
    const sites = index.callsTo(row.name).filter((call) => call.kind !== 'member').length;
    if (sites > 1) found.push({ index, name: row.name, sites });
  }
  return found.sort((one, other) => other.sites - one.sites).slice(0, 2);
}

function strongestEdge(
  indexes: readonly ShardIndex[],
): { from: string; to: string; name: string } | undefined {
  const owners = new Map<string, ShardIndex[]>();
  for (const index of indexes) {
    for (const name of index.defines()) owners.set(name, [...(owners.get(name) ?? []), index]);
  }
  let best: { from: string; to: string; name: string; sites: number } | undefined;
  for (const index of indexes) {
    for (const { name, sites } of index.unresolved()) {
      const targets = owners.get(name) ?? [];
      const target = targets[0];
      if (
        targets.length !== 1 ||
        target === undefined ||
        target === index ||
        sites <= (best?.sites ?? 0)
      )
        continue;
      if (!isDocumentedFunction(target, name)) continue;
      best = { from: index.info.alias, to: target.info.alias, name, sites };
    }
  }
  return best;
}

function isDocumentedFunction(index: ShardIndex, name: string): boolean {
  return index.symbolsNamed(name).some((each) => {
    const row = index.symbol(each);
    const isCallable = row.kind === 'function' || row.kind === 'method';
    return isCallable && !row.declaration && row.doc.length >= docCharsMin;
  });
}
