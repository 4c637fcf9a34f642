import { z } from 'zod';
import { LinearPattern } from '../../base/pattern/linear-pattern.js';
import { BusError } from '../../errors/bus-error.js';
import {
  analysisTypes,
  criticalities,
  evidenceLimits,
  overlayHints,
  runners,
  strategies,
  taskKinds,
  taskLimits,
  type Action,
  type Criterion,
  type DelegatedTask,
} from './shapes.js';

const limits = taskLimits;
const name = z.string().regex(/^[a-z0-9][a-z0-9_-]*$/, 'lower case letters, digits, _ and -');
const text = (charsMax: number): z.ZodString => z.string().max(charsMax);

const analysisHint = z.strictObject({
  type: z.enum(analysisTypes).describe('Which analysis the worker runs.'),
  target: text(limits.hintChars)
    .default('')
    .describe('A symbol or a file; of algebra_query the expression. dependency_check needs none.'),
  options: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      'blast_radius: max_depth, direction; algebra_query: none; see `sigma blast-radius --help`.',
    ),
});

/** How a task is grounded, as whoever delegates writes it. */
export const groundingSchema = z.strictObject({
  strategy: z
    .enum(strategies)
    .optional()
    .describe(
      'pgc_first: ask before anything is done; pgc_verify: verify what is proposed; pgc_cite: cite; none. Absent: chosen by the kind of the task.',
    ),
  analysis_hints: z
    .array(analysisHint)
    .max(limits.hints)
    .default([])
    .describe('Analyses that the worker shall run.'),
  algebra_expression: text(limits.expressionChars)
    .default('')
    .describe('Overlays combined: `O1 & O4`; see `sigma algebra --help`.'),
  overlay_hints: z
    .array(z.enum(overlayHints))
    .max(overlayHints.length)
    .default([])
    .describe('Overlays that matter most; each must be consulted, or a warning must say why not.'),
  query_hints: z
    .array(text(limits.hintChars).min(1))
    .max(limits.hints)
    .default([])
    .describe('Questions to ask the PGC first.'),
  evidence_required: z
    .boolean()
    .optional()
    .describe('Absent: required, unless the strategy is none.'),
});

const check = z.strictObject({
  cites_symbol: text(limits.hintChars)
    .default('')
    .describe('A verified citation holds this symbol.'),
  cites_file: text(limits.hintChars)
    .default('')
    .describe('A verified citation is of a file whose path ends so.'),
  pattern: text(limits.hintChars)
    .default('')
    .describe('A regular expression without look-around, which the result matches.'),
  citations_min: z
    .int()
    .min(0)
    .max(evidenceLimits.citations)
    .default(0)
    .describe('At least so many citations that were verified.'),
});

const criterion = z
  .union([
    text(limits.criterionChars).min(1).describe('A sentence: only a reader can tell.'),
    z
      .strictObject({
        text: text(limits.criterionChars).min(1).describe('The criterion in words.'),
        check: check.optional().describe('What a program can check of it.'),
      })
      .describe('A sentence with a check.'),
  ])
  .describe('When the task counts as done.');

const action = z.strictObject({
  argv: z
    .array(text(limits.argChars))
    .min(1)
    .max(limits.argv)
    .describe('Program and arguments; no shell reads them.'),
  cwd: text(limits.hintChars)
    .default('')
    .describe('Folder below the root of the executor; empty: the root.'),
  env: z
    .record(z.string().regex(/^[A-Za-z_]\w*$/), text(limits.argChars))
    .default({})
    .refine((each) => Object.keys(each).length <= limits.environment, {
      message: `at most ${limits.environment} variables`,
    })
    .describe('Variables of its environment.'),
  stdin: text(limits.stdinChars).default('').describe('What it reads from standard input.'),
  read_only: z
    .boolean()
    .default(false)
    .describe('It changes nothing that outlives it, and may be run again.'),
  idempotency_key: text(limits.idChars)
    .default('')
    .describe('It may be run again under this key, which it finds in its environment.'),
});

/** What may be delegated, as whoever delegates writes it: most of it may be left out. */
export const delegatedTaskSchema = z.strictObject({
  id: name.max(limits.idChars).optional().describe('Absent: made by the manager.'),
  task: text(limits.promptChars)
    .min(1)
    .describe('What is to be done, in words; of the runner prompt a prompt with its commands.'),
  acceptance_criteria: z
    .array(criterion)
    .max(limits.criteria)
    .default([])
    .describe('When it counts as done; each is judged on its own.'),
  context: text(limits.contextChars).default('').describe('What the worker should know besides.'),
  grounding: groundingSchema
    .nullish()
    .describe('How the PGC is used. Without it and without a kind, no evidence is asked for.'),
  kind: z
    .enum(taskKinds)
    .optional()
    .describe('What kind of work it is: says which strategy suits it when none is given.'),
  criticality: z
    .enum(criticalities)
    .default('C2')
    .describe('How much hangs on it. Of C3 and C4 a person decides whatever is doubtful.'),
  runner: z
    .enum(runners)
    .optional()
    .describe('Who does the work at the worker. Absent: command with an action, else answer.'),
  action: action.optional().describe('A program to run.'),
  depends_on: z
    .array(name.max(limits.idChars))
    .max(limits.dependencies)
    .default([])
    .describe('Ids of tasks that must be completed first.'),
  limits: z
    .strictObject({
      timeout_ms: z
        .int()
        .min(limits.timeoutMs.min)
        .max(limits.timeoutMs.max)
        .default(limits.timeoutMs.default)
        .describe('The whole task, all attempts together, in milliseconds.'),
      attempts_max: z
        .int()
        .min(1)
        .max(limits.attempts.max)
        .default(limits.attempts.default)
        .describe('Attempts that may fail before the task does.'),
      tokens: z
        .int()
        .min(0)
        .max(limits.tokensMax)
        .default(0)
        .describe('Of a language model, for all of it; 0: the usual.'),
    })
    .default({
      timeout_ms: limits.timeoutMs.default,
      attempts_max: limits.attempts.default,
      tokens: 0,
    })
    .describe('When it is given up.'),
  to: text(limits.idChars)
    .default('')
    .describe('Agent or alias that shall do it; empty: whoever can.'),
  pgc: text(limits.idChars)
    .default('')
    .describe('PGC agent that is asked; empty: the whole lattice.'),
  session: z
    .union([z.literal(''), name.max(limits.idChars)])
    .default('')
    .describe(
      'Approvals of risky actions are remembered for it; empty: the one of whoever delegates.',
    ),
  scope: z
    .array(text(limits.hintChars).min(1))
    .max(limits.scope)
    .default([])
    .describe('Files and folders that it is meant to change; none: all below the root.'),
  name: name
    .max(limits.nameChars)
    .or(z.literal(''))
    .default('')
    .describe('What others call it, in the queue that it stands in; absent: by its id.'),
  model: text(limits.modelChars)
    .default('')
    .describe('Language model, of the runner prompt; absent: the one that is configured.'),
  critique: z
    .boolean()
    .optional()
    .describe(
      'true: its result is reviewed by a critic, and revised, before it counts. Absent: where the policy of the manager wants it.',
    ),
});

/** A task as somebody wrote it, with all that was left out. Throws TASK_INVALID, which names the field. */
export function readTask(value: unknown, id: string): DelegatedTask {
  const parsed = delegatedTaskSchema.safeParse(value);
  if (!parsed.success) throw invalid(parsed.error);
  const { acceptance_criteria, grounding: given, critique, ...rest } = parsed.data;
  const task: DelegatedTask = {
    ...rest,
    // A no is no word: it switches off nothing that the policy wants.
    ...(critique === true && { critique }),
    id: rest.id ?? id,
    acceptance_criteria: acceptance_criteria.map(criterionOf),
    grounding:
      given === undefined || given === null
        ? null
        : {
            strategy: given.strategy ?? '',
            analysis_hints: given.analysis_hints.map(({ type, target, options }) => ({
              type,
              target,
              options: options === undefined ? '' : jsonOf(options),
            })),
            algebra_expression: given.algebra_expression,
            overlay_hints: given.overlay_hints,
            query_hints: given.query_hints,
            ...(given.evidence_required === undefined
              ? {}
              : { evidence_required: given.evidence_required }),
          },
    kind: rest.kind ?? '',
    action: rest.action ?? null,
    runner: rest.runner ?? (rest.action === undefined ? 'answer' : 'command'),
    clarifications: [],
    feedback: [],
  };
  return checked(task);
}

/** Another action in place of one; what is left out stays. Throws TASK_INVALID. */
export function readAction(value: object, before: Action | null): Action {
  const parsed = action.safeParse({ ...before, ...value });
  if (!parsed.success) throw wrong(`action.${detailOf(parsed.error)}`);
  return parsed.data;
}

const clarification = z.object({
  question: text(limits.clarificationChars),
  answer: text(limits.clarificationChars),
});
const story = z.object({
  clarifications: z.array(clarification).max(limits.clarifications),
  feedback: z.array(text(limits.feedbackChars)).max(limits.feedback),
});

/**
 * A task that came over the bus, by the rules of one that somebody wrote: a peer may send anything. What a peer leaves out
 * (an empty text, a 0) is what it is when left out there, but for the id. Throws TASK_INVALID, which names the field.
 */
export function readWireTask(decoded: DelegatedTask): DelegatedTask {
  const { clarifications, feedback, grounding: given, kind, ...rest } = decoded;
  const { criticality, runner, action: its, limits: bounds } = decoded as Partial<DelegatedTask>;
  const said = story.safeParse({ clarifications, feedback });
  if (!said.success) throw invalid(said.error);
  const written = {
    ...rest,
    acceptance_criteria: rest.acceptance_criteria.map(({ text: each, check: of }) => ({
      text: each,
      check: of ?? undefined,
    })),
    grounding: given && {
      ...given,
      strategy: given.strategy || undefined,
      analysis_hints: given.analysis_hints.map((hint) => ({
        ...hint,
        options: optionsOf(hint.options),
      })),
    },
    kind: kind || undefined,
    criticality: criticality || undefined,
    runner: runner || undefined,
    action: its ?? undefined,
    limits: {
      timeout_ms: bounds?.timeout_ms || undefined,
      attempts_max: bounds?.attempts_max || undefined,
      tokens: bounds?.tokens || undefined,
    },
  };
  return { ...readTask(written, ''), ...said.data };
}

function optionsOf(json: string): unknown {
  if (json === '') return undefined;
  if (json.length > taskLimits.optionsChars) throw tooLong(json);
  try {
    return JSON.parse(json);
  } catch {
    throw wrong('grounding.analysis_hints: options are no JSON');
  }
}

function jsonOf(options: object): string {
  try {
    return JSON.stringify(options);
  } catch (error) {
    // In a circle, or too deep.
    throw wrong(`grounding.analysis_hints: options: ${error instanceof Error ? error.name : ''}`);
  }
}

function tooLong(options: string): BusError {
  return wrong(`grounding.analysis_hints: options of ${options.length} characters`);
}

/** What one field alone cannot say. */
function checked(task: DelegatedTask): DelegatedTask {
  const { action: its, runner, depends_on, id, grounding: given } = task;
  if (runner !== 'prompt' && task.task.length > taskLimits.taskChars)
    throw wrong(`task: ${task.task.length} characters, at most ${taskLimits.taskChars}`);
  if (its === null && runner === 'command') throw wrong('action: the runner command needs one');
  if (its !== null && (runner === 'answer' || runner === 'model' || runner === 'prompt'))
    throw wrong(`action: the runner ${runner} runs nothing`);
  if (depends_on.includes(id)) throw wrong('depends_on: a task cannot wait for itself');
  for (const { type, target, options } of given?.analysis_hints ?? []) {
    if (target === '' && type !== 'dependency_check')
      throw wrong(`grounding.analysis_hints: ${type} needs a target`);
    if (options.length > taskLimits.optionsChars) throw tooLong(options);
  }
  const bytes = Buffer.byteLength(JSON.stringify(task));
  if (bytes > taskLimits.bytes) throw wrong(`${bytes} bytes in all, at most ${taskLimits.bytes}`);
  return task;
}

function criterionOf(value: z.output<typeof criterion>): Criterion {
  if (typeof value === 'string') return { text: value, check: null };
  const { text: said, check: its } = value;
  if (its !== undefined && its.pattern !== '') {
    try {
      new LinearPattern(its.pattern);
    } catch (error) {
      throw wrong(`acceptance_criteria: ${error instanceof Error ? error.message : 'bad pattern'}`);
    }
  }
  return { text: said, check: its ?? null };
}

function invalid(error: z.ZodError): BusError {
  return wrong(detailOf(error));
}

function wrong(detail: string): BusError {
  return new BusError('TASK_INVALID', { detail });
}

/** What is wrong, with the field. */
export function detailOf(error: z.ZodError): string {
  const [issue] = error.issues;
  const where = issue?.path.join('.') ?? '';
  return `${where}${where && ': '}${issue?.message ?? ''}`;
}
