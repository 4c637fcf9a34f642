import type { Ground } from './ground.js';
import type { TextName } from '../model/texts.js';
import type { Plain, sigma } from '../wire/codec.js';
import type { Artifact, ContextVector, ModeReport, Section } from './shapes.js';
import type { ModeName } from './strategies.js';

/** A dimension of a score. Weights of one mode are 1 together. */
export interface Weighted {
  name: string;
  weight: number;
}

/** A file of rules that an artifact must follow. */
export type RuleFile = Plain<sigma.critic.RuleFile, { named?: string }>;

/** What a mode may know of one before it: never what it scored. */
export type EarlierReport = Omit<ModeReport, 'score'>;

/** What a mode is given. */
export interface ModeInput {
  artifact: Artifact;
  context: ContextVector;
  /** Of the modes before it, in their order. The judge's own earlier scores are never among them. */
  before: readonly EarlierReport[];
  /** Undefined: nothing is known of any code; what needs it is said to be undone. */
  ground: Ground | undefined;
  rules: readonly RuleFile[];
  /** Asked for beside those of the mode: words, or the forms of a rule, one a line; see `rules/read-criteria.ts`. */
  criteria?: string;
  /** Ends with MODE_TIMED_OUT, or CANCELLED. */
  signal: AbortSignal;
  /** Kept whenever something is found: what is told of a mode that is cut by its time. */
  partial: (found: Partial<Examined>) => void;
}

/** What a mode found; the pipeline writes the rest of its report. */
export type Examined = Pick<
  ModeReport,
  'sections' | 'findings' | 'score' | 'claims' | 'unable' | 'abort' | 'dropped'
> & {
  /** Why that nothing was found says less than it seems: there was nothing to look at, or a rule could not be read. */
  gap?: 'NOTHING_LOOKED_AT' | 'RULES_UNREAD';
};

/** What a model that failed leaves undone begins so in `unable`. */
export const toAskModel = 'to ask the model: ';
/** So ends in `unable` what no rule decides; a model that was asked has done it. */
export const forReader = ': a reader or a model has to';

/** One way to look at an artifact: what it asks, and what it does without a model. */
export interface Mode {
  name: ModeName;
  /** What it scores an artifact by; absent: it scores nothing. */
  dimensions?: readonly Weighted[];
  /** Titles, in the order in which they are written. */
  sections: readonly string[];
  /** Those of them that may be left out. */
  optionalSections?: readonly string[];
  /** What a model is asked in this mode, in words of its own; see `src/model/texts`. */
  text: TextName;
  /**
   * By rules alone, deterministic: the same input gives the same findings. What it cannot do without a model, or without
   * an index, stands in `unable`; it says nothing that it cannot show.
   */
  examine(input: ModeInput): Promise<Examined>;
  /**
   * Sections that tell figures, written anew when a model has added findings and scores: its own words for them do not
   * count. `examined.sections` are those of the rules.
   */
  retold?(examined: Examined, input: ModeInput): Section[];
  /** What is wrong with the words of a model in this mode, beside its missing sections; a complaint each. */
  check?(examined: Examined, input: ModeInput): string[];
}
