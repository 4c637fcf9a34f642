import { z } from 'zod';
import { LinearPattern } from '../../base/pattern/linear-pattern.js';
import { BusError } from '../../errors/bus-error.js';
import { inOurWords, objectionIn } from '../../errors/objection.js';
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

/** How a task is grounded, as the delegating agent writes it. */
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
    .describe('Analyses that the worker runs.'),
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
    text(limits.criterionChars).min(1).describe('A sentence that a reader judges.'),
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

/** A task as the delegating agent writes it: most fields are optional. */
export const delegatedTaskSchema = z.strictObject({
  id: name.max(limits.idChars).optional().describe('Absent: made by the manager.'),
  task: text(limits.promptChars)
    .min(1)
    .describe('The work in words; for the runner prompt, a prompt with its commands.'),
  acceptance_criteria: z
    .array(criterion)
    .max(limits.criteria)
    .default([])
    .describe('Criteria of completion; each is judged on its own.'),
  context: text(limits.contextChars).default('').describe('Further information for the worker.'),
  grounding: groundingSchema
    .nullish()
    .describe('How the PGC is used. Without it and without a kind, no evidence is required.'),
  kind: z
    .enum(taskKinds)
    .optional()
    .describe('Kind of work: chooses the strategy when none is given.'),
  criticality: z
    .enum(criticalities)
    .default('C2')
    .describe('Criticality. For C3 and C4 a person decides doubtful results.'),
  runner: z
    .enum(runners)
    .optional()
    .describe('What runs the work at the worker. Absent: command with an action, else answer.'),
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
        .describe('Tokens of a language model for the whole task; 0: the default.'),
    })
    .default({
      timeout_ms: limits.timeoutMs.default,
      attempts_max: limits.attempts.default,
      tokens: 0,
    })
    .describe('Limits of time, attempts and tokens.'),
  to: text(limits.idChars)
    .default('')
    .describe('Agent or alias of the worker; empty: any suitable worker.'),
  pgc: text(limits.idChars)
    .default('')
    .describe('PGC agent that is asked; empty: the whole lattice.'),
  session: z
    .union([z.literal(''), name.max(limits.idChars)])
    .default('')
    .describe(
      'Session whose approvals of risky actions count; empty: that of the delegating agent.',
    ),
  scope: z
    .array(text(limits.hintChars).min(1))
    .max(limits.scope)
    .default([])
    .describe('Files and folders that the task may change; none: all below the root.'),
  name: name
    .max(limits.nameChars)
    .or(z.literal(''))
    .default('')
    .describe('Name in its queue; absent: its id.'),
  model: text(limits.modelChars)
    .default('')
    .describe('Language model, of the runner prompt; absent: the one that is configured.'),
  project: text(limits.hintChars)
    .min(1)
    .optional()
    .describe(
      'Code base that it is about: the name of a project, in which alone its citations are checked; or a folder in one, whose files go before those of other trees. Absent: the folder in which it is delegated.',
    ),
  critique: z
    .boolean()
    .optional()
    .describe(
      'true: its result is reviewed by a critic, and revised, before it counts. Absent: where the policy of the manager wants it.',
    ),
});

/** A task with the defaults of all absent fields. Throws TASK_INVALID, which names the field. */
export function readTask(value: unknown, id: string): DelegatedTask {
  const parsed = delegatedTaskSchema.safeParse(value, inOurWords);
  if (!parsed.success) throw invalid(parsed.error);
  const { acceptance_criteria, grounding: given, critique, project, ...rest } = parsed.data;
  const task: DelegatedTask = {
    ...rest,
    ...(project !== undefined && { project }),
    // `critique: false` cannot switch off a review that the policy requires.
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

/** Another action in place of one; absent fields stay. Throws TASK_INVALID. */
export function readAction(value: object, before: Action | null): Action {
  const parsed = action.safeParse({ ...before, ...value }, inOurWords);
  if (!parsed.success) throw wrong(`action.${objectionIn(parsed.error)}`);
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
 * A task that came over the bus, checked by the same rules, for a peer may send any bytes. An empty text or a 0 counts as absent, except for the id. Throws TASK_INVALID, which names the field.
 */
export function readWireTask(decoded: DelegatedTask): DelegatedTask {
  const { clarifications, feedback, grounding: given, kind, ...rest } = decoded;
  const { criticality, runner, action: its, limits: bounds } = decoded as Partial<DelegatedTask>;
  const said = story.safeParse({ clarifications, feedback }, inOurWords);
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
    // Circular, or nested too deep.
    throw wrong(`grounding.analysis_hints: options: ${error instanceof Error ? error.name : ''}`);
  }
}

function tooLong(options: string): BusError {
  return wrong(`grounding.analysis_hints: options of ${options.length} characters`);
}

/** Rules that span several fields. */
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
  return wrong(objectionIn(error));
}

function wrong(detail: string): BusError {
  return new BusError('TASK_INVALID', { detail });
}
