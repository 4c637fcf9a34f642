import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { BusError } from '../../../errors/bus-error.js';
import { grammarLanguages, textLanguages, type FactsLanguage } from '../../format/facts.js';
import { ConfinedReader } from '../../source/confined-reader.js';
import { runGit } from '../../source/git/run-git.js';
import { RevisionTree } from '../../source/revision-tree.js';
import { fileBytesMax, type ReadableTree } from '../../source/source-tree.js';
import { invalidSettings, readSettings } from '../../source/tree-settings.js';
import { LinearPattern } from '../../../base/pattern/linear-pattern.js';
import { shippedRules, type RulesInForce } from './rules-in-force.js';
import { securityRules, severities, type SecurityRule } from './security-rules.js';
import { patternRules } from './security.js';

/** Where a tree keeps rules of its own, relative to its root. */
export const ruleFile = '.sigma/security.json';
export const ruleFileBytesMax = 256 * 1024;
export const rulesMax = 500;
const callsMax = 500;
/** Calls of all rules together. */
export const ruleCallsMax = 5_000;
const nameCharsMax = 80;
const textCharsMax = 160;

const languages = [...grammarLanguages, ...textLanguages] as const;

const idSchema = z
  .string()
  .max(nameCharsMax)
  .regex(/^[a-z][a-z0-9-]*$/, 'lower case letters, digits and "-", a letter first');
const patternSchema = z.string().superRefine((text, context) => {
  try {
    new LinearPattern(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    context.addIssue({ code: 'custom', message: `the pattern cannot be used: ${message}` });
  }
});
const fileSchema = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        id: idSchema,
        languages: z.array(z.enum(grammarLanguages)).min(1),
        calls: z.array(z.string().min(1).max(nameCharsMax)).min(1).max(callsMax),
        on: patternSchema.optional(),
        when: patternSchema.optional(),
        unless: patternSchema.optional(),
        severity: z.enum(severities),
        cwe: z.string().regex(/^(?:CWE-\d{1,5})?$/, 'CWE-120 for example, or empty'),
        text: z.string().min(1).max(textCharsMax),
      }),
    )
    .max(rulesMax)
    .default([]),
  off: z
    .array(
      z.union([
        idSchema,
        z.strictObject({ id: idSchema, languages: z.array(z.enum(languages)).min(1) }),
      ]),
    )
    .max(rulesMax)
    .default([]),
});
type RuleFile = z.infer<typeof fileSchema>;

/**
 * The shipped rules, changed by `.sigma/security.json` of the tree, or of the revision that is read.
 * Throws CONFIG_INVALID, which names the place in the file.
 */
export async function rulesOf(tree: Pick<ReadableTree, 'root' | 'read'>): Promise<RulesInForce> {
  const source = await tree.read({ path: ruleFile, language: 'settings' });
  if ('bytes' in source) return readRules(source.bytes);
  if (source.reason === 'absent') return shippedRules;
  const bytes = source.reason === 'generated' ? await longLined(tree) : undefined;
  if (bytes !== undefined) return readRules(bytes);
  throw invalid(`it cannot be read: ${source.reason}`);
}

/** Programs write JSON in one line, which a tree refuses to read as a source. */
async function longLined(tree: Pick<ReadableTree, 'root'>): Promise<Buffer | undefined> {
  if (tree instanceof RevisionTree)
    return runGit(tree.root, ['cat-file', 'blob', `${tree.commit}:./${ruleFile}`]);
  const result = await new ConfinedReader(tree.root, fileBytesMax).read(ruleFile);
  return 'bytes' in result ? result.bytes : undefined;
}

/**
 * A rule of the file takes the place of all shipped ones that have its id, in its languages; `off` takes
 * rules away, in all languages or in some. Throws CONFIG_INVALID.
 */
export function readRules(bytes: Buffer): RulesInForce {
  if (bytes.length > ruleFileBytesMax)
    throw invalid(`it has ${bytes.length} bytes, and may have ${ruleFileBytesMax}`);
  const file = readSettings(ruleFile, bytes.toString('utf8'), fileSchema);
  checkRules(file.rules);
  const offs = offOf(file);
  const own = file.rules.map((rule): SecurityRule => ({ ...rule, origin: ruleFile }));
  const taken = new Set(
    own.flatMap(({ id, languages: its }) => its.map((each) => `${each}/${id}`)),
  );
  const shipped = without(securityRules, taken);
  const rules = [...without(shipped, offs), ...own];
  const off = patternRules
    .flatMap(({ id, languages: its }) => its.map((each) => `${each}/${id}`))
    .filter((each) => offs.has(each));
  return { rules, off, digests: digestsOf(rules, off) };
}

function checkRules(rules: RuleFile['rules']): void {
  for (const [at, { id }] of rules.entries())
    if (patternRules.some((rule) => rule.id === id))
      throw invalid(
        `rules[${at}].id: ${id} looks for a text, and no rule of calls can take its place`,
      );
  const calls = rules.reduce((sum, rule) => sum + new Set(rule.calls).size, 0);
  if (calls > ruleCallsMax)
    throw invalid(`rules: they name ${calls} calls, and may name ${ruleCallsMax}`);
}

/** `language/id` of the rules that are switched off. */
function offOf({ off, rules }: RuleFile): Set<string> {
  const known = [...securityRules, ...patternRules];
  const found = new Set<string>();
  for (const [at, entry] of off.entries()) {
    const id = typeof entry === 'string' ? entry : entry.id;
    const named = known.filter((rule) => rule.id === id);
    const place = typeof entry === 'string' ? `off[${at}]` : `off[${at}].id`;
    if (named.length === 0) throw invalid(`${place}: no shipped rule is called ${id}`);
    const its = new Set(named.flatMap((rule) => rule.languages));
    for (const language of typeof entry === 'string' ? its : entry.languages) {
      if (!its.has(language))
        throw invalid(`off[${at}].languages: no shipped rule ${id} is for ${language}`);
      found.add(`${language}/${id}`);
    }
  }
  for (const [at, { id, languages: its }] of rules.entries())
    if (its.some((language) => found.has(`${language}/${id}`)))
      throw invalid(`rules[${at}].id: ${id} is given, and switched off as well`);
  return found;
}

/** Rules less some languages; those that have none left are gone. */
function without(rules: readonly SecurityRule[], gone: ReadonlySet<string>): SecurityRule[] {
  return rules
    .map((rule) => {
      const left = rule.languages.filter((language) => !gone.has(`${language}/${rule.id}`));
      return left.length === rule.languages.length ? rule : { ...rule, languages: left };
    })
    .filter((rule) => rule.languages.length > 0);
}

/** Per language, so that a file with rules for Python does not make C be mined again. */
function digestsOf(
  rules: readonly SecurityRule[],
  off: readonly string[],
): RulesInForce['digests'] {
  const digests: RulesInForce['digests'] = {};
  for (const language of languages) {
    const its = textOf(language, rules, off);
    if (its === textOf(language, securityRules, [])) continue;
    digests[language] = createHash('sha256').update(its).digest('hex').slice(0, 16);
  }
  return digests;
}

function textOf(
  language: FactsLanguage,
  rules: readonly SecurityRule[],
  off: readonly string[],
): string {
  const here = rules
    .filter((rule) => rule.languages.includes(language))
    .map((rule) => ({ ...rule, languages: undefined }));
  return JSON.stringify([here, off.filter((each) => each.startsWith(`${language}/`))]);
}

function invalid(detail: string): BusError {
  return invalidSettings(ruleFile, detail);
}
