import type { ItemFact } from '../facts.js';
import type { ItemSource } from './item.js';
import { mathematicsItems } from './mathematics.js';
import { missionItems } from './mission.js';
import { operationsItems } from './operations.js';
import { coherenceItems } from './coherence.js';
import { securityItems } from './security.js';

/** What O2 and O4 to O7 say of one text. */
export function itemsOf(source: ItemSource): ItemFact[] {
  return [
    ...securityItems(source),
    ...missionItems(source),
    ...operationsItems(source),
    ...mathematicsItems(source),
    ...coherenceItems(source),
  ];
}
