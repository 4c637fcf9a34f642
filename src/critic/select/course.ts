import { BusError } from '../../errors/bus-error.js';
import type {
  ContextVector,
  Criticality,
  Flag,
  SelectedMode,
  Selection,
  SelectionStep,
} from '../shapes.js';
import type { ModeName } from '../strategies.js';
import type { Filled } from './dimensions.js';
import { advisoryModes, tokensOf } from './tables.js';

/** As flags are listed. */
const levels = ['mandatory', 'recommended', 'warning', 'note'] as const;

/** What has been decided so far. Each step says what it did, and which modes are left after it. */
export class Course {
  readonly context: ContextVector;
  readonly novel: Filled['novel'];
  readonly steps: SelectionStep[] = [];
  criticality: Criticality;
  floor: Criticality = 'C1';
  modes: ModeName[] = [];
  isSinglePass = false;
  /** Instead of a review. */
  ends: 'end_session' | 'human_required' | 'refused' | undefined;
  readonly #flags: Flag[];
  #error = '';

  constructor({ context, flags, novel }: Filled) {
    this.context = context;
    this.novel = novel;
    this.criticality = context.criticality;
    this.#flags = [...flags];
  }

  step(step: string, text: string, modes: readonly ModeName[] = this.modes): void {
    this.modes = [...modes];
    this.steps.push({ step, text, modes: [...modes] });
  }

  flag(level: Flag['level'], code: string, text: string): void {
    this.#flags.push({ code, level, text });
  }

  add(flags: readonly Flag[]): void {
    this.#flags.push(...flags);
  }

  /** Nothing is applied; see `refusalOf`. */
  refuse(code: RefusalCode, error: string): void {
    this.ends = 'refused';
    this.#error = error;
    this.flag('mandatory', code, error);
    this.step('refuse', error, []);
  }

  answer(): Selection {
    const { context, criticality, floor, steps } = this;
    const modes = this.modes.map((mode) => this.#selected(mode));
    const flags = [...this.#flags].sort(
      (a, b) => levels.indexOf(a.level) - levels.indexOf(b.level),
    );
    const isAsked = flags.some(({ level }) => level === 'mandatory');
    return {
      outcome: this.ends ?? (isAsked ? 'human_required' : 'review'),
      ...{ criticality, floor, context, modes },
      tokens: modes.reduce((sum, { tokens }) => sum + tokens, 0),
      ...{ flags, steps, error: this.#error },
    };
  }

  #selected(mode: ModeName): SelectedMode {
    return {
      mode,
      tokens: tokensOf(mode),
      is_advisory: this.context.enforcement === 'ENF-MIN' && advisoryModes.includes(mode),
      is_single_pass: mode === 'constitutional' && this.isSinglePass,
    };
  }
}

const refusalCodes = ['REVIEW_NOT_PERMITTED', 'MODE_ORDER'] as const;
export type RefusalCode = (typeof refusalCodes)[number];

/** Why a selection is refused, as an error; undefined: it is not. */
export function refusalOf({ outcome, flags, error }: Selection): BusError | undefined {
  if (outcome !== 'refused') return undefined;
  const code = refusalCodes.find((each) => flags.some((flag) => flag.code === each));
  return new BusError(code ?? 'REVIEW_NOT_PERMITTED', { detail: error });
}
