import type { ShardIndex } from './shard-index.js';
import type { Card, CardTerm } from './shapes.js';

/** Terms of a card's sketch. */
export const cardTermsMax = 20_000;

/** What a shard tells whoever routes questions. Costs a pass over the terms: callers keep it per index version. */
export function cardOf(index: ShardIndex): Card {
  const { info } = index;
  return {
    agent: info.agent,
    alias: info.alias,
    project: info.project,
    root: info.root,
    scope: info.scope,
    languages: info.languages,
    files: info.files,
    lines: info.lines,
    documents: index.documentCount,
    index_version: info.version,
    terms: sketch(index),
    defines: index.defines(),
    unresolved: index.unresolved().map((each) => ({ term: each.name, documents: each.sites })),
  };
}

/**
 * The terms that tell this shard from others best: frequent here, yet not in every document. A term in
 * n of N documents is worth n · ln(N / n), what it adds to the shard's own entropy.
 */
function sketch(index: ShardIndex): CardTerm[] {
  const total = Math.max(1, index.documentCount);
  const worth = ({ documents }: CardTerm): number => documents * Math.log((total + 1) / documents);
  const terms = index.terms();
  if (terms.length > cardTermsMax) {
    terms.sort((one, other) => worth(other) - worth(one) || (one.term < other.term ? -1 : 1));
    terms.length = cardTermsMax;
  }
  return terms.sort((one, other) => (one.term < other.term ? -1 : 1));
}
