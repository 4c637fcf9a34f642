import type { Asked } from './intent.js';

/** `Which functions does X call?` asks for the other end than `Which functions call X?`. */
const calleesAsked = /\b(?:do|does|did)\b.{0,120}\b(?:call|use|invoke|depend on)\b/i;
const callersAsked =
  /\b(?:who|what|which)(?:\s\w{1,40}){0,2}?\s(?:calls?|uses?|invokes?)\b|\b(?:callers?|users?|usages?|uses) of\b|\bwhere\b.{0,120}\b(?:called|used|invoked)\b|\b(?:called|used|invoked) by\b/i;

/** A change breaks those that use what is changed. */
const impactAsked =
  /\bwhat\b.{0,80}\b(?:breaks?|is affected|are affected|depends? on)\b|\bimpact of\b|\baffected (?:by|if|when)\b/i;
const implementationsAsked =
  /\b(?:implementations?|implementers?|implementors?|subclasses|subtypes|overrides) of\b|\b(?:who|what|which)(?:\s\w{1,40}){0,2}?\s(?:implements?|extends?|overrides?|(?:is|are) derived from|derives? from|inherits? from)\b/i;

/** What stands right behind the verb, without an article, is a name. */
const implemented =
  /\b(?:implements?|extends?|overrides?|implementations of|subclasses of|derived from|derives? from|inherits? from)\s(?!the\b|an?\b)([A-Za-z_]\w{0,120})/gi;

/** So is what ends the question, one or several, or stands before the verb. */
const calledAtEnd =
  /\b(?:calls?|uses?|invokes?|(?:callers?|users?|uses) of)\s(?!the\b|an?\b)([A-Za-z_]\w{0,120}(?:\(\))?(?:(?:,\s|,?\s(?:and|or)\s)[A-Za-z_]\w{0,120}(?:\(\))?){0,5})\W{0,3}$/gi;
const calling =
  /\b(?:does|do|did)\s(?!the\b|an?\b)([A-Za-z_]\w{0,120})(?:\(\))?\s(?:call|use|invoke)\b/gi;

/** Where the name that is asked about stands, if it is known to be one. */
const besides = {
  callers: [
    /\b(?:calls?|uses?|invokes?|(?:callers?|users?|usages?|uses) of|(?:called|used|invoked) by)\s`?([A-Za-z_][\w.:]{0,240}\w)/gi,
    /\b(?:is|are|does|if|when)\s`?([A-Za-z_][\w.:]{0,240}\w)(?:\(\))?`?\s(?:is\s)?(?:called|used|invoked|changes?|breaks?)\b/gi,
  ],
  callees: [
    /\b(?:does|do|did)\s`?([A-Za-z_][\w.:]{0,240}\w)(?:\(\))?`?\s(?:call|use|invoke|depend)\b/gi,
  ],
  implementations: [
    /\b(?:implements?|extends?|overrides?|(?:implementations?|implementers?|implementors?|subclasses|subtypes|overrides) of)\s`?([A-Za-z_][\w.:]{0,240}\w)/gi,
  ],
};

/** `X call chain`, `the call path to X`: the name stands beside it, without an article. */
const chainedBefore =
  /(?<![\w.:])(?!(?:the|an?|its|their|this|that|which|what|each|every)\b)((?:[A-Za-z_]\w{0,120}(?:::|\.))*[A-Za-z_]\w{0,120})(?:\(\))?\s(?:call|calling)[\s-](?:chain|path|sequence|tree|graph|hierarchy)s?\b/gi;
const chainedBehind =
  /\b(?:call|calling)[\s-](?:chain|path|sequence|tree|graph|hierarchy)s?\s(?:of|for|from|to|through|around)\s(?!(?:the|an?|its|their|this|that|each|every)\b)((?:[A-Za-z_]\w{0,120}(?:::|\.))*[A-Za-z_]\w{0,120})/gi;

const sentenceCharsMax = 300;

/** What asks for callers or implementations is one sentence; a report speaks of them by the way. */
export function isSentence(text: string): boolean {
  return text.length <= sentenceCharsMax && !text.trim().includes('\n');
}

export function asksFor(text: string): Asked | undefined {
  if (!isSentence(text)) return undefined;
  if (namesBeside(text).length > 0) return 'chain';
  if (calleesAsked.test(text)) return 'callees';
  if (implementationsAsked.test(text)) return 'implementations';
  return callersAsked.test(text) || impactAsked.test(text) ? 'callers' : undefined;
}

/** Of what is asked for its users or implementations, a name in capitals is the symbol, and a word behind the verb; a pronoun is neither. `isPlain`: a word of any sentence. */
export function askedNames(
  text: string,
  asks: Asked | undefined,
  isPlain: (word: string) => boolean,
): string[] {
  if (asks === undefined) return [];
  if (asks === 'chain') return namesBeside(text);
  const behind = { implementations: implemented, callers: calledAtEnd, callees: calling }[asks];
  const listed = matches(text, behind).flatMap((each) => each.split(/[(),\s]+(?:(?:and|or)\s+)?/));
  const names = [...matches(text, /(?<=\S\s)\b[A-Z]+[a-z]\w{0,120}\b/g), ...listed];
  return names.filter((each) => each !== '' && !isPlain(each.toLowerCase()));
}

/** Of a question. */
interface Naming {
  text: string;
  asks: Asked | undefined;
  scoped: readonly string[];
  identifiers: readonly string[];
}

/** The one symbol that it asks about: the only name, or that which stands beside the verb. */
export function namedBeside({ text, asks, scoped, identifiers }: Naming): string | undefined {
  const names = scoped.length > 0 ? scoped : identifiers;
  if (asks === undefined || names.length < 2) return asks && names[0];
  const beside = asks === 'chain' ? [chainedBefore, chainedBehind] : besides[asks];
  const found = beside.flatMap((each) => matches(text, each));
  return names.find((name) => found.includes(name));
}

function namesBeside(text: string): string[] {
  const names = [...matches(text, chainedBefore), ...matches(text, chainedBehind)];
  return names.flatMap((each) => each.split(/::|\./).slice(-1));
}

/** Whole matches, or their first group that took part. */
export function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(
    (each) =>
      (each.slice(1) as (string | undefined)[]).find((group) => group !== undefined) ?? each[0],
  );
}
