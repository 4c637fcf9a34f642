import type { Change } from './change.js';
import type { Loss } from './loss.js';
import {
  argumentsSwapped,
  awaitsLost,
  callsLost,
  handlersLost,
  resultsLost,
  secretsLogged,
} from './lost-calls.js';
import {
  assertionsLost,
  bordersMoved,
  boundsLost,
  checksLost,
  weaknessesAdded,
} from './lost-conditions.js';

/** Of one change. */
const lossesMax = 60;

/**
 * What the functions of both versions no longer do, and what the change adds that is dangerous by itself. What has moved
 * into another function of the file, or into one that is newly imported, is not lost.
 */
export function lossesIn(change: Change): Loss[] {
  const added = [...weaknessesAdded(change), ...secretsLogged(change)];
  if (change.isRewritten) return added.slice(0, lossesMax);
  const own = change.pairs.filter(({ isHandedOver }) => !isHandedOver);
  const found = [
    ...change.pairs.flatMap((pair) => [
      ...argumentsSwapped(change, pair),
      ...bordersMoved(change, pair),
    ]),
    ...own.flatMap((pair) => [
      ...assertionsLost(change, pair),
      ...awaitsLost(change, pair),
      ...resultsLost(change, pair),
      ...callsLost(change, pair),
      ...handlersLost(change, pair),
      ...checksLost(change, pair),
      ...boundsLost(change, pair),
    ]),
  ];
  return [...added, ...onePerPlace(found)].slice(0, lossesMax);
}

/** A line of the tree's version is reported once, by the first that names it. */
function onePerPlace(losses: readonly Loss[]): Loss[] {
  const seen = new Set<number>();
  return losses.filter(({ places: [place] }) => {
    if (place === undefined) return true;
    const { line, line_end = line } = place;
    if (seen.has(line)) return false;
    for (let at = line; at <= line_end; at += 1) seen.add(at);
    return true;
  });
}
