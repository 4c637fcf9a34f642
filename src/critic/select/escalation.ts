import path from 'node:path';
import { parseDocument, visit } from 'yaml';
import type { z } from 'zod';
import { lazily, type Zod } from '../../base/lazy-schema.js';
import { BusError } from '../../errors/bus-error.js';
import { inOurWords, objectionIn } from '../../errors/objection.js';
import { pathGlob, type PathGlob } from '../../pgc/source/path-glob.js';
import { criticalities, targetTypes, type Criticality } from '../shapes.js';
import { atLeast, readWord, type ContextWords, type Detected } from './dimensions.js';

/** Which artifacts are reviewed how strictly, by their paths; the shipped file is `escalation.yaml`. */

/** Of a file of rules. */
export const escalationBytesMax = 256 * 1024;
const rulesMax = 200;
const pathsMax = 1_000;
const globCharsMax = 1_000;
/** Where a document says what its status is. */
const statusLines = 60;

const shape = lazily((z: Zod) => {
  const text = z.string().min(1).max(globCharsMax);
  const globs = z.array(text.refine(isGlob, 'is no glob: a [ has no ]')).min(1).max(pathsMax);
  const criticality = z.enum(criticalities);
  const common = { paths: globs, except: globs.optional() };
  const escalation = z.strictObject({
    rule: z.string().regex(/^[A-Za-z][\w-]{0,39}$/, 'must be a short name, as AE-007'),
    least: criticality,
    reason: text,
    governance: z.boolean().optional(),
    when: z.literal('baselined').optional(),
    ...common,
  });
  return z.strictObject({
    version: z.literal(1).optional(),
    /** Only an operator's: whether the product's own hold too. */
    shipped: z.boolean().optional(),
    escalation: z.array(escalation).max(rulesMax).optional(),
    detection: z
      .array(z.strictObject({ criticality, reason: text, ...common }))
      .max(rulesMax)
      .optional(),
    targets: z
      .array(z.strictObject({ target_type: z.enum(targetTypes), ...common }))
      .max(rulesMax)
      .optional(),
  });
});

type PolicyText = z.infer<ReturnType<typeof shape>>;
type Entry<K extends 'escalation' | 'detection' | 'targets'> = Omit<
  NonNullable<PolicyText[K]>[number],
  'paths' | 'except'
> & { matches: (path: string) => boolean };

export interface EscalationPolicy {
  isShippedToo: boolean;
  escalation: readonly Entry<'escalation'>[];
  detection: readonly Entry<'detection'>[];
  targets: readonly Entry<'targets'>[];
}

/** A rule that holds for an artifact. */
export interface Escalated {
  rule: string;
  least: Criticality;
  reason: string;
  isGovernance: boolean;
}

/** What its path, and its status, say of an artifact. */
export interface Standing {
  escalated: Escalated[];
  detected: Detected;
}

/** Of a text in YAML. Throws CRITIC_POLICY_INVALID with the path of the field, TOO_LARGE. */
export function parseEscalation(source: string, file: string): EscalationPolicy {
  const bytes = Buffer.byteLength(source);
  if (bytes > escalationBytesMax)
    throw new BusError('TOO_LARGE', { what: file, bytes, limit: escalationBytesMax });
  const document = parseDocument(source, { uniqueKeys: true, stringKeys: true });
  const [error] = document.errors;
  if (error !== undefined) throw invalid(file, error.message.split('\n')[0] ?? '');
  // An alias can make a small file a huge value.
  visit(document, {
    Alias: () => {
      throw invalid(file, 'aliases are not read');
    },
  });
  const answer = shape().safeParse(document.toJS() ?? {}, inOurWords);
  if (answer.success) return compiled(answer.data);
  throw invalid(file, objectionIn(answer.error));
}

/** An operator's entries come first: of the kinds of artifacts the first counts, of all others the strictest. */
export function withOperators(
  shipped: EscalationPolicy,
  operator: EscalationPolicy,
): EscalationPolicy {
  if (!operator.isShippedToo) return operator;
  return {
    isShippedToo: true,
    escalation: [...operator.escalation, ...shipped.escalation],
    detection: [...operator.detection, ...shipped.detection],
    targets: [...operator.targets, ...shipped.targets],
  };
}

/**
 * Of an artifact by its path from the root of its tree, or as it was named, and its text. Each rule holds once, at its
 * strictest.
 */
export function standingOf(
  policy: EscalationPolicy,
  artifact: { path: string; text: string; named?: string },
  words: ContextWords,
): Standing {
  const names = [artifact.path, artifact.named ?? ''].map(normalized).filter(Boolean);
  if (names.length === 0) return { escalated: [], detected: { criticality: 'C2', why: uncertain } };
  const isBaselined =
    readWord('maturity', words.maturity).value === 'MAT-BASE' || saysBaselined(artifact.text);
  const escalated = new Map<string, Escalated>();
  for (const { rule, least, reason, governance, when, matches } of policy.escalation) {
    if ((when === 'baselined' && !isBaselined) || !names.some(matches)) continue;
    const known = escalated.get(rule);
    if (known !== undefined && atLeast(known.least, least) === known.least) continue;
    escalated.set(rule, { rule, least, reason, isGovernance: governance === true });
  }
  const type = policy.targets.find(({ matches }) => names.some(matches))?.target_type;
  return {
    escalated: [...escalated.values()].sort((a, b) => (a.rule < b.rule ? -1 : 1)),
    detected: {
      ...detectedOf(policy, names),
      ...(type === undefined ? {} : { target_type: type }),
    },
  };
}

const uncertain = 'because nothing tells C1 and C2 apart';

function detectedOf(
  policy: EscalationPolicy,
  names: readonly string[],
): Omit<Detected, 'target_type'> {
  const found = policy.detection.filter(({ matches }) => names.some(matches));
  const [first] = found.sort((a, b) => (a.criticality > b.criticality ? -1 : 1));
  if (first === undefined) return { criticality: 'C2', why: uncertain };
  return { criticality: first.criticality, why: `because ${first.reason}` };
}

/** A status of its own, as a list item, a cell, a heading line or front matter. */
function saysBaselined(text: string): boolean {
  return text
    .split('\n', statusLines)
    .some((line) =>
      /^[\s>*_#|-]{0,20}status[\s*_|]{0,10}:?[\s*_|`:]{0,10}baselined?\b/i.test(line),
    );
}

/** `a/../.claude/rules/x.md` is the rule that it is. */
function normalized(artifact: string): string {
  const text = artifact.replaceAll('\\', '/').trim();
  if (text === '') return '';
  return path.posix
    .normalize(text)
    .replace(/^(?:\.\.?\/|\/)+/, '')
    .toLowerCase();
}

function compiled({
  shipped,
  escalation = [],
  detection = [],
  targets = [],
}: PolicyText): EscalationPolicy {
  return {
    isShippedToo: shipped !== false,
    escalation: escalation.map(matching),
    detection: detection.map(matching),
    targets: targets.map(matching),
  };
}

function matching<T extends { paths: string[]; except?: string[] | undefined }>({
  paths,
  except = [],
  ...rest
}: T): Omit<T, 'paths' | 'except'> & { matches: (path: string) => boolean } {
  const wanted = paths.map(globOf);
  const others = except.map(globOf);
  const matches = (name: string): boolean =>
    wanted.some((glob) => glob.matches(name)) && !others.some((glob) => glob.matches(name));
  return { ...rest, matches };
}

function globOf(text: string): PathGlob {
  return pathGlob(text.toLowerCase(), { classes: true, below: 'plain' });
}

function isGlob(text: string): boolean {
  try {
    globOf(text);
    return true;
  } catch {
    return false;
  }
}

function invalid(file: string, detail: string): BusError {
  return new BusError('CRITIC_POLICY_INVALID', { file, detail });
}
