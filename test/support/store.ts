import { systemClock } from '../../src/base/clock.js';
import type { Layout } from '../../src/store/layout.js';
import { busLayout } from '../../src/store/layouts.js';
import { LevelStore } from '../../src/store/level-store.js';

/** A real store, by default with the layout of the broker. */
export function openTestStore(folder: string, layout: Layout = busLayout): Promise<LevelStore> {
  return LevelStore.open(folder, { layout, clock: systemClock, random: Math.random });
}
