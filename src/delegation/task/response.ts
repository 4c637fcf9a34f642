import { z } from 'zod';
import { classificationSchema } from '../../attention/schema.js';
import { BusError } from '../../errors/bus-error.js';
import { isErrorCode } from '../../errors/catalogue.js';
import { inOurWords, objectionIn } from '../../errors/objection.js';
import {
  errorOverlay,
  evidenceLimits,
  legacyVersion,
  responseLimits,
  responseStatuses,
  taskLimits,
  type GroundingEvidence,
  type TaskFailure,
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

/** The evidence of a response. */
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
    .describe(`Citations, at most ${evidenceLimits.citations}.`),
  grounding_confidence: z
    .enum(['high', 'medium', 'low'])
    .default('low')
    .describe(
      'Mean similarity above .85 is high, from .7 on medium. The manager computes it itself.',
    ),
  overlay_warnings: z
    .array(text(limits.textChars))
    .max(limits.warnings)
    .default([])
    .describe('Overlays that were missing, and what was used instead.'),
});

const usage = z.object({
  grounding_ms: uint32.default(0).describe('Spent on asking the PGC.'),
  elapsed_ms: uint32.default(0).describe('Spent on everything.'),
  grounding_bytes: uint32.default(0).describe('Read from the PGC.'),
  context_bytes: uint32.default(0).describe('Bytes of context given to the runner.'),
  tokens: uint32.default(0).describe('Tokens of a language model; 0: no model was used.'),
});

/**
 * The response of a worker. Citations beyond the limits of the protocol are still read, so that the review can name them; beyond `responseLimits` the response is refused. Unknown fields are dropped.
 */
export const taskResponseSchema = z.object({
  task_id: text(taskLimits.idChars).min(1).describe('Id of the task.'),
  status: z.enum(responseStatuses).describe('How it went.'),
  result: text(taskLimits.resultChars).default('').describe('The result in words.'),
  grounding_evidence: evidenceSchema
    .nullish()
    .describe('The evidence; needed where the task requires it.'),
  reason: text(limits.textChars).default('').describe('Code of a failure or a block.'),
  errors: z
    .array(
      z.object({
        code: words.describe('A code that `sigma error` explains.'),
        text: text(limits.textChars).describe('In words.'),
        retryable: z.boolean().default(false).describe('Whether it may work another time.'),
      }),
    )
    .max(limits.errors)
    .default([])
    .describe('What went wrong; never among the citations.'),
  protocol_version: words
    .default(legacyVersion)
    .describe('2.0; for a worker without grounding 1.0-legacy.'),
  clarification_request: text(taskLimits.clarificationChars)
    .default('')
    .describe('The question, where the status is needs_clarification.'),
  attempt: uint32.default(0).describe('Attempt of the assignment.'),
  partial: z
    .boolean()
    .default(false)
    .describe(
      'The work was stopped; this is the result so far. Of a blocked task: the work is done, and could not be verified.',
    ),
  files_modified: z
    .array(text(limits.pathChars))
    .max(limits.files)
    .default([])
    .describe('Files that the work changed.'),
  usage: usage.nullish().describe('Time, bytes and tokens.'),
  classification: classificationSchema
    .nullish()
    .describe('The classification of the action, when the reason is GATE_DETECTED.'),
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
    .describe('Steps of the runner prompt, in order.'),
});

/** Reads a response in JSON. Throws MALFORMED_PAYLOAD, which names the field. */
export function readResponse(value: unknown): TaskResponse {
  const parsed = taskResponseSchema.safeParse(value, inOurWords);
  if (!parsed.success)
    throw new BusError('MALFORMED_PAYLOAD', { detail: objectionIn(parsed.error) });
  const bytes = Buffer.byteLength(JSON.stringify(parsed.data));
  if (bytes > limits.bytes) {
    const detail = `${bytes} bytes in all, at most ${limits.bytes}`;
    throw new BusError('MALFORMED_PAYLOAD', { detail });
  }
  const { grounding_evidence, usage: cost, classification, ...rest } = parsed.data;
  const { citations = [] } = grounding_evidence ?? {};
  return {
    ...rest,
    ...whyItEnded(rest, citations),
    grounding_evidence: (grounding_evidence ?? null) as TaskResponse['grounding_evidence'],
    usage: cost ?? null,
    classification: classification ?? null,
  };
}

/**
 * Why it ended without a result. A worker of an earlier protocol has no field for the reason, and tells an error among its citations; one that
 * gives no reason, or a code of its own, is quoted: what stopped it is not guessed.
 */
function whyItEnded(
  { status, reason, errors, result }: Pick<TaskResponse, 'status' | 'reason' | 'errors' | 'result'>,
  citations: readonly { overlay: string; content: string }[],
): Pick<TaskResponse, 'reason' | 'errors'> {
  const isGood = status === 'completed' || status === 'needs_clarification';
  if (isGood || isErrorCode(reason)) return { reason, errors };
  const told = citations
    .filter(({ overlay }) => overlay === errorOverlay)
    .map(({ content }) => failureOf(new BusError('PGC_FAILED', { detail: content })));
  const detail = result.trim().slice(0, evidenceLimits.contentChars) || 'it gives no reason';
  const quoted = failureOf(new BusError('WORKER_GAVE_UP', { detail }));
  const code = reason || (errors[0]?.code ?? told[0]?.code ?? quoted.code);
  const known = [...errors, ...told];
  return {
    reason: code,
    errors: (known.length > 0 ? known : [{ ...quoted, code }]).slice(0, limits.errors),
  };
}

function failureOf({ code, message: text, retryable }: BusError): TaskFailure {
  return { code, text: text.slice(0, limits.textChars), retryable };
}

/** Reads a response in protobuf, where an absent field is an empty text. Throws MALFORMED_PAYLOAD. */
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

/** A failed response in place of an unreadable one. Undefined: the unreadable one names no task. */
export function unreadable(value: unknown, why: BusError): TaskResponse | undefined {
  const parsed = addressed.safeParse(value, inOurWords);
  if (!parsed.success) return undefined;
  const { code, text: said, retryable } = why.toFailure();
  const errors = [{ code, text: said.slice(0, limits.textChars), retryable }];
  return readResponse({ ...parsed.data, status: 'failed', reason: code, errors });
}
