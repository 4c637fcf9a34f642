import { readMarkdown, type Fence, type MarkdownText, type Passage } from '../artifact/markdown.js';
import { numerals } from '../artifact/numerals.js';
import { sentencesIn } from '../artifact/sentences.js';
import { claimLimits, type Claim, type Statement, type SymbolName } from './claim.js';
import {
  commandIn,
  isLiteral,
  referenceOfCode,
  referenceOfLink,
  referencesInText,
  type Reference,
} from './references.js';

export interface Extracted {
  claims: Claim[];
  read: MarkdownText;
  /** More than `claimLimits.claims` were there. */
  isCut: boolean;
}

/** Every claim that can be looked up, in order. `path` decides whether the text is a document or a source. */
export function extractClaims(path: string, text: string): Extracted {
  const read = readMarkdown(path, text);
  const claims = new Map<string, Claim>();
  // The first of two that say the same is the more precise one.
  const keep = (claim: Claim): void => {
    const key = keyOf(claim);
    if (!claims.has(key)) claims.set(key, claim);
  };
  let heading: SymbolName | undefined;
  for (const passage of read.passages) {
    if (claims.size > claimLimits.claims) break;
    const tokens = tokensOf(passage);
    if (passage.isHeading) heading = onlySymbol(tokens);
    claimsOf(passage, tokens, passage.isHeading ? undefined : heading).forEach(keep);
  }
  for (const fence of read.fences) fenceClaims(fence, read.lines).forEach(keep);
  const all = [...claims.values()].sort((one, other) => one.line_start - other.line_start);
  return {
    ...{ claims: all.slice(0, claimLimits.claims), read },
    isCut: all.length > claimLimits.claims,
  };
}

function keyOf({ line_start, statement }: Claim): string {
  if (statement.kind === 'line') return `${line_start} ${JSON.stringify(statement.path)}`;
  if (statement.kind === 'constant')
    return `${line_start} ${statement.symbol.name} ${statement.value}`;
  return `${line_start} ${JSON.stringify(statement)}`;
}

/** A reference, with the text between the one before it and itself. */
interface Token {
  before: string;
  reference: Reference;
  line: number;
  /** Offset in the passage. */
  at: number;
}

function tokensOf({ pieces }: Passage): Token[] {
  const tokens: Token[] = [];
  let before = '';
  for (const { type, text, target, line, at, isInLink } of pieces) {
    if (type === 'text') {
      if (isInLink) continue;
      let from = 0;
      for (const found of referencesInText(text)) {
        before += text.slice(from, found.at);
        const place = { line, at: at + found.at };
        tokens.push({ before, reference: found.reference, ...place });
        before = '';
        from = found.end;
      }
      before += text.slice(from);
      continue;
    }
    const reference = type === 'code' ? referenceOfCode(text) : referenceOfLink(target);
    if (reference === undefined) continue;
    tokens.push({ before, reference, line, at });
    before = '';
  }
  // What follows the last reference.
  const nothing: Reference = { type: 'value', value: '' };
  return [...tokens, { before, reference: nothing, line: 0, at: Number.MAX_SAFE_INTEGER }];
}

/** Of a heading that names one symbol and nothing else. */
function onlySymbol(tokens: readonly Token[]): SymbolName | undefined {
  const [first] = tokens;
  return tokens.length === 2 && first?.reference.type === 'symbol'
    ? first.reference.symbol
    : undefined;
}

function claimsOf(
  passage: Passage,
  tokens: readonly Token[],
  heading: SymbolName | undefined,
): Claim[] {
  const sentences = sentencesIn(passage.text).map(({ text, end }) => ({
    end,
    words: wordsOf(text),
  }));
  const subject = subjectOf(tokens) ?? heading;
  let current = 0;
  return tokens.flatMap((token, index) => {
    const next = tokens[index + 1];
    const statements = [
      ...statementsOf(token),
      ...(next === undefined ? [] : relatedTo(token, next, tokens[index + 2]?.before ?? '')),
      ...defaultOf(subject, token),
      ...engineOf(token),
    ];
    while (current < sentences.length - 1 && (sentences[current]?.end ?? 0) <= token.at)
      current += 1;
    const line = token.line === 0 ? passage.line_end : token.line;
    const words = sentences[current]?.words ?? wordsOf('');
    return statements.map((statement) => claimOf(statement, words, line));
  });
}

type Words = Pick<Claim, 'text' | 'is_hard'>;

function wordsOf(sentence: string): Words {
  const text = sentence.trim().slice(0, claimLimits.textChars);
  return { text, is_hard: hard.test(sentence) };
}

function claimOf(statement: Statement, words: Words, line: number): Claim {
  return { ...words, line_start: line, line_end: line, statement };
}

/** RFC 2119 in capitals, followed by what is required: a list of the words binds no one. */
const hard = /\b(?:MUST|SHALL)(?: NOT)? (?!or\b|and\b)[a-z`*_]|\bREQUIRED\b(?! ?[,/])/;

/** What the reference says by itself. */
function statementsOf({ reference }: Pick<Token, 'reference'>): Statement[] {
  switch (reference.type) {
    case 'symbol':
      return [{ kind: 'symbol', symbol: reference.symbol }];
    case 'path': {
      const { path } = reference;
      const named: Statement[] = path.path === '' ? [] : [{ kind: 'path', path }];
      const isDocument = path.path === '' || /\.(?:md|markdown)$/i.test(path.path);
      if (path.anchor !== '' && isDocument) named.push({ kind: 'anchor', path });
      if (path.line_start > 0) named.push({ kind: 'line', path });
      return named;
    }
    case 'option':
      return reference.flags.map((flag) => ({ kind: 'option', flag, command: reference.command }));
    case 'command':
      return [{ kind: 'command', runner: reference.runner, name: reference.name }];
    case 'version':
      return [{ kind: 'version', name: reference.name, value: reference.value }];
    case 'assignment': {
      const { symbol, value } = reference;
      return [
        { kind: 'symbol', symbol },
        { kind: 'constant', symbol, value, unit: '' },
      ];
    }
    case 'value':
      return [];
  }
}

const inFile = /^(?:[\s,]*\(|,? ?\[|,?(?: [a-z]+){0,3} (?:in|at|from|by|of) ?(?:the )?)$/;
/** "There is no `a` in `b.c`", "`a` is not used in `b.c`": the file need not name it. */
const denies =
  /\b(?:no|not|never|nothing|nobody|nowhere|without|absent|missing|removed)\b[^.;:]*$/i;
const definedIn = / (?:defined|declared|implemented) (?:in|at) $/;
const equals = /^\s*(?:is|=|:|defaults to)\s*$/;
const number = String.raw`(-?\d[\d_]*(?:,\d{3})*(?:\.\d+)?)`;
const equalsNumber = new RegExp(
  String.raw`^\s*(?:is|=|defaults to) ${number}(?:\s?(ms|milliseconds?|s|seconds?|minutes?|hours?|days?|[KMG]i?B|bytes))?(?=[\s.,;)]|$)(?! or\b)`,
);
const parameterCount = new RegExp(
  String.raw`^\s*(?:has|have|takes?) (${numerals.slice(1).join('|')}|\d{1,2}) (?:parameters?|arguments?)\b(?!,? or\b)`,
  'i',
);

const throwing =
  /^\s*((?:must |shall |will |can |may )?never throws?|throws nothing|(?:does not|doesn't|cannot|can't|will not|won't|must not|shall not) (?:ever )?throw|throws)\b(?! (?:away|in|into|out|off)\b)/i;

const calling = /^\s+(?:directly )?(?:calls|invokes)\s+(?:the )?$/;
const called =
  /^\s+is (only )?(?:called|invoked) (only |solely )?(?:by|from|in)\s+(?:the )?(?:function |method )?$/;
const neverCalled =
  /^\s+(?:is (?:never|not) (?:called|invoked)(?: anywhere| by (?:anything|anyone))?|is unused|is dead(?: code)?|has no callers?)\s*(?:[.;]|$)/;
const noneCalls =
  /(?:^|[.!?:;])[^\w]*(?:nobody|no one|nothing|no (?:function|method|code|caller))(?: ever)? (?:calls|invokes) (?:the )?$/i;
/** Behind what is said of all code: what goes on may say of which part, when, or except by whom. */
const ends = /^\s*(?:[.;:]|$)/;
/** Before what a sentence begins with; elsewhere it may be what is only supposed. */
const beginsSentence = /(?:^|[.!?:;])[^\w]*$/;
const amount = `(${numerals.slice(1).join('|')}|\\d{1,6})`;
const calledTimes = new RegExp(
  String.raw`^\s+(?:is (?:called|invoked) (?:(?:at|from|in|by) )?|has )(?:exactly |only |just )?${amount} (?:(places?|sites?|call sites?|calls?)|(functions?|methods?|callers?))(?=\s*(?:[.;:]|$))`,
  'i',
);

/** "`a` calls `b`", "`b` is only called by `a`", "`b` is never called", "nobody calls `b`", "`b` is called at three places". */
function callsOf(
  symbol: SymbolName,
  before: string,
  gap: string,
  other: Reference,
  after: string,
): Statement | undefined {
  if (noneCalls.test(before) && ends.test(gap)) return { kind: 'calls', symbol, isOnly: false };
  if (!beginsSentence.test(before)) return undefined;
  if (neverCalled.test(gap)) return { kind: 'calls', symbol, isOnly: false };
  const [, times, places] = calledTimes.exec(gap) ?? [];
  if (times !== undefined)
    return {
      ...{ kind: 'call_count', symbol, value: numeralOf(times) },
      of: places === undefined ? 'functions' : 'places',
    };
  if (other.type !== 'symbol') return undefined;
  if (calling.test(gap))
    return { kind: 'calls', symbol: other.symbol, caller: symbol, isOnly: false };
  const by = called.exec(gap);
  if (by === null) return undefined;
  // Others may be named behind it.
  const isOnly = (by[1] ?? by[2]) !== undefined && ends.test(after);
  return { kind: 'calls', symbol, caller: other.symbol, isOnly };
}

/** What a reference and the next one, or the number behind it, say together. `after`: the text behind the next one. */
function relatedTo({ before, reference }: Token, next: Token, after: string): Statement[] {
  const { before: gap, reference: other } = next;
  if (reference.type !== 'symbol') return [];
  const { symbol } = reference;
  if (other.type === 'path' && inFile.test(gap) && !denies.test(before) && !denies.test(gap)) {
    const { path } = other;
    if (path.line_start > 0) return [{ kind: 'line', symbol, path }];
    return [{ kind: 'definition', symbol, path, isDefined: definedIn.test(gap) }];
  }
  if (other.type === 'value' && other.value !== '' && equals.test(gap))
    return [{ kind: 'constant', symbol, value: other.value, unit: '' }];
  const calls = callsOf(symbol, before, gap, other, after);
  if (calls !== undefined) return [calls];
  const [, never] = throwing.exec(gap) ?? [];
  if (never !== undefined)
    return [{ kind: 'throws', symbol, isNever: never.toLowerCase() !== 'throws' }];
  const [, parameters] = parameterCount.exec(gap) ?? [];
  if (parameters !== undefined)
    return [{ kind: 'parameter_count', symbol, value: numeralOf(parameters) }];
  const [, digits, unit = ''] = equalsNumber.exec(gap) ?? [];
  return digits === undefined || symbol.isCall
    ? []
    : [{ kind: 'constant', symbol, value: digits, unit }];
}

function numeralOf(written: string): number {
  const word = numerals.indexOf(written.toLowerCase());
  return word >= 0 ? word : Number(written);
}

/** The symbol that an item or a paragraph begins with. */
function subjectOf([first]: readonly Token[]): SymbolName | undefined {
  return first?.reference.type === 'symbol' && /^\W{0,4}$/.test(first.before)
    ? first.reference.symbol
    : undefined;
}

const defaultBefore = /\bdefault(?:s to| value| is)?\s?[:=(]?\s*$/i;
const defaultText = new RegExp(
  String.raw`\bdefault(?:s to| value| is)?\s?[:=]?\s*(${number}|true|false|'[^']{1,40}')(?=[\s.,;)]|$)`,
  'i',
);

/** "`limit` (number, default: `5`)": of the subject of an item, or of its heading. */
function defaultOf(subject: SymbolName | undefined, { before, reference }: Token): Statement[] {
  if (subject === undefined) return [];
  const value =
    reference.type === 'value' && defaultBefore.test(before)
      ? reference.value
      : (defaultText.exec(before)?.[1] ?? '');
  return isLiteral(value) ? [{ kind: 'constant', symbol: subject, value, unit: '' }] : [];
}

/** "Node.js `>=20`". */
function engineOf({ before, reference }: Token): Statement[] {
  return reference.type === 'value' &&
    /\bNode(?:\.js)?\s*$/.test(before) &&
    /^[v^~>=\d]/.test(reference.value)
    ? [{ kind: 'version', name: 'node', value: reference.value }]
    : [];
}

const shells = /^(?:sh|bash|shell|console|shell-session|zsh|)$/;

/** Commands of a block of code for a shell, line by line. */
function fenceClaims({ language, text, line_start }: Fence, lines: readonly string[]): Claim[] {
  if (!shells.test(language)) return [];
  const isMarked = /^[\s>*+\d.)-]*(?:`{3}|~{3})/.test(lines[line_start - 1] ?? '');
  const first = line_start + (isMarked ? 1 : 0);
  // What is only indented may be code of any language.
  const command = isMarked ? /^\s*(?:\$ )?[a-z]/ : /^\s*\$ [a-z]/;
  return text.split('\n').flatMap((line, index) => {
    const reference = command.test(line) ? commandIn(line) : undefined;
    const statements = reference === undefined ? [] : statementsOf({ reference });
    return statements.map((statement) => claimOf(statement, wordsOf(line), first + index));
  });
}
