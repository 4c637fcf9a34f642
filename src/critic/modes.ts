import type { Mode } from './mode.js';
import type { ModeName } from './strategies.js';

/** Every mode there is, loaded when the first review begins. */
export async function loadModes(): Promise<ReadonlyMap<ModeName, Mode>> {
  const modes: readonly Mode[] = await Promise.all([]);
  return new Map(modes.map((mode) => [mode.name, mode]));
}
