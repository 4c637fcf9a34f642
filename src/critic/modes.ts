import type { Mode } from './mode.js';
import type { ModeName } from './strategies.js';

/** Every mode there is, loaded when the first review begins. */
export async function loadModes(): Promise<ReadonlyMap<ModeName, Mode>> {
  const modes: readonly Mode[] = await Promise.all([
    import('./modes/inversion.js').then(({ inversion }) => inversion),
    import('./modes/pre-mortem.js').then(({ preMortem }) => preMortem),
    import('./modes/fmea.js').then(({ fmea }) => fmea),
    import('./modes/red-team.js').then(({ redTeam }) => redTeam),
  ]);
  return new Map(modes.map((mode) => [mode.name, mode]));
}
