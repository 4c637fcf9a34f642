import { z } from 'zod';
import { attentionLimits, intensities, riskLevels, severities, signals } from './shapes.js';

const limits = attentionLimits;
const text = (charsMax: number): z.ZodString => z.string().max(charsMax);
const wordChars = 256;
const pathChars = 4_096;
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'a SHA-256, hexadecimal');

export const digestSchema = z.object({
  action: sha256.describe('Of the exact action.'),
  files: z
    .record(z.string().max(pathChars), sha256)
    .default({})
    .refine((each) => Object.keys(each).length <= limits.scripts, {
      message: `at most ${limits.scripts} scripts`,
    })
    .describe('Of each script that was read, by its path.'),
});

/** What an executor says that it stopped at. */
export const classificationSchema = z.object({
  level: z.enum(riskLevels).describe('Low or Elevated.'),
  findings: z
    .array(
      z.object({
        signal: z.enum(signals).describe('Which kind of risk.'),
        severity: z.enum(severities).describe('Whether it informs or stops.'),
        evidence: text(limits.evidenceChars).default('').describe('What was seen, and where.'),
        action_description: text(limits.descriptionChars)
          .default('')
          .describe('The action in words.'),
        rule: text(wordChars).default('').describe('Rule of the policy.'),
        file: text(pathChars).default('').describe('Script in which it was seen.'),
      }),
    )
    .max(limits.findings)
    .default([])
    .describe('What is risky about it.'),
  intensity: z.enum(intensities).describe('How much is shown.'),
  pattern: z
    .object({
      tool: text(limits.descriptionChars).default('').describe('Program with its subcommand.'),
      target: text(pathChars).default('').describe('What it has its effect on.'),
      environment: text(wordChars).default('').describe('Where, as far as it is known.'),
      signals: z.array(z.enum(signals)).max(signals.length).default([]).describe('Kinds of risk.'),
    })
    .describe('What an approval is remembered under.'),
  is_cacheable: z.boolean().default(false).describe('Whether it may be remembered.'),
  digest: digestSchema.describe('The exact action.'),
  description: text(limits.descriptionChars).default('').describe('The action in words.'),
});
