import { z } from 'zod';
import {
  deficitOf,
  protocols,
  sessionLimits,
  type Deficit,
  type Draft,
  type Prior,
  type Protocol,
} from './shapes.js';

const rulesMax = 200;
const textMax = 1_000;
const text = z.string().min(1).max(textMax);
const pattern = text.refine(isRegex, 'is no regular expression');

/** Section `upstream` of the policy: what is missing in an intent, as far as a rule can tell. */
export const upstreamShape = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        rule: text,
        protocol: z.enum(protocols),
        /** One of them is in the text; with `absent` none of them is. */
        match: z.array(pattern).min(1).max(rulesMax),
        /** It is no deficit where one of these is in the text. */
        unless: z.array(pattern).max(rulesMax).optional(),
        /** Found when nothing matches and no end is stated. */
        absent: z.boolean().optional(),
        /** `unknown` counts as yes: rather one question too many. */
        blocking: z.enum(['yes', 'no', 'unknown']),
        reason: text,
      }),
    )
    .max(rulesMax),
});
export type UpstreamRules = z.output<typeof upstreamShape>;
type Rule = UpstreamRules['rules'][number];

function isRegex(source: string): boolean {
  try {
    new RegExp(source, 'iu');
    return true;
  } catch {
    return false;
  }
}

/** What is looked at, in the order of its authority. Source: scan source priority. */
export interface Scanned {
  prior: Prior | null;
  tasks: readonly Draft[];
  args: string;
  conversation: string;
  /** By upstream protocols, in this session. */
  brought: readonly { protocol: Protocol; text: string }[];
}

const isText = (value: unknown): value is string => typeof value === 'string';

interface Source {
  name: string;
  text: string;
  /** An end is stated, or a program decides. */
  hasEnd: boolean;
}

/**
 * Deficits that are left, execution-blocking ones only, those first whose resolution may settle the others: declared ones
 * before found ones of the same protocol, at most one of each protocol that a rule found. Sources: upstream heuristics;
 * `UpstreamScan = (C, Resolved) → { d : d.protocol ∉ Resolved ∧ d.deficit ∉ Resolved }`.
 */
export function scanned(
  what: Scanned,
  declared: readonly Deficit[],
  resolved: ReadonlySet<string>,
  { rules }: UpstreamRules,
): Deficit[] {
  const sources = sourcesOf(what);
  const found = protocols.flatMap((protocol): Deficit[] => {
    const its = rules.filter((each) => each.protocol === protocol);
    for (const source of sources)
      for (const rule of its) {
        const deficit = foundBy(rule, source, what.brought);
        if (deficit !== undefined) return [deficit];
      }
    return [];
  });
  return [...declared, ...found]
    .filter((each) => isBlocking(each, resolved))
    .sort((one, other) => protocols.indexOf(one.protocol) - protocols.indexOf(other.protocol))
    .slice(0, sessionLimits.deficits);
}

/** `blocking(d) ≡ ¬resolved(d) ∧ (∃ t ∈ T_potential: fails(t) ∨ harms(t))`; whether it does is what its origin says. */
export function isBlocking(
  { protocol, deficit, blocking }: Pick<Deficit, 'protocol' | 'deficit' | 'blocking'>,
  resolved: ReadonlySet<string>,
): boolean {
  return blocking && !resolved.has(protocol) && !resolved.has(deficit);
}

/** As the caller says it. An unknown one blocks. */
export function declaredDeficit(protocol: Protocol, evidence: string, blocking = true): Deficit {
  return {
    ...{ protocol, deficit: deficitOf[protocol], evidence, blocking },
    ...{ origin: 'declared', rule: '', source: 'declared' },
  };
}

/** Words that stand between quotes or in code are talked about, not meant. */
function spoken(said: string): string {
  return said.replace(/```[\s\S]*?(?:```|$)|`[^`\n]*`|"[^"\n]*"|“[^”\n]*”/gu, ' x ');
}

function sourcesOf({ prior, tasks, args, conversation }: Scanned): Source[] {
  const its = (name: string, { document }: Draft): Source => ({
    name,
    text: spoken([document.task, document.context].filter(isText).join('\n')),
    hasEnd: hasEnd(document),
  });
  const all: Source[] = [
    ...(prior === null
      ? []
      : // What a protocol brought was verified by a person: it is looked at, but lacks no end.
        [{ name: 'prior', text: spoken(prior.text), hasEnd: true }]),
    ...(prior?.tasks ?? []).map((each) => its(`prior task ${each.id}`, each)),
    ...tasks.map((each) => its(`task ${each.id}`, each)),
    // Tasks say what is to be done; the words beside them need no end of their own.
    { name: 'args', text: spoken(args), hasEnd: tasks.length > 0 || prior !== null },
    { name: 'conversation', text: spoken(conversation), hasEnd: true },
  ];
  return all.filter((each) => each.text.trim() !== '');
}

function hasEnd({ acceptance_criteria, action }: Record<string, unknown>): boolean {
  const hasCriteria = Array.isArray(acceptance_criteria) && acceptance_criteria.length > 0;
  return hasCriteria || (action !== undefined && action !== null);
}

function foundBy(rule: Rule, source: Source, brought: Scanned['brought']): Deficit | undefined {
  const all = [source.text, ...brought.map((each) => each.text)];
  const isIn = (patterns: readonly string[], texts: readonly string[]): boolean =>
    patterns.some((each) => texts.some((said) => new RegExp(each, 'iu').test(said)));
  if (isIn(rule.unless ?? [], all)) return undefined;
  const quote = rule.absent === true ? absent(rule, source, all) : matched(rule, source.text);
  if (quote === undefined) return undefined;
  const evidence = `${rule.reason} (${source.name}: ${quote})`;
  return {
    protocol: rule.protocol,
    deficit: deficitOf[rule.protocol],
    evidence: evidence.slice(0, sessionLimits.evidenceChars),
    origin: 'found',
    rule: rule.rule,
    source: source.name,
    blocking: rule.blocking !== 'no',
  };
}

function matched(rule: Rule, said: string): string | undefined {
  for (const each of rule.match) {
    const [found] = new RegExp(each, 'iu').exec(said) ?? [];
    if (found !== undefined) return quoted(found);
  }
  return undefined;
}

function absent(rule: Rule, source: Source, all: readonly string[]): string | undefined {
  if (source.hasEnd) return undefined;
  const isThere = rule.match.some((each) => all.some((said) => new RegExp(each, 'iu').test(said)));
  return isThere ? undefined : quoted(source.text);
}

const quoteChars = 120;

function quoted(said: string): string {
  const line = said.trim().replace(/\s+/gu, ' ');
  return `"${line.length > quoteChars ? `${line.slice(0, quoteChars)}…` : line}"`;
}
