import { isText } from '../../../base/text.js';
import { BusError } from '../../../errors/bus-error.js';
import { askedNames, asksFor, matches } from './asked-symbol.js';
import { concernsOf } from './concerns.js';
import { intentOf, type Asked, type Intent } from './intent.js';
import { abbreviationsOf, alternativesOf } from './lexicon.js';
import { wordsOf } from '../../format/words.js';
import { rolesOf, type Role } from './sentence-roles.js';
import type { OverlayName, QueryIntent } from '../../shapes.js';

/** Longer questions are cut, with a warning: a bug report fits, a whole log does not help. */
export const questionCharsMax = 20_000;
/** Concepts beyond these cost time and add nothing: the first ones of a question carry it. */
export const conceptsMax = 64;

/** Words of a question that is brief. */
const briefWordsMax = 12;

/** Shorter texts stand in any program. */
const messageCharsMin = 10;
/** Lines that are compared with the strings of the code. */
const messagesMax = 200;

/** One thing the question speaks of, in all the ways the index may spell it. */
interface Concept {
  word: string;
  /** How much of the question it carries, relative to a plain word. */
  weight: number;
  /** A symbol's name, as a whole: to mention it is not to be it. */
  isName: boolean;
  /** Where the sentence says so. */
  role?: Role | undefined;
  /** Index terms that stand for it, each with the trust put in it, from 0 to 1. */
  variants: { term: string; trust: number }[];
}

export interface Question {
  text: string;
  /** A few words: they name a place more often than they ask how something happens. */
  isBrief: boolean;
  intent: Intent;
  /** What it asks of the symbol that it names, where it says so; a question about what a change breaks asks for callers. */
  asks: Asked | undefined;
  /** Overlays that its words ask for. */
  concerns: ReadonlySet<OverlayName>;
  /** What looks like a symbol of the code base, exactly as written. */
  identifiers: string[];
  /** Of these, names with what they belong to: `Type.method`, `package.Type`, `a::b`. */
  scoped: string[];
  paths: string[];
  /** Text in quotation marks. */
  quoted: string[];
  /** What a program may have printed: quoted text, and the lines of a question of several lines. */
  messages: string[];
  /** Everything above, for `query_intent`. */
  entities: string[];
  scope: string;
  concepts: Concept[];
  warnings: string[];
}

const abbreviationTrust = 0.7;
const phraseTrust = 0.85;
const identifierWeight = 3;
/** A part of an identifier says little once the whole of it is known. */
const identifierPartWeight = 0.25;
const lightWeight = 0.3;
/** A name of a product or a protocol, in the middle of a sentence, is what it is about. */
const properWeight = 1.5;

const stopWords = new Set(
  (
    'a about all an and any are as at be been being between but by can could did do does for from get gets ' +
    'had has have how i if in into is it its me my of on or our s so some such that the their them then ' +
    'there these they this those to under us was we were what when where which while who whom whose why ' +
    'will with within without would you your please explain describe tell show find give after before ' +
    'happen happens'
  ).split(' '),
);

/** Words about code in general: they help to rank, but are not the subject of a question. */
const lightWords = new Set(
  (
    'code file files function functions method methods class classes module modules kernel linux source ' +
    'implement implemented implementation implements work works used use uses using call calls called caller ' +
    'callers defined define definition declared handle handles handled make made difference compare versus'
  ).split(' '),
);

/** Reads the question without any knowledge of the code base. Throws EMPTY_QUESTION, QUESTION_UNREADABLE. */
export function analyse(raw: string): Question {
  const warnings: string[] = [];
  let text = raw.trim();
  if (text.length > questionCharsMax) {
    text = text.slice(0, questionCharsMax);
    warnings.push(`The question was cut to its first ${questionCharsMax} characters.`);
  }
  if (!isText(text)) throw new BusError('QUESTION_UNREADABLE');
  if (!/[\p{L}\p{N}]/u.test(text)) throw new BusError('EMPTY_QUESTION');
  // The offset of a stack frame (`+0x1f/0x90`) reads like a path.
  const unframed = text.replace(/\+0x[0-9a-f]+\/0x[0-9a-f]+/gi, ' ');
  const paths = unique(
    matches(
      unframed,
      /(?<![\w/.+-])(?:[\w.+-]{1,120}\/)+[\w.+-]{0,120}\w|\b[\w-]{1,120}\.(?:c|h|ts|tsx|js|mjs|py|go|rs|cc|cpp|hpp)\b/g,
    ),
  );
  const quoted = unique(matches(text, /"([^"\n]{2,200})"|“([^”\n]{2,200})”/g));
  const asks = asksFor(text);
  const scoped = unique(matches(withoutPaths(text, paths), scopedName));
  const identifiers = unique([
    ...identifiersIn(text, paths),
    ...askedNames(text, asks, (word) => stopWords.has(word)),
  ]);
  const names = unique(matches(text, /\b(?=\w{0,120}\d)(?=\w{0,120}[A-Za-z])\w{2,40}\b/g)).filter(
    (name) => !/^0x/i.test(name),
  );
  const concepts = conceptsOf(text, identifiers);
  return {
    text,
    isBrief: text.split(/\s+/).length <= briefWordsMax,
    intent: intentOf(text, asks, identifiers.length > 0),
    asks,
    concerns: concernsOf(text),
    identifiers,
    scoped,
    paths,
    quoted,
    messages: messagesIn(text, quoted),
    entities: unique([...identifiers, ...paths, ...quoted, ...names]),
    scope: paths.join(' ') || scopeIn(text),
    concepts,
    warnings,
  };
}

/** Hints that one request may give, and characters of each. */
export const hintsMax = 16;
export const hintCharsMax = 200;
/** A word of a hint says where to look, not the subject of the question. */
const hintWeight = 0.4;

/** The question with hints where to look: names and paths as if it had named them, words at a lower weight. */
export function withHints(question: Question, hints: readonly string[]): Question {
  const text = hints
    .slice(0, hintsMax)
    .map((hint) => hint.slice(0, hintCharsMax))
    .join('\n');
  if (!/[\p{L}\p{N}]/u.test(text) || !isText(text)) return question;
  const hinted = analyse(text);
  const known = new Set(question.concepts.map(({ variants }) => variants[0]?.term));
  const further = hinted.concepts
    .filter(({ variants }) => !known.has(variants[0]?.term))
    .map((concept) => ({ ...concept, weight: concept.weight * hintWeight }));
  const cut = hints.length > hintsMax || hints.some(({ length }) => length > hintCharsMax);
  return {
    ...question,
    identifiers: unique([...question.identifiers, ...hinted.identifiers]),
    paths: unique([...question.paths, ...hinted.paths]),
    concepts: [...question.concepts, ...further].slice(0, conceptsMax),
    warnings: cut
      ? [...question.warnings, `Only ${hintsMax} hints of ${hintCharsMax} characters were read.`]
      : question.warnings,
  };
}

export function queryIntent(question: Question): QueryIntent {
  return {
    intent: question.intent,
    entities: question.entities,
    scope: question.scope,
    refined_query: question.concepts
      .filter((concept) => concept.weight >= 1)
      .map((concept) => concept.word)
      .join(' '),
  };
}

/** The concepts that a piece of text (a name, mostly) speaks of, by their position; the trust of the best variant. */
export function conceptsIn(question: Question, text: string): Map<number, number> {
  const words = new Set(wordsOf(text));
  const found = new Map<number, number>();
  question.concepts.forEach((concept, at) => {
    const trust = Math.max(
      0,
      ...concept.variants.filter((each) => words.has(each.term)).map((each) => each.trust),
    );
    if (trust > 0) found.set(at, trust);
  });
  return found;
}

function messagesIn(text: string, quoted: readonly string[]): string[] {
  const lines = text.split('\n');
  const printed = lines.length > 1 ? lines.map((line) => line.trim()) : [];
  return unique([...quoted, ...printed].filter((line) => line.length >= messageCharsMin)).slice(
    0,
    messagesMax,
  );
}

/** Identifiers that are written as such: a plain word is a name only because there is nothing else. */
export function writtenNames({ identifiers, text }: Question): string[] {
  const isMarked = (name: string): boolean =>
    text.includes(`${name}(`) || text.includes(`\`${name}`);
  return identifiers.filter((each) => /[^a-z]/.test(each.slice(1)) || isMarked(each));
}

const scopedName = /\b(?:[A-Za-z]\w{0,120}(?:::|\.))+[A-Za-z_]\w{0,120}\b/g;

function withoutPaths(text: string, paths: readonly string[]): string {
  return paths.reduce((rest, each) => rest.replaceAll(each, ' '), text);
}

function identifiersIn(text: string, paths: string[]): string[] {
  const prose = withoutPaths(text, paths);
  // Without bounds a long run of letters is read again from each of them.
  const found = [
    ...matches(
      prose,
      /([A-Za-z_]\w{0,120})(?:\.(?:isra|part|constprop|cold)\.?\d*)*\+0x[0-9a-f]+(?:\/0x[0-9a-f]+)?/g,
    ),
    ...matches(prose, /`([A-Za-z_$][\w$.:]{0,120})(?:\(\))?`/g).flatMap((each) =>
      each.split(/::|\./),
    ),
    ...matches(prose, /([A-Za-z_$][\w$]{0,120})\s?\(\)/g),
    ...matches(
      prose,
      /\b(?:function|method|macro|struct|class|symbol|type|interface)\s+([A-Za-z_$][\w$]{0,120})/g,
    ).filter((each) => !stopWords.has(each.toLowerCase()) && !lightWords.has(each.toLowerCase())),
    ...matches(prose, scopedName).flatMap((each) => each.split(/::|\./)),
    ...matches(
      prose,
      /(?<![\w+])(?:_*[A-Za-z]\w{0,120}_\w{0,120}|_+[A-Za-z]\w+|[a-z][a-z0-9]{0,120}[A-Z]\w{0,120}|[A-Z][a-z0-9]{1,120}[A-Z]\w{0,120})/g,
    ),
  ];
  const plain = prose.trim().split(/\s+/);
  // A question of one or two words is a name more often than a sentence.
  if (plain.length <= 2)
    found.push(...plain.filter((each) => /^[A-Za-z_$][\w$]{0,120}$/.test(each)));
  return unique(found).filter((each) => each.length > 1 && !/^0x[0-9a-f]+$/i.test(each));
}

/** Scripts that put no space between words: one run of them is a sentence, and not one word that is not known. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const wordSegmenter = new Intl.Segmenter('zh', { granularity: 'word' });

function wordsApart(token: string): string[] {
  if (!unspaced.test(token)) return [token];
  return [...wordSegmenter.segment(token)].flatMap((each) =>
    each.isWordLike === true ? each.segment : [],
  );
}

function conceptsOf(text: string, identifiers: string[]): Concept[] {
  const known = new Set(identifiers);
  const byWord = new Map<string, Concept>();
  const tokens = (text.match(/[\p{L}_$][\p{L}\p{N}_$]*|\d+/gu) ?? []).flatMap(wordsApart);
  const lower = tokens.map((token) => token.toLowerCase());
  const roles = rolesOf(tokens);
  tokens.forEach((token, at) => {
    const word = lower[at] ?? '';
    if (known.has(token)) {
      const parts = wordsOf(token);
      const whole = parts.find((part) => part === word) ?? parts[0];
      if (whole === undefined) return;
      raise(byWord, {
        word: token,
        weight: identifierWeight,
        isName: true,
        variants: [{ term: whole, trust: 1 }],
      });
      for (const part of parts) {
        if (part === whole) continue;
        raise(byWord, {
          word: part,
          weight: identifierPartWeight,
          isName: false,
          variants: variantsOf(part, []),
        });
      }
      return;
    }
    if (stopWords.has(word) || word.length < 2) return;
    const phrase = [
      ...abbreviationsOf(word, lower[at + 1] ?? ''),
      ...abbreviationsOf(lower[at - 1] ?? '', word),
    ];
    const isProper = at > 0 && /^\p{Lu}/u.test(token);
    const weight = lightWords.has(word) ? lightWeight : isProper ? properWeight : 1;
    const variants = variantsOf(word, phrase);
    if (variants.length > 0)
      raise(byWord, { word, weight, isName: false, role: roles[at], variants });
  });
  return [...byWord.values()].slice(0, conceptsMax);
}

/** Two words that the index cannot tell apart (`buffer`, `buffers`) are one concept. */
function raise(byWord: Map<string, Concept>, concept: Concept): void {
  const key = concept.variants[0]?.term ?? concept.word;
  const known = byWord.get(key);
  if (known === undefined) byWord.set(key, concept);
  else known.weight = Math.max(known.weight, concept.weight);
}

function variantsOf(word: string, phrase: readonly string[]): Concept['variants'] {
  const best = new Map<string, number>();
  const add = (text: string, trust: number): void => {
    for (const term of wordsOf(text)) best.set(term, Math.max(best.get(term) ?? 0, trust));
  };
  add(word, 1);
  for (const each of alternativesOf(word)) add(each, abbreviationTrust);
  for (const each of phrase) add(each, phraseTrust);
  return [...best].map(([term, trust]) => ({ term, trust }));
}

function scopeIn(text: string): string {
  return (
    /\b(?:in|of|within) the ([\w-]+(?: [\w-]+)?) (?:driver|subsystem|module|package|folder|directory|layer)\b/i.exec(
      text,
    )?.[1] ??
    /\bthe ([\w-]+) (?:network |usb |pci |block )?(?:driver|subsystem|module|package)\b/i.exec(
      text,
    )?.[1] ??
    ''
  );
}

function unique(items: string[]): string[] {
  return [...new Set(items)];
}
