import { z } from 'zod';
import { classificationSchema } from '../../attention/schema.js';
import { BusError } from '../../errors/bus-error.js';
import { detailOf } from './schema.js';
import {
  evidenceLimits,
  legacyVersion,
  responseLimits,
  responseStatuses,
  taskLimits,
  type GroundingEvidence,
  type TaskResponse,
} from './shapes.js';

const limits = responseLimits;
const text = (charsMax: number): z.ZodString => z.string().max(charsMax);
const words = text(limits.wordChars);
const uint32 = z.int().min(0).max(0xffff_ffff);

const citation = z.object({
  overlay: words.default('').describe('O1 to O7.'),
  content: text(limits.contentChars)
    .default('')
    .describe(`The cited lines, at most ${evidenceLimits.contentChars} characters.`),
  relevance: text(limits.textChars).default('').describe('What it says about the task.'),
  file_path: text(limits.pathChars).default('').describe('From the root of the tree.'),
  line_start: uint32.default(0).describe('1-based; 0: not said.'),
  line_end: uint32.default(0).describe('Inclusive; 0: not said.'),
  symbol: text(limits.pathChars).default('').describe('What is defined there.'),
  blob: words.default('').describe('Git blob id of the file that was read.'),
  agent: words.default('').describe('PGC agent that it comes from.'),
  similarity: z.number().optional().describe('0 to 1, calibrated.'),
});

/** What an answer rests on, as a worker writes it. */
export const evidenceSchema = z.object({
  queries_executed: z
    .array(text(limits.textChars))
    .max(limits.queries)
    .default([])
    .describe('What the PGC was asked.'),
  overlays_consulted: z
    .array(words)
    .max(limits.overlays)
    .default([])
    .describe('Overlays that answered.'),
  citations: z
    .array(citation)
    .max(limits.citations)
    .default([])
    .describe(`What it rests on, at most ${evidenceLimits.citations}.`),
  grounding_confidence: z
    .enum(['high', 'medium', 'low'])
    .default('low')
    .describe(
      'Mean similarity above .85 is high, from .7 on medium. The manager computes it anew.',
    ),
  overlay_warnings: z
    .array(text(limits.textChars))
    .max(limits.warnings)
    .default([])
    .describe('Overlays that were not there, and what was done instead.'),
});

const usage = z.object({
  grounding_ms: uint32.default(0).describe('Spent on asking the PGC.'),
  elapsed_ms: uint32.default(0).describe('Spent on everything.'),
  grounding_bytes: uint32.default(0).describe('Read from the PGC.'),
  context_bytes: uint32.default(0).describe('Handed to whoever did the work.'),
  tokens: uint32.default(0).describe('Of a language model; 0: none was asked.'),
});

/**
 * What a worker answers. Beyond the limits of the protocol (citations, characters) it is still understood: the review
 * names what breaks them. Beyond ours it is refused. Fields of a later version are left out.
 */
export const taskResponseSchema = z.object({
  task_id: text(taskLimits.idChars).min(1).describe('Of the task that it answers.'),
  status: z.enum(responseStatuses).describe('How it went.'),
  result: text(taskLimits.resultChars).default('').describe('What was found out or done.'),
  grounding_evidence: evidenceSchema
    .nullish()
    .describe('What it rests on; needed where evidence is required.'),
  reason: text(limits.textChars).default('').describe('Of a failure or a block: a code.'),
  errors: z
    .array(
      z.object({
        code: words.describe('Of `sigma error`.'),
        text: text(limits.textChars).describe('In words.'),
        retryable: z.boolean().default(false).describe('Whether it may work another time.'),
      }),
    )
    .max(limits.errors)
    .default([])
    .describe('What went wrong; never among the citations.'),
  protocol_version: words
    .default(legacyVersion)
    .describe('2.0; of a worker that knows no grounding 1.0-legacy.'),
  clarification_request: text(taskLimits.clarificationChars)
    .default('')
    .describe('The question, where the status is needs_clarification.'),
  attempt: uint32.default(0).describe('Of the assignment that it answers.'),
  partial: z.boolean().default(false).describe('It was stopped; this is what was done till then.'),
  files_modified: z
    .array(text(limits.pathChars))
    .max(limits.files)
    .default([])
    .describe('Files that were changed.'),
  usage: usage.nullish().describe('What it cost.'),
  classification: classificationSchema
    .nullish()
    .describe('What stopped it, where the reason is GATE_DETECTED.'),
  steps: z
    .array(
      z.object({
        at_ms: z.int().min(0).default(0).describe('Unix time.'),
        what: words.describe('What was done, or the name of the tool that was called.'),
        text: text(limits.stepChars).default('').describe('In words.'),
      }),
    )
    .max(limits.steps)
    .default([])
    .describe('Of the runner prompt: what was done, in order.'),
});

/** Of a worker that writes JSON. Throws MALFORMED_PAYLOAD, which names the field. */
export function readResponse(value: unknown): TaskResponse {
  const parsed = taskResponseSchema.safeParse(value);
  if (!parsed.success) throw new BusError('MALFORMED_PAYLOAD', { detail: detailOf(parsed.error) });
  const bytes = Buffer.byteLength(JSON.stringify(parsed.data));
  if (bytes > limits.bytes) {
    const detail = `${bytes} bytes in all, at most ${limits.bytes}`;
    throw new BusError('MALFORMED_PAYLOAD', { detail });
  }
  const { grounding_evidence, usage: cost, classification, ...rest } = parsed.data;
  return {
    ...rest,
    grounding_evidence: (grounding_evidence ?? null) as TaskResponse['grounding_evidence'],
    usage: cost ?? null,
    classification: classification ?? null,
  };
}

/** One that came as protobuf, by the rules of one that is JSON: there, what is left out is an empty text. Throws MALFORMED_PAYLOAD. */
export function readWireResponse(decoded: TaskResponse): TaskResponse {
  const { protocol_version } = decoded;
  const evidence = decoded.grounding_evidence as Partial<GroundingEvidence> | null;
  return readResponse({
    ...decoded,
    protocol_version: protocol_version || undefined,
    grounding_evidence: evidence && {
      ...evidence,
      grounding_confidence: evidence.grounding_confidence || undefined,
    },
  });
}

const addressed = taskResponseSchema.pick({ task_id: true, attempt: true });

/** What is known of a task whose response cannot be read: it failed. Undefined: it does not even say which task. */
export function unreadable(value: unknown, why: BusError): TaskResponse | undefined {
  const parsed = addressed.safeParse(value);
  if (!parsed.success) return undefined;
  const { code, text: said, retryable } = why.toFailure();
  const errors = [{ code, text: said.slice(0, limits.textChars), retryable }];
  return readResponse({ ...parsed.data, status: 'failed', reason: code, errors });
}
