import type { CodeFamily, CodeView } from './code-view.js';

/** Where a text refuses something: by a coded error, a thrown type, a number of an error. */
export interface Refusal {
  /** As a caller gets it: `INBOX_FULL`, `TypeError`, `EINVAL`. */
  code: string;
  line: number;
}

/** In one text. */
const refusalsMax = 400;

const thrown =
  /\bthrow\s{1,4}new\s{1,4}([\w.]{1,60})\s{0,4}\((?:\s{0,40}['"]([A-Z][A-Z0-9_]{3,40})['"])?|\bnew\s{1,4}\w{1,40}(?:Error|Exception)\s{0,4}\(\s{0,40}['"]([A-Z][A-Z0-9_]{3,40})['"]|\bnew\s{1,4}([A-Z][A-Z0-9]{0,20}_[A-Z0-9_]{1,60})\s{0,4}\(/g;
const patterns: Readonly<Partial<Record<CodeFamily, RegExp>>> = {
  es: thrown,
  java: thrown,
  python: /^[ \t]*raise[ \t]{1,4}([\w.]{1,60})/gm,
  c: /(?:\breturn\s{1,4}|[^=!<>]=\s{0,4}|\?\s{0,4}|:\s{0,4}|ERR_PTR\s?\()-(E[A-Z][A-Z0-9]{1,14})\b/g,
};

/** In order of the text. What stands in a comment or a string is no refusal; the code in the brackets is one. */
export function refusalsIn(view: CodeView): Refusal[] {
  const pattern = patterns[view.family];
  if (pattern === undefined) return [];
  const found: Refusal[] = [];
  for (const { 0: whole, 1: one, 2: two, 3: three, 4: four, index } of view.text.matchAll(
    pattern,
  )) {
    const begins = index + whole.length - whole.trimStart().length;
    if (view.code.charAt(begins) !== view.text.charAt(begins)) continue;
    const code = two ?? three ?? four ?? one ?? '';
    found.push({ code: code.split('.').at(-1) ?? code, line: view.lineOf(begins) });
    if (found.length >= refusalsMax) break;
  }
  return found;
}

/** Each code with its first line, as it is told: `INBOX_FULL` (line 202). */
export function toldRefusals(refusals: readonly Refusal[], most: number): string {
  const first = new Map<string, number>();
  for (const { code, line } of refusals) if (!first.has(code)) first.set(code, line);
  const shown = [...first].slice(0, most).map(([code, line]) => `\`${code}\` (line ${line})`);
  return first.size > most ? `${shown.join(', ')} and ${first.size - most} more` : shown.join(', ');
}
