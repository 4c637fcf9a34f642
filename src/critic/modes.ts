import type { Mode } from './mode.js';
import { chainOfVerification } from './modes/chain-of-verification.js';
import { constitutional } from './modes/constitutional.js';
import { devilsAdvocate } from './modes/devils-advocate.js';
import { fmea } from './modes/fmea.js';
import { inversion } from './modes/inversion.js';
import { llmAsJudge } from './modes/llm-as-judge.js';
import { preMortem } from './modes/pre-mortem.js';
import { redTeam } from './modes/red-team.js';
import { selfRefine } from './modes/self-refine.js';
import { standard } from './modes/standard.js';
import { steelman } from './modes/steelman.js';
import type { ModeName } from './strategies.js';

const all: readonly Mode[] = [
  selfRefine,
  steelman,
  inversion,
  constitutional,
  devilsAdvocate,
  preMortem,
  fmea,
  chainOfVerification,
  llmAsJudge,
  redTeam,
  standard,
];

/** Every mode there is, by its name. */
export const modes: ReadonlyMap<ModeName, Mode> = new Map(all.map((mode) => [mode.name, mode]));
