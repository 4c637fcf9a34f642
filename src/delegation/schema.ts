import { z } from 'zod';
import { LinearPattern } from '../base/pattern/linear-pattern.js';
import { BusError } from '../errors/bus-error.js';
import {
  analysisTypes,
  criticalities,
  evidenceLimits,
  legacyVersion,
  overlayHints,
  responseStatuses,
  runners,
  strategies,
  taskKinds,
  taskLimits,
  type Criterion,
  type DelegatedTask,
  type TaskResponse,
} from './shapes.js';

const limits = taskLimits;
const name = z.string().regex(/^[a-z0-9][a-z0-9_-]*$/, 'lower case letters, digits, _ and -');
const text = (charsMax: number): z.ZodString => z.string().max(charsMax);

const analysisHint = z.strictObject({
  type: z.enum(analysisTypes),
  target: text(limits.hintChars).default(''),
  options: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      'blast_radius: max_depth, direction; algebra_query: none; see `sigma blast-radius --help`.',
    ),
});

const grounding = z.strictObject({
  strategy: z.enum(strategies).optional().describe('Absent: chosen by the kind of the task.'),
  analysis_hints: z.array(analysisHint).max(limits.hints).default([]),
  algebra_expression: text(limits.expressionChars).default(''),
  overlay_hints: z.array(z.enum(overlayHints)).max(overlayHints.length).default([]),
  query_hints: z.array(text(limits.hintChars).min(1)).max(limits.hints).default([]),
  evidence_required: z
    .boolean()
    .optional()
    .describe('Absent: required, unless the strategy is none.'),
});

const check = z.strictObject({
  cites_symbol: text(limits.hintChars).default(''),
  cites_file: text(limits.hintChars).default(''),
  pattern: text(limits.hintChars).default('').describe('A regular expression without look-around.'),
  citations_min: z.int().min(0).max(evidenceLimits.citations).default(0),
});

const criterion = z.union([
  text(limits.criterionChars).min(1),
  z.strictObject({ text: text(limits.criterionChars).min(1), check: check.optional() }),
]);

const action = z.strictObject({
  argv: z.array(text(limits.argChars)).min(1).max(limits.argv),
  cwd: text(limits.hintChars).default(''),
  env: z
    .record(z.string().regex(/^[A-Za-z_]\w*$/), text(limits.argChars))
    .default({})
    .refine((each) => Object.keys(each).length <= limits.environment, {
      message: `at most ${limits.environment} variables`,
    }),
  stdin: text(limits.stdinChars).default(''),
  read_only: z.boolean().default(false),
  idempotency_key: text(limits.idChars).default(''),
});

/** What may be delegated, as whoever delegates writes it: most of it may be left out. */
export const delegatedTaskSchema = z.strictObject({
  id: name.max(limits.idChars).optional().describe('Absent: made by the manager.'),
  task: text(limits.taskChars).min(1),
  acceptance_criteria: z.array(criterion).max(limits.criteria).default([]),
  context: text(limits.contextChars).default(''),
  grounding: grounding.nullish(),
  kind: z.enum(taskKinds).optional(),
  criticality: z.enum(criticalities).default('C2'),
  runner: z.enum(runners).optional(),
  action: action.optional(),
  depends_on: z.array(name.max(limits.idChars)).max(limits.dependencies).default([]),
  limits: z
    .strictObject({
      timeout_ms: z
        .int()
        .min(limits.timeoutMs.min)
        .max(limits.timeoutMs.max)
        .default(limits.timeoutMs.default),
      attempts_max: z.int().min(1).max(limits.attempts.max).default(limits.attempts.default),
    })
    .default({ timeout_ms: limits.timeoutMs.default, attempts_max: limits.attempts.default }),
  to: text(limits.idChars).default(''),
  pgc: text(limits.idChars).default(''),
});

/** A task as somebody wrote it, with all that was left out. Throws TASK_INVALID, which names the field. */
export function readTask(value: unknown, id: string): DelegatedTask {
  const parsed = delegatedTaskSchema.safeParse(value);
  if (!parsed.success) throw invalid(parsed.error);
  const { acceptance_criteria, grounding: given, ...rest } = parsed.data;
  const task: DelegatedTask = {
    ...rest,
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
  if (its === null && runner === 'command') throw wrong('action: the runner command needs one');
  if (its !== null && (runner === 'answer' || runner === 'model'))
    throw wrong(`action: the runner ${runner} runs nothing`);
  if (depends_on.includes(id)) throw wrong('depends_on: a task cannot wait for itself');
  for (const { type, target, options } of given?.analysis_hints ?? []) {
    if (target === '' && type !== 'dependency_check')
      throw wrong(`grounding.analysis_hints: ${type} needs a target`);
    if (options.length > taskLimits.optionsChars) throw tooLong(options);
  }
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

const citation = z.looseObject({
  overlay: z.string().default(''),
  content: z.string().default(''),
  relevance: z.string().default(''),
  file_path: z.string().default(''),
  line_start: z.int().min(0).default(0),
  line_end: z.int().min(0).default(0),
  symbol: z.string().default(''),
  blob: z.string().default(''),
  agent: z.string().default(''),
  similarity: z.number().optional(),
});

/**
 * What a worker answers. Beyond the limits of the protocol (citations, characters) it is still understood: the review
 * names what breaks them.
 */
export const taskResponseSchema = z.looseObject({
  task_id: z.string().min(1),
  status: z.enum(responseStatuses),
  result: text(limits.resultChars).default(''),
  grounding_evidence: z
    .looseObject({
      queries_executed: z.array(z.string()).default([]),
      overlays_consulted: z.array(z.string()).default([]),
      citations: z.array(citation).default([]),
      grounding_confidence: z.enum(['high', 'medium', 'low']).default('low'),
      overlay_warnings: z.array(z.string()).default([]),
    })
    .nullish(),
  reason: z.string().default(''),
  errors: z
    .array(
      z.looseObject({ code: z.string(), text: z.string(), retryable: z.boolean().default(false) }),
    )
    .default([]),
  protocol_version: z.string().default(legacyVersion),
  clarification_request: text(limits.hintChars * 4).default(''),
  attempt: z.int().min(0).default(0),
  partial: z.boolean().default(false),
  files_modified: z.array(z.string()).default([]),
});

/** Of a worker that writes JSON. Throws MALFORMED_PAYLOAD. */
export function readResponse(value: unknown): TaskResponse {
  const parsed = taskResponseSchema.safeParse(value);
  if (!parsed.success) throw new BusError('MALFORMED_PAYLOAD', { detail: detailOf(parsed.error) });
  const { grounding_evidence } = parsed.data;
  return {
    ...parsed.data,
    grounding_evidence: grounding_evidence ?? null,
    usage: null,
  } as TaskResponse;
}

function invalid(error: z.ZodError): BusError {
  return wrong(detailOf(error));
}

function wrong(detail: string): BusError {
  return new BusError('TASK_INVALID', { detail });
}

function detailOf(error: z.ZodError): string {
  const [issue] = error.issues;
  const where = issue?.path.join('.') ?? '';
  return `${where}${where && ': '}${issue?.message ?? ''}`;
}
