import { z } from 'zod';
import { jsonSchemaOf } from '../../delegation/task/json-schema.js';
import { evidenceSchema } from '../../delegation/task/response.js';
import { delegatedTaskSchema, groundingSchema } from '../../delegation/task/schema.js';
import { taskLimits } from '../../delegation/task/shapes.js';
import { BusError } from '../../errors/bus-error.js';
import { inOurWords, objectionIn } from '../../errors/objection.js';

export const todoStatuses = ['pending', 'in_progress', 'delegated', 'completed'] as const;
export type TodoStatus = (typeof todoStatuses)[number];

/** Beyond these limits an update is refused. Only the result of a worker is cut. */
export const todoLimits = {
  documentBytes: 1024 * 1024,
  /** Entries of one list. Completed entries make room for new ones. */
  todos: 200,
  listBytes: 4 * 1024 * 1024,
  idChars: 96,
  summaryChars: { min: 15, max: 16_000 },
} as const;

const idText = z
  .string()
  .max(todoLimits.idChars)
  .regex(/^[A-Za-z0-9][\w.-]*$/, 'letters, digits, ".", "_" and "-"');

/** Fields of a task that a list entry has no field of its own for. */
const workSchema = z
  .strictObject(
    delegatedTaskSchema.pick({
      ...{ acceptance_criteria: true, kind: true, criticality: true, runner: true, action: true },
      ...{ depends_on: true, limits: true, pgc: true, scope: true },
    }).shape,
  )
  .partial();

const groundingOfEntry = groundingSchema.extend({
  evidence_required: z
    .union([z.boolean(), z.enum(['true', 'false'])])
    .optional()
    .describe('Absent: required, unless the strategy is none.'),
});

const todoSchema = z.strictObject({
  id: idText.describe(
    'Id of the entry; an update of a known entry changes the fields that it names.',
  ),
  content: z
    .string()
    .min(1)
    .max(taskLimits.taskChars)
    .optional()
    .describe('What is to be done. A new entry needs it.'),
  activeForm: z
    .string()
    .max(taskLimits.criterionChars)
    .optional()
    .describe('The same, as it goes on.'),
  status: z
    .enum(todoStatuses)
    .describe('One entry at most is in_progress; delegated hands it to delegated_to.'),
  acceptance_criteria: z
    .array(z.string().min(1).max(taskLimits.criterionChars))
    .max(taskLimits.criteria)
    .optional()
    .describe('When it counts as done. A delegated entry needs one.'),
  delegated_to: z
    .string()
    .max(taskLimits.idChars)
    .optional()
    .describe('Agent or alias that does the work. A delegated entry needs it.'),
  context: z
    .string()
    .max(taskLimits.contextChars)
    .optional()
    .describe('Further information for the worker.'),
  delegate_session_id: z
    .string()
    .max(taskLimits.idChars)
    .optional()
    .describe('Kept for the caller; it decides nothing.'),
  work: workSchema
    .optional()
    .describe('What else the task is, as in `sigma delegate --schema`: a runner, an action, …'),
  grounding: groundingOfEntry.optional().describe('How its worker uses the PGC.'),
  grounding_evidence: evidenceSchema.optional().describe('What it rests on, once completed.'),
  result_summary: z
    .string()
    .max(todoLimits.summaryChars.max)
    .optional()
    .describe(
      `What came of it. A completed entry needs ${todoLimits.summaryChars.min} characters.`,
    ),
});

const groundingOf = groundingOfEntry.extend({ id: idText.describe('The entry that it is of.') });

const evidenceOf = evidenceSchema.extend({ id: idText.describe('The entry that it is of.') });

/** An update of an agent's list: entries, and by id their grounding and evidence. */
export const todoUpdateSchema = z.strictObject({
  todos: z
    .array(todoSchema)
    .max(todoLimits.todos)
    .describe('New or changed entries; the others stay as they are.'),
  grounding: z
    .array(groundingOf)
    .max(todoLimits.todos)
    .default([])
    .describe('The same as `grounding` of the entries, in a list of its own.'),
  grounding_evidence: z
    .array(evidenceOf)
    .max(todoLimits.todos)
    .default([])
    .describe('The same as `grounding_evidence` of the entries, in a list of its own.'),
});

export type TodoUpdateDocument = z.output<typeof todoUpdateSchema>;
export type Grounding = z.output<typeof groundingOfEntry>;
export type Work = z.output<typeof workSchema>;

export function todoUpdateJsonSchema(): object {
  return jsonSchemaOf(todoUpdateSchema, 'SigmaTaskUpdate');
}

/** Reads a document. Throws TASK_UPDATE_INVALID, which names the field, and TOO_LARGE. */
export function readTodoUpdate(json: Uint8Array): TodoUpdateDocument {
  if (json.byteLength > todoLimits.documentBytes)
    throw new BusError('TOO_LARGE', {
      ...{ what: 'the update', bytes: json.byteLength, limit: todoLimits.documentBytes },
    });
  const parsed = todoUpdateSchema.safeParse(parsedJson(json), inOurWords);
  if (parsed.success) return parsed.data;
  throw invalid(objectionIn(parsed.error));
}

function parsedJson(json: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(json));
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : 'not JSON');
  }
}

export function invalid(detail: string): BusError {
  return new BusError('TASK_UPDATE_INVALID', { detail });
}
