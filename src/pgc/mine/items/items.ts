import type { ItemFact } from '../../format/facts.js';
import { Items, type ItemSource } from './item.js';
import { mathematicsItems } from './mathematics.js';
import { missionItems } from './mission.js';
import { operationsItems } from './operations.js';
import type { RulesInForce } from './rules-in-force.js';
import { coherenceItems } from './coherence.js';
import { securityItems } from './security.js';

/** The rule of the item that says that the items of an overlay could not be made. */
export const failedRule = 'generator-failed';
/** Larger texts are generated or tables: of a document the beginning is read, others are skipped. */
export const itemCharsMax = 4 * 1024 * 1024;
const documents: ReadonlySet<string> = new Set(['markdown', 'rst', 'text']);

interface ItemGenerator {
  overlay: number;
  find: (source: ItemSource, rules: RulesInForce) => ItemFact[];
}

const itemGenerators: readonly ItemGenerator[] = [
  { overlay: 2, find: securityIn },
  { overlay: 4, find: missionItems },
  { overlay: 5, find: operationsItems },
  { overlay: 6, find: mathematicsItems },
  { overlay: 7, find: coherenceItems },
];

/** What O2 and O4 to O7 say of one text. One that fails leaves the others, and an item of `failedRule`. */
export function itemsOf(
  whole: ItemSource,
  rules: RulesInForce,
  generators = itemGenerators,
): ItemFact[] {
  if (whole.text.length > itemCharsMax && !documents.has(whole.language)) return [];
  const source = { ...whole, text: whole.text.slice(0, itemCharsMax) };
  return generators.flatMap(({ overlay, find }) => {
    try {
      return find(source, rules);
    } catch (error) {
      const failed = new Items(source, overlay);
      failed.add(failedRule, 0, 1, error instanceof Error ? error.message : String(error));
      return failed.found;
    }
  });
}

function securityIn(source: ItemSource, { rules, off }: RulesInForce): ItemFact[] {
  return securityItems(source, rules).filter(
    ({ rule }) => !off.includes(`${source.language}/${rule}`),
  );
}
