import { isHeader } from '../bind/c-visibility.js';
import type { NameMatcher } from '../search/name-matcher.js';
import type { ShardIndex } from '../format/shard-index.js';
import type { Node } from './hop-report.js';

/** Functions that one hop names: as many as six agents can name in one answer that a person reads. */
const namedMax = 6;
/** How much more the best entry counts than the others: a question means one place, and search finds many. */
const entryContrast = 3;
/** What a further function of a file is worth after each that was named: a chain leads from place to place. */
const furtherShare = 0.3;
/** What a function keeps whose name says nothing of the question. */
const unspokenShare = 0.5;
/** What a header holds only passes on. */
const headerShare = 0.4;
/** Of the strongest, among which is chosen. */
const candidatesMax = 200;

/** The functions of a walk that are worth naming, best first, spread over the files. */
export function worthNaming(
  index: ShardIndex,
  matcher: NameMatcher,
  nodes: readonly Node[],
): Node[] {
  const candidates = nodes
    .flatMap((node) => {
      const { name, kind, file, declaration } = index.symbolPlace(node.symbol);
      if (declaration || !/^(?:function|method|macro)$/.test(kind)) return [];
      const spoken = unspokenShare + (1 - unspokenShare) * matcher.match(name);
      const place = isHeader(index.file(file).path) ? headerShare : 1;
      const worth =
        node.strength * node.entry ** entryContrast * spoken * place * matcher.specificity(name);
      return [{ node, file, worth }];
    })
    .sort((one, other) => other.worth - one.worth || one.node.symbol - other.node.symbol)
    .slice(0, candidatesMax);
  const chosen: Node[] = [];
  while (chosen.length < namedMax) {
    const best = candidates.reduce<(typeof candidates)[number] | undefined>(
      (known, each) => (each.worth > (known?.worth ?? 0) ? each : known),
      undefined,
    );
    if (best === undefined) break;
    chosen.push(best.node);
    for (const each of candidates) if (each.file === best.file) each.worth *= furtherShare;
    best.worth = 0;
  }
  return chosen;
}
