import type { Mode } from './mode.js';
import type { ModeName } from './strategies.js';

/** Every mode there is, loaded when the first review begins. */
export async function loadModes(): Promise<ReadonlyMap<ModeName, Mode>> {
  const modes: readonly Mode[] = await Promise.all([
    import('./modes/self-refine.js').then(({ selfRefine }) => selfRefine),
    import('./modes/steelman.js').then(({ steelman }) => steelman),
    import('./modes/inversion.js').then(({ inversion }) => inversion),
    import('./modes/constitutional.js').then(({ constitutional }) => constitutional),
    import('./modes/devils-advocate.js').then(({ devilsAdvocate }) => devilsAdvocate),
    import('./modes/pre-mortem.js').then(({ preMortem }) => preMortem),
    import('./modes/fmea.js').then(({ fmea }) => fmea),
    import('./modes/chain-of-verification.js').then(
      ({ chainOfVerification }) => chainOfVerification,
    ),
    import('./modes/llm-as-judge.js').then(({ llmAsJudge }) => llmAsJudge),
    import('./modes/red-team.js').then(({ redTeam }) => redTeam),
    import('./modes/standard.js').then(({ standard }) => standard),
  ]);
  return new Map(modes.map((mode) => [mode.name, mode]));
}
