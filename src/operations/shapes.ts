import { z } from 'zod';
import type { Argument } from './operation.js';
import { fileRoles } from '../pgc/format/facts.js';
import { contentMax, engineName, overlayNames, type Evidence } from '../pgc/shapes.js';

/**
 * What the tools take and give, in the names that the command line prints with `--json`. Answers are open:
 * a field is added, never renamed.
 */

/** More than is read: what is cut is said in the answer. */
const questionCharsMax = 100_000;
/** A character takes four bytes at most. */
export const questionBytesMax = 4 * questionCharsMax;
export const nameCharsMax = 512;
export const citationsMax = 100;

const text = (what: string, max = nameCharsMax): z.ZodString =>
  z.string().trim().min(1, 'it must not be empty').max(max).describe(what);

export const questionInput = z
  .string()
  .trim()
  .max(questionCharsMax)
  .describe('In words, with names, paths or a log where you have them.');
export const agentInput = text('Id or alias of an agent, as list_agents names it.');
/** The same for people. */
export const agentArgument = (field: string): Argument => ({
  ...{ field, argument: `<${field}>` },
  help: 'id or alias of an agent, as `sigma agents` shows it',
});
export const symbolInput = text('A name, or path#name where a name has several definitions.');
export const rolesInput = z
  .array(z.enum(fileRoles))
  .max(fileRoles.length)
  .default([])
  .describe('Only rows in files of these roles; all, when absent.');
export const rolesFlag = {
  flag: '--roles <names>',
  help: 'only files of these roles, for example source,test',
};
export const reportInput = text('A bug report, a log or a stack trace.', 100_000);
export const offsetInput = z.int().min(0).default(0).describe('Rows to pass over.');
export const waitInput = z
  .boolean()
  .default(true)
  .describe('Wait for its end or its question, for timeout_seconds; it goes on afterwards.');
export const topKInput = z.int().min(1).max(20).default(10).describe('Sources.');
export const engineInput = z
  .enum([engineName])
  .optional()
  .describe(
    'extractive: sentences of the index alone, where a language model would tell the answer.',
  );
export const engineFlag = {
  flag: '--engine <name>',
  help: 'extractive: answer from the index only, without the language model',
};
export const groundingInput = z
  .strictObject({
    overlay_hints: z
      .array(z.enum(overlayNames as [string, ...string[]]))
      .max(overlayNames.length)
      .default([])
      .describe(
        'O1 structure, O2 security, O3 calls and history, O4 purpose, O5 operation, O6 invariants, O7 coherence.',
      ),
    query_hints: z
      .array(z.string().max(1_000))
      .max(16)
      .default([])
      .describe('Words that say where to look.'),
  })
  .default({ overlay_hints: [], query_hints: [] })
  .describe('Where the answer should come from; everything, when absent.');

export const citationInput = z
  .looseObject({
    file_path: z.string(),
    line_start: z.int().optional(),
    line_end: z.int().optional(),
    content: z.string().max(contentMax),
  })
  .describe('As an answer gave it; or a text of a file, without its lines.');

export const failureOutput = z.looseObject({
  code: z.string(),
  text: z.string(),
  retryable: z.boolean(),
});

const roleOutput = z.string().optional().describe('Of the file; absent: source.');

export const evidenceOutput = z.looseObject({
  id: z.int(),
  overlay: z.string(),
  file_path: z.string(),
  line_start: z.int(),
  line_end: z.int(),
  symbol: z.string(),
  agent: z.string(),
  similarity: z.number(),
  text: z.string(),
  content: z.string(),
  blob: z.string(),
  role: roleOutput,
});

export const siteOutput = z.looseObject({
  symbol: z.string(),
  file_path: z.string(),
  line: z.int(),
  agent: z.string(),
  role: roleOutput,
});
export const definitionOutput = siteOutput.extend({ kind: z.string() });
export const nodeOutput = siteOutput.extend({ id: z.string() });

/** What verify_citations needs and a reader wants; the rest is in the text, and would cost half more. */
export function evidenceOf(evidence: Evidence): object {
  const { section: _, weight: _w, excerpt: _e, why: _y, said: _s, role, ...its } = evidence;
  return { ...its, ...roleField(role), similarity: rounded(evidence.similarity) };
}

/** Nothing for source: most rows are. */
export function roleField(role = ''): { role?: string } {
  return role === '' ? {} : { role };
}

export function rounded(share: number): number {
  return Math.round(share * 1_000) / 1_000;
}
