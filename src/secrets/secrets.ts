import { readFileSync } from 'node:fs';
import { RE2JS } from 're2js';
import { beginsWith } from './anchored.js';
import { KeywordIndex, placesMax } from './keywords.js';
import { encodedTexts, hasRow, markedTokens, plainLetters, textOf, tokenSigns } from './letters.js';
import { type NeededRow, neededRow } from './needed-row.js';

/** A secret that stands in a text, readable for everyone. */
export interface Secret {
  /** Of the rule that found it, as its scanner calls it: `stripe-access-token`. */
  rule: string;
  /** In words: `stripe access token`. */
  kind: string;
  /** Offsets in the text, of the secret itself. */
  at: number;
  end: number;
}

type Part = 'secret' | 'match' | 'line';

/** As it stands in `rules.json`; see README.md. */
interface RuleText {
  id: string;
  name?: string;
  /** Of RE2: it takes time in proportion to the text. */
  pattern: string;
  /** One of them, in small letters, stands in all that the pattern finds. */
  keywords: string[];
  /** Of the pattern, that is the secret; absent: the first that took part, or with `last` the last one. */
  group?: number;
  last?: boolean;
  /** Bits for each character that a secret has more than: what has less is a word, or stands for a value. */
  entropy?: number;
  /** It is none where one of these is found in that part. */
  unless?: { on: Part; patterns?: string[]; words?: string[] }[];
  /** All of them are found in a secret. */
  must?: string[];
  /** Letters of the longest text that the pattern matches: it is looked for so far around a keyword. */
  reach: number;
  /** Known by the name that it is given, such as `password`: what is made of words is none. */
  isGuessed?: boolean;
}

interface OrderedRule extends RuleText {
  order: number;
}

interface RuleFile {
  /** What stands for a value. */
  fillIns: { patterns: string[]; words: string[] };
  wordParts: string[];
  rules: RuleText[];
}

interface Rule {
  text: RuleText;
  pattern: RE2JS;
  /** What it finds begins with its keyword. */
  isAnchored: boolean;
  /** Looked for before the pattern is run. */
  row: NeededRow;
  unless: { on: Part; patterns: RE2JS[]; words: string[] }[];
  must: RE2JS[];
}

interface Rules {
  /** Of all rules, and of those that know the issuer. */
  all: KeywordIndex<OrderedRule>;
  issued: KeywordIndex<OrderedRule>;
  fillIns: () => RE2JS[];
  file: RuleFile;
}

/** Of one text; what is beyond is not searched. */
const secretsMax = 100;
/** What a name such as `password` announces stands on its line or on the next ones. */
const nearLines = 2;
const blankEscapes = /\\[nrt](?=\w)/g;
const quoteEscapes = /\\{1,3}(["'])/g;
/** `secret_key_of_v2`, `some.name`, `userName`: words, also those that no list has. */
const namePart = '(?:[a-z]+\\d{0,2}|[A-Z]+\\d{0,2}|\\d{1,4})';
const isNames = new RegExp(
  `^${namePart}(?:[_.:=/-]+${namePart})+$|^[A-Z]?[a-z]{2,20}(?:[A-Z][a-z]{2,20}){0,5}$`,
);
const pairInHeader = /^[\w.@+-]{1,64}:[^\s/:@]{5,100}$/;
/** Letters that were drawn have a few words by chance: so much of them, where they have so many bits each. */
const wordShareMax = 0.25;
const drawnBits = 4.2;

/**
 * What the rules take for a secret, by place, none within another. `guessed: false`: only what its issuer has marked, not
 * what is called a password.
 */
export function secretsIn(text: string, { guessed = true } = {}): Secret[] {
  const plain = withoutEscapes(text);
  return apart([
    ...foundIn(plain, guessed),
    ...encodedIn(plain, guessed),
    ...(guessed ? unknownIn(plain) : []),
  ]);
}

type Found = Secret & { order: number };

function foundIn(text: string, guessed: boolean): Found[] {
  const { all, issued } = rules();
  const found: Found[] = [];
  for (const [rule, places] of (guessed ? all : issued).placesIn(text)) {
    const its = compiled(rule);
    const isAnchored = its.isAnchored && places.length < placesMax;
    for (const part of isAnchored ? starts(text, places, rule) : near(text, places, rule))
      for (const { at, end } of foundBy(its, text, { ...part, isAnchored }))
        if (found.length < secretsMax)
          found.push({ ...{ rule: rule.id, kind: kindOf(rule), at, end }, order: rule.order });
  }
  return found;
}

/** Blanks instead of `\\n` and the like, which are no letters of what they stand before, and of what is before a quote. */
function withoutEscapes(text: string): string {
  if (!text.includes('\\')) return text;
  return text
    .replace(blankEscapes, '  ')
    .replace(quoteEscapes, (all, quote: string) => quote.padStart(all.length));
}

/** In letters of base64: keys in settings of clusters, the name and password of a header. */
function* encodedIn(text: string, guessed: boolean): Generator<Found> {
  for (const { at, end, inside } of encodedTexts(text)) {
    const shown = pairInHeader.test(inside) ? `http://${inside}@host.name` : inside;
    const [first] = foundIn(shown, guessed);
    if (first !== undefined) yield { ...first, at, end };
  }
}

/** Of issuers that no rule knows yet: their mark, and letters that were drawn. */
function* unknownIn(text: string): Generator<Found> {
  const { file } = rules();
  for (const { at, end } of markedTokens(text)) {
    const token = text.slice(at, end);
    const isDrawn = entropyOf(token) > drawnBits;
    if (isDrawn && wordShare(token.toLowerCase(), file.wordParts) <= wordShareMax)
      yield { rule: 'token-by-its-form', kind: 'token', at, end, order: file.rules.length };
  }
}

/** The same text with words instead of what issuers have marked as theirs. */
export function withoutIssued(text: string, instead: string): string {
  let shown = '';
  let from = 0;
  for (const { at, end } of secretsIn(text, { guessed: false })) {
    shown += text.slice(from, at) + instead;
    from = end;
  }
  return shown + text.slice(from);
}

/** `isAnchored`: only what the part begins with. */
function* foundBy(
  rule: Rule,
  text: string,
  { from: first, to: last, isAnchored }: { from: number; to: number; isAnchored: boolean },
): Generator<{ at: number; end: number }> {
  const part = text.slice(first, last);
  const matcher = rule.pattern.matcher(part);
  // As a rule there is nothing. Without groups it is several times faster; anchored, it ends at the first letter that does not fit.
  if (!isAnchored && !(hasRows(part, rule.row) && rule.pattern.test(part))) return;
  while (isAnchored ? matcher.lookingAt() : matcher.find()) {
    const [from, to] = [first + matcher.start(0), first + matcher.end(0)];
    const group = groupOf(rule.text, matcher);
    const [at, end] = [first + matcher.start(group), first + matcher.end(group)];
    if (isSecret(rule, text, { at, end, from, to })) yield { at, end };
    if (from === to || isAnchored) return;
  }
}

function hasRows(part: string, { letters, signs }: NeededRow): boolean {
  return hasRow(part, plainLetters, letters) && hasRow(part, tokenSigns, signs);
}

type Matcher = ReturnType<RE2JS['matcher']>;

function groupOf({ group, last = false }: RuleText, matcher: Matcher): number {
  if (group !== undefined) return group;
  const groups = Array.from({ length: matcher.groupCount() }, (_, at) => at + 1);
  const order = last ? groups.reverse() : groups;
  return order.find((each) => (matcher.group(each) ?? '') !== '') ?? 0;
}

function isSecret(
  { text: { entropy = 0, isGuessed = false }, unless, must }: Rule,
  text: string,
  { at, end, from, to }: { at: number; end: number; from: number; to: number },
): boolean {
  const secret = text.slice(at, end);
  const { fillIns, file } = rules();
  const bits = entropyOf(secret);
  if (bits <= entropy || fillIns().some((each) => each.test(secret))) return false;
  if (file.fillIns.words.some((word) => secret.toLowerCase().includes(word))) return false;
  if (isGuessed && isWords(textOf(secret) ?? secret)) return false;
  if (!must.every((each) => each.test(secret))) return false;
  const lineFrom = text.lastIndexOf('\n', from - 1) + 1;
  const lineTo = text.indexOf('\n', to);
  const parts: Record<Part, string> = {
    ...{ secret, match: text.slice(from, to) },
    line: text.slice(lineFrom, lineTo < 0 ? text.length : lineTo),
  };
  return !unless.some(
    ({ on, patterns, words }) =>
      patterns.some((each) => each.test(parts[on])) ||
      words.some((each) => parts[on].includes(each)),
  );
}

/** What a person would remember; of what is encoded, what it says. */
function isWords(secret: string): boolean {
  if (!/[a-z]/i.test(secret) || isNames.test(secret)) return true;
  if (isMixed(secret)) return false;
  const wordsMax = entropyOf(secret) > drawnBits ? wordShareMax : 0;
  return wordShare(secret.toLowerCase(), rules().file.wordParts) > wordsMax;
}

/** As rules for passwords ask for it: words and names are not written so. */
function isMixed(secret: string): boolean {
  return [/[a-z]/, /[A-Z]/, /[0-9]/, /[!@#$^*?~+&%]/].every((each) => each.test(secret));
}

/** How much of it is words. */
function wordShare(secret: string, words: readonly string[]): number {
  const isWord = new Array<boolean>(secret.length).fill(false);
  for (const word of words)
    for (let at = secret.indexOf(word); at >= 0; at = secret.indexOf(word, at + 1))
      isWord.fill(true, at, at + word.length);
  return isWord.filter((each) => each).length / secret.length;
}

/** What is in reach of these places, in order, without overlap. */
function near(
  text: string,
  places: readonly number[],
  { reach, isGuessed = false }: RuleText,
): { from: number; to: number }[] {
  const parts: { from: number; to: number }[] = [];
  for (const place of places) {
    const line = isGuessed ? lines(text, place) : { from: 0, to: text.length };
    // One more, so that a word is not taken to begin or end where a part does.
    const from = Math.max(line.from, place - reach - 1);
    const to = Math.min(line.to, place + reach + 1);
    const last = parts.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else parts.push({ from, to });
  }
  const last = parts.at(-1);
  // There may be more of them than are counted.
  if (last !== undefined && places.length >= placesMax) last.to = text.length;
  return parts;
}

/** What begins at one of these places, where a word begins. */
function starts(
  text: string,
  places: readonly number[],
  { reach }: RuleText,
): { from: number; to: number }[] {
  return places
    .filter((place) => !/\w/.test(text.charAt(place - 1)))
    .map((from) => ({ from, to: Math.min(text.length, from + reach + 1) }));
}

function lines(text: string, place: number): { from: number; to: number } {
  let to = place;
  for (let line = 0; line <= nearLines && to >= 0; line += 1) to = text.indexOf('\n', to + 1);
  return { from: text.lastIndexOf('\n', place) + 1, to: to < 0 ? text.length : to + 1 };
}

/** Bits for each character, by how often each stands in it. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) {
    const share = count / text.length;
    bits -= share * Math.log2(share);
  }
  return bits;
}

/** Of two that overlap the one of the earlier rule: it knows the issuer. */
function apart(found: Found[]): Secret[] {
  const kept: Secret[] = [];
  for (const { order: _, ...secret } of found.sort((one, other) => one.order - other.order))
    if (!kept.some(({ at, end }) => secret.at < end && at < secret.end)) kept.push(secret);
  return kept.sort((one, other) => one.at - other.at);
}

function kindOf({ id, name }: RuleText): string {
  return (
    name?.replace(/^Generic\b.*/, (its) => its.toLowerCase()) ??
    id.replace(/\.\d+$/, '').replaceAll('-', ' ')
  );
}

let known: Rules | undefined;
const compiledRules = new Map<RuleText, Rule>();

/** Read when a text is searched for the first time: most processes search none. */
function rules(): Rules {
  if (known !== undefined) return known;
  const file = JSON.parse(readFileSync(new URL('rules.json', import.meta.url), 'utf8')) as RuleFile;
  const entries = file.rules.flatMap((rule, order) => {
    const value = { ...rule, order };
    return rule.keywords.map((word) => ({ word, value }));
  });
  let compiledIns: RE2JS[] | undefined;
  // Most texts hold nothing that looks like a secret, and compiling takes longer than to mine a file.
  const fillIns = (): RE2JS[] =>
    (compiledIns ??= file.fillIns.patterns.map((each) => RE2JS.compile(each)));
  const issued = entries.filter(({ value }) => value.isGuessed !== true);
  known = { all: new KeywordIndex(entries), issued: new KeywordIndex(issued), fillIns, file };
  return known;
}

function compiled(text: RuleText): Rule {
  const before = compiledRules.get(text);
  if (before !== undefined) return before;
  const all = (patterns: readonly string[] = []): RE2JS[] =>
    patterns.map((each) => RE2JS.compile(each));
  const rule: Rule = {
    ...{ text, pattern: RE2JS.compile(text.pattern), must: all(text.must) },
    isAnchored: text.keywords.every((word) => beginsWith(text.pattern, word)),
    row: neededRow(text.pattern),
    unless: (text.unless ?? []).map(({ on, patterns, words = [] }) => ({
      ...{ on, words, patterns: all(patterns) },
    })),
  };
  compiledRules.set(text, rule);
  return rule;
}
