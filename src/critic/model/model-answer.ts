import { lazily } from '../../base/lazy-schema.js';
import { normalised } from '../finding.js';
import type { Mode, ModeInput } from '../mode.js';
import { criticLimits, type DimensionScore, type Section } from '../shapes.js';

/** Of one answer; more is asked to be put right. */
export const answerLimits = { findings: 40, scores: 12, evidence: 5, quoteChars: 1_000 } as const;

/** A finding as a model tells it; nothing of it is believed. */
export interface ModelFinding {
  rule: string;
  severity: 'critical' | 'major' | 'minor' | 'note';
  text: string;
  /** Words of the artifact. */
  quote: string;
  remedy: string;
  /** Words of a rule; empty: it breaks none. */
  breaks: string;
  evidence: { file_path: string; line_start: number; line_end: number; content: string }[];
}

export interface ModelAnswer {
  sections: Section[];
  findings: ModelFinding[];
  /** Empty: the mode scores nothing. */
  scores: Pick<DimensionScore, 'name' | 'score' | 'why' | 'evidence'>[];
}

/** No field is optional: endpoints are strict only then. */
const answer = lazily((z) => {
  const short = z.string().max(criticLimits.findingChars);
  const line = z.number().int().min(1);
  const quote = z.string().max(answerLimits.quoteChars);
  const evidence = z.object({
    ...{ file_path: z.string().max(criticLimits.pathChars), line_start: line, line_end: line },
    content: quote,
  });
  const finding = z.object({
    rule: z.string().regex(/^[A-Z][A-Z0-9_]{2,39}$/, 'capitals, digits and _'),
    severity: z.enum(['critical', 'major', 'minor', 'note']),
    ...{ text: short.min(1), quote: quote.min(1), remedy: short, breaks: quote },
    evidence: z.array(evidence).max(answerLimits.evidence),
  });
  const score = z.object({
    ...{ name: z.string().max(80), score: z.number().min(0).max(1).nullable(), why: short },
    evidence: z.array(quote).max(answerLimits.evidence),
  });
  const section = z.object({
    title: z.string().max(80),
    text: z.string().max(criticLimits.sectionChars),
  });
  return z.object({
    sections: z.array(section).max(criticLimits.sections),
    findings: z.array(finding).max(answerLimits.findings),
    scores: z.array(score).max(answerLimits.scores),
  });
});

/** What an answer in a mode has to be; `complaints`: what is wrong with one beside its shape. */
export function answerShape(
  complaints: (answer: ModelAnswer) => string[],
): import('zod').ZodType<ModelAnswer> {
  return answer().superRefine((value, context) => {
    for (const message of complaints(value)) context.addIssue({ code: 'custom', message });
  });
}

/** JSON schema of an answer; said once, for what a refinement wants no schema can say. */
export function answerJson(): Record<string, unknown> {
  return answer().toJSONSchema();
}

/** Missing sections, unknown dimensions, and what the mode itself complains of. */
export function complaintsOf(mode: Mode, input: ModeInput, answer: ModelAnswer): string[] {
  const titles = new Set(answer.sections.map(({ title }) => normalised(title)));
  const missing = mode.sections.filter(
    (title) => !mode.optionalSections?.includes(title) && !titles.has(normalised(title)),
  );
  const dimensions = new Set((mode.dimensions ?? []).map(({ name }) => name));
  const strange = answer.scores.filter(({ name }) => !dimensions.has(name));
  const unscored = [...dimensions].filter(
    (name) => !answer.scores.some((each) => each.name === name),
  );
  const own = mode.check?.(
    { sections: answer.sections, findings: [], score: null, unable: [], abort: '', dropped: 0 },
    input,
  );
  return [
    ...missing.map((title) => `the section "${title}" is missing`),
    ...strange.map(({ name }) => `there is no dimension "${name}" here`),
    ...unscored.map((name) => `the dimension "${name}" has no entry; its score may be null`),
    ...(own ?? []),
  ];
}
