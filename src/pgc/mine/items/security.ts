import type { CallDraft } from '../draft.js';
import { secretsIn } from '../../../secrets/secrets.js';
import {
  grammarLanguages,
  textLanguages,
  type FactsLanguage,
  type ItemFact,
} from '../../format/facts.js';
import { isCommented, Items, type ItemSource } from './item.js';
import { CodeText } from './code-text.js';
import { LinearPattern } from '../../../base/pattern/linear-pattern.js';
import { securityRules, type SecurityRule, type Severity } from './security-rules.js';
import { slotRules, slotSurface, surfacesOf } from './surfaces.js';

/** Lines are read in parts of this. */
const lineCharsMax = 1_000;
/** The name of a secret begins this close to the word that betrays it. */
const nameCharsMax = 60;
/** A value shorter than this is an example. */
const secretCharsMin = 12;

/** O2 of one text: calls that rules name, where it is open to attack, and secrets, which are never repeated. */
export function securityItems(
  source: ItemSource,
  rules: readonly SecurityRule[] = securityRules,
): ItemFact[] {
  const items = new Items(source, 2);
  const byCall = rulesFor(source, rules);
  const code = new CodeText(source);
  for (const call of source.draft.calls) {
    for (const rule of byCall.get(call.callee) ?? []) {
      if (!applies(rule, call, code)) continue;
      const { severity, cwe } = rule;
      const on = call.receiver === '' ? '' : `${call.receiver}.`;
      const text = `${on}${call.callee} ${rule.text}`;
      items.add(rule.id, call.at, call.at + 1, text, { subject: call.callee, severity, cwe });
    }
  }
  surfaces(source, items);
  secrets(source, items);
  return items.found;
}

interface Compiled {
  id: string;
  severity: Severity;
  cwe: string;
  text: string;
  on: Pattern | undefined;
  when: Pattern | undefined;
  unless: Pattern | undefined;
  outsideMacros: boolean;
  unlessConstant: boolean;
}

type Pattern = Pick<RegExp, 'test'>;

const compiled = new WeakMap<SecurityRule, Compiled>();

function compile(rule: SecurityRule): Compiled {
  let known = compiled.get(rule);
  if (known === undefined) {
    // Patterns from a tree are not trusted: a regular expression of them could take exponential time.
    const read = rule.origin === undefined ? RegExp : LinearPattern;
    const pattern = (text: string | undefined): Pattern | undefined =>
      text === undefined ? undefined : new read(text);
    const { id, severity, cwe, text } = rule;
    const { outsideMacros = false, unlessConstant = false } = rule;
    known = {
      ...{ id, severity, cwe, text, outsideMacros, unlessConstant },
      ...{ on: pattern(rule.on), when: pattern(rule.when), unless: pattern(rule.unless) },
    };
    compiled.set(rule, known);
  }
  return known;
}

const byLanguage = new WeakMap<readonly SecurityRule[], Map<string, Map<string, Compiled[]>>>();

function rulesFor(
  { language }: ItemSource,
  rules: readonly SecurityRule[],
): Map<string, Compiled[]> {
  const all = byLanguage.get(rules) ?? new Map<string, Map<string, Compiled[]>>();
  byLanguage.set(rules, all);
  let byCall = all.get(language);
  if (byCall === undefined) {
    byCall = new Map();
    for (const rule of rules.filter((each) => each.languages.includes(language)))
      for (const call of new Set(rule.calls))
        byCall.set(call, [...(byCall.get(call) ?? []), compile(rule)]);
    all.set(language, byCall);
  }
  return byCall;
}

function applies(rule: Compiled, call: CallDraft, code: CodeText): boolean {
  const { on, when, unless } = rule;
  // An assignment to a field is not a call.
  if (call.kind === 'slot') return false;
  if (on !== undefined && !on.test(call.receiver)) return false;
  if (when === undefined && unless === undefined) return true;
  const given = code.argumentsOf(call);
  if (given === undefined) return false;
  if ((when !== undefined && !when.test(given)) || unless?.test(given) === true) return false;
  if (rule.outsideMacros && code.isInMacro(call.at)) return false;
  return !rule.unlessConstant || !code.isConstant(given.trim());
}

/** A rule that looks for a text instead of a call. */
interface PatternRule {
  id: string;
  languages: readonly FactsLanguage[];
  severity: Severity;
  cwe: string;
}

/** All of them, by name. */
export const patternRules: readonly PatternRule[] = patternRulesOf();

function patternRulesOf(): PatternRule[] {
  const languages = new Map<string, FactsLanguage[]>();
  for (const language of grammarLanguages)
    for (const id of new Set(surfacesOf[language]?.map(({ rule }) => rule)))
      languages.set(id, [...(languages.get(id) ?? []), language]);
  for (const id of slotRules) languages.set(id, ['c', 'cpp']);
  languages.set('secret', [...grammarLanguages, ...textLanguages]);
  return [...languages].sort().map(([id, its]) => ({ id, languages: its, ...gradeOf(id) }));
}

function gradeOf(rule: string): Pick<PatternRule, 'severity' | 'cwe'> {
  if (rule === 'secret') return { severity: 'high', cwe: 'CWE-798' };
  if (rule === 'unsafe-block') return { severity: 'low', cwe: 'CWE-119' };
  return { severity: 'info', cwe: '' };
}

function surfaces(source: ItemSource, items: Items): void {
  for (const { rule, mark, pattern, text } of surfacesOf[source.language] ?? []) {
    if (!source.text.includes(mark)) continue;
    for (const found of source.text.matchAll(pattern)) {
      const [whole, name = '', more = ''] = found;
      const at = found.index + whole.length - whole.trimStart().length;
      if (name === 'NULL' || isCommented(source, at)) continue;
      items.add(rule, at, found.index + whole.length, text(name, more), {
        ...{ subject: name, ...gradeOf(rule) },
      });
    }
  }
  for (const call of source.draft.calls) {
    const found = slotSurface(call);
    if (found === undefined) continue;
    const { rule, text } = found;
    items.add(rule, call.at, call.at + 1, text, { subject: call.callee, ...gradeOf(rule) });
  }
}

const secretWords = /passw(?:or)?d|secret|api_?key|access_?key|auth_?token|private_?key/gi;
const secretNames =
  /\b(\w{0,60}(?:password|passwd|secret|api_?key|access_?key|auth_?token|private_?key)\w{0,60})["']?\s*(?::|=|:=)\s*["']([^"'\s]+)["']/i;
const examples =
  /example|changeme|placeholder|your[-_]|xxxx|test|dummy|<|\$\{|%s|\*{3}|^[\w.]+\(|process\.env/i;

/** That there is one, and of what kind; never the value. */
function secrets({ text }: ItemSource, items: Items): void {
  const high = gradeOf('secret');
  let seen = 0;
  for (const word of text.matchAll(secretWords)) {
    if (word.index < seen) continue;
    // Of a long line one part after the other, none twice.
    const lineStart = text.lastIndexOf('\n', word.index) + 1;
    const from = Math.max(lineStart, seen, word.index - nameCharsMax);
    const line = text.slice(from, from + lineCharsMax).split('\n', 1)[0] ?? '';
    seen = from + line.length;
    const [whole, name = '', value = ''] = secretNames.exec(line) ?? [];
    if (whole === undefined || value.length < secretCharsMin) continue;
    if (examples.test(value) || !/\d/.test(value)) continue;
    const at = from + line.indexOf(whole);
    items.add('secret', at, at + whole.length, `${name} is given a value in the source`, {
      ...high,
      subject: name,
    });
  }
  for (const { kind, at } of secretsIn(text, { guessed: false }))
    items.add('secret', at, at + 1, `a secret: ${kind}`, high);
}
