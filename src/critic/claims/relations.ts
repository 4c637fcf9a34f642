import { numerals } from '../artifact/numerals.js';
import type { Amount, PathName, Statement, SymbolName } from './claim.js';
import type { Reference } from './references.js';

/** A sentence in which references stand as `⟦S0⟧`, `⟦P1⟧`: a letter for the type, and the number of the reference. */
export interface Masked {
  text: string;
  references: readonly Reference[];
}

/** Something that a sentence says of what it names; `at` and `end` in the masked text. */
export interface Relation {
  statements: Statement[];
  at: number;
  end: number;
}

const letters: Record<Reference['type'], string> = {
  symbol: 'S',
  path: 'P',
  option: 'O',
  environment: 'E',
  script: 'R',
  assignment: 'A',
  module: 'M',
  value: 'V',
  url: 'U',
};

/** Of references at one place the first one stands there. */
export function mask(text: string, named: readonly Reference[], lead?: Reference): Masked {
  const references = [...named];
  let masked = '';
  let from = 0;
  references.forEach((each, at) => {
    if (each.at < from) return;
    masked += `${text.slice(from, each.at)}⟦${letters[each.type]}${at}⟧`;
    from = each.end;
  });
  masked = (masked + text.slice(from)).replaceAll(/\*\*|__(?=⟦)|(?<=⟧)__/g, '');
  const plain = pronounced(masked.replaceAll(/[‘’]/g, "'"));
  const subject = lead === undefined ? null : demonstrative.exec(plain);
  if (lead === undefined || subject === null) return { text: plain, references };
  references.push({ ...lead, at: 0, end: subject[0].length });
  return {
    text: `${subject[1] ?? ''}⟦${letters[lead.type]}${references.length - 1}⟧ ${plain.slice(subject[0].length)}`,
    references,
  };
}

/** A sentence of its own that goes on about what the passage began with. */
const demonstrative =
  /^(\W{0,4})(?:It|This|This (?:function|method|option|class|macro|helper))(?: is (?:the|a) (?:function|method|helper|macro))? (?=(?:is|are|takes|calls|called|has|lives|expects|returns|accepts|defaults|throws|sets|requires|extends|inherits)\b)/;

const pronoun =
  /(?<=[;,] (?:and |where |which )?)it(?= (?:is|takes|calls|has|lives|expects|returns)\b)|(?<=\b(?:calls?|invokes?|uses?) )it(?=[.,;)]|$)/i;

/** "`f` is …, and three places call it": `it` is what the sentence begins with, where nothing else may be meant. */
function pronounced(masked: string): string {
  const lead = /^\W{0,4}(?:the \w{1,20} )?(⟦S\d+⟧)/i.exec(masked);
  const match = pronoun.exec(masked);
  if (lead === null || match === null) return masked;
  if (/⟦S/.test(masked.slice(lead[0].length, match.index))) return masked;
  return `${masked.slice(0, match.index)}${lead[1] ?? ''}${masked.slice(match.index + 2)}`;
}

const noun =
  '(?:\\s(?:function|functions|method|methods|macro|macros|struct|structs|structure|class|classes|type|types|interface|constant|constants|variable|symbol|helper|helpers|routine|module|option|setting|property|field|parameter|enum|object|flag)){0,2}';
const one = (letter: string): string => `⟦${letter}\\d+⟧`;
const list = (letter: string): string =>
  `${one(letter)}(?:(?:, and |, or |, | and | or |/)(?:by |from |in )?${one(letter)}){0,11}`;
const article = '(?:the |a |an |its |their |our |both )?';
const fileWord = `${article}(?:(?:file|files|module|folder|directory|header|source file|script|test file|header file) )?`;
/** What is said of a place in between: "is defined in F and …". */
const aside = '(?:[^⟦.;]{0,40}⟦P\\d+⟧\\)?,?(?: and)?)?';
const amount =
  '((?:exactly|only|just|at least|at most|no more than|no fewer than|more than|over|up to|about|around|roughly|nearly|some|fewer than|less than|a total of) )?' +
  '(\\d[\\d,_]{0,12}|no|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a single|a dozen)';
const adverbs = '(?:(?:\\w+|\\(\\)) ){0,2}?';
const verbs = {
  defined: 'defined|declared|implemented|written',
  found: 'found|located|kept|stored|placed|provided|housed',
  defines: 'defines|declares|implements|define|declare|implement',
  has: 'contains|holds|provides|has|offers|contain|hold|provide|have',
};
const units =
  '(?:ms|milliseconds?|seconds?|secs?|s|minutes?|hours?|days?|bytes?|[KMG]i?B|kilobytes?|megabytes?|entries|items|files|characters|lines|tokens|attempts|times)';
const value = `(${one('V')}|\\[(?:'[\\w./:-]{1,40}'(?:, ?)?){0,8}\\](?!\\()|'[\\w./:-]{1,40}'(?=[\\s.,;)]|$)|0x[\\da-f]{1,16}|0b[01]{1,32}|[-+]?\\d(?:[\\d,_]{0,20}\\d)?(?:\\.\\d{1,6})?(?:e\\d{1,3})?|true|false|null|undefined)(?:\\s?(${units})\\b)?`;

interface Rule {
  pattern: RegExp;
  state: (match: RegExpExecArray, masked: Masked) => Statement[];
}

const rule = (source: string, state: Rule['state'], flags = 'gi'): Rule => ({
  pattern: new RegExp(source, flags),
  state,
});

function howOf(defined?: string, exported?: string): 'in' | 'defined' | 'exported' {
  if (exported !== undefined) return 'exported';
  return defined === undefined ? 'in' : 'defined';
}

/** Every quantifier is bounded: a sentence is read in time linear in its length. */
const rules: Rule[] = [
  rule(
    `(${list('S')})${noun}(?: \\([^()]{0,60}\\))?,?(?: which| that)? (?:is|are|can be|may be) ${adverbs}(?:(${verbs.defined})|${verbs.found}|(exported)) (?:in|at|by|from|inside|within|under) ${fileWord}(${list('P')})`,
    ([, symbols, defined, exported, paths], masked) =>
      definitions(masked, symbols, paths, howOf(defined, exported)),
  ),
  rule(
    `(${list('S')})${noun},? (?:(?:lives?|sits?|stands?|resides?|comes?|exists?) )?(?:in|from|at|inside|within) ${fileWord}(${one('P')})`,
    ([whole = '', symbols, paths], masked) =>
      definitions(
        masked,
        symbols,
        paths,
        /\b(?:lives?|resides?|sits?|stands?)\b/.test(whole) ? 'defined' : 'in',
      ),
  ),
  rule(
    `(${one('S')})${noun} \\((?:(defined |declared |implemented )?(?:in|see|at|from) )?${fileWord}(${one('P')})\\)`,
    ([, symbols, defined, paths], masked) => definitions(masked, symbols, paths, howOf(defined)),
  ),
  rule(
    `(${one('P')}),? ${adverbs}(?:(${verbs.defines})|(exports?)|${verbs.has}) ${article}(?:\\w+ ){0,2}?(${list('S')})`,
    ([, paths, defined, exported, symbols], masked) =>
      definitions(masked, symbols, paths, howOf(defined, exported)),
  ),
  rule(
    `(${one('S')})${noun} is (?:a|an|the|one) (?:\\w+ ){1,4}?(?:of|from) ${fileWord}(${one('P')})`,
    ([, symbols, paths], masked) => definitions(masked, symbols, paths, 'in'),
  ),
  rule(
    `(${one('S')})${noun}${aside},? (?:which |that )?(?:directly )?(?:extends|inherits from|derives from|is derived from|is a (?:direct )?subclass of) ${article}(?:class )?(${one('S')})`,
    ([, derived, base], masked) =>
      symbolsOf(masked, derived).flatMap((symbol) =>
        symbolsOf(masked, base).map((its) => ({ kind: 'extends' as const, symbol, base: its })),
      ),
  ),
  rule(
    `(${list('S')})${noun} (?:both |all )?(?:extend|inherit from|derive from) ${article}(?:class )?(${one('S')})`,
    ([, derived, base], masked) =>
      symbolsOf(masked, derived).flatMap((symbol) =>
        symbolsOf(masked, base).map((its) => ({ kind: 'extends' as const, symbol, base: its })),
      ),
  ),
  rule(
    `(${one('S')})${noun},? (?:equals|is equal to|is set to|defaults to|is defined as) (${one('S')})`,
    ([, symbol, other], masked) =>
      symbolsOf(masked, other).every(({ name, isMarked }) => isMarked && isConstantName(name))
        ? constants(masked, symbol, other, '')
        : [],
  ),
  rule(
    `(${one('S')})${noun} (?:has|with) (?:exactly |only )?(?:a single|one) (?:caller|call site|call)(?:,? (?:in|which is|namely)|,|:) (${one('S')})`,
    ([, to, from], masked) => calls(masked, from, to),
  ),
  rule(
    `(${one('S')})${noun} is (?:only )?used (?:only )?by (${list('S')})`,
    ([, to, from], masked) =>
      [...symbolsOf(masked, to), ...symbolsOf(masked, from)].every(({ isCall }) => isCall)
        ? calls(masked, from, to)
        : [],
  ),
  rule(
    `(${list('S')}|${one('P')})${noun},? (?!(?:the |a )?(?:users?|you|we|they|one|callers?|drivers?|clients?) )${adverbs}(?:(?<!system )calls?|invokes?|(?<!(?:instead of|without|before|after|than|from) )calling) ${article}(?:\\w+ )?(${list('S')})`,
    ([, from, to], masked) => calls(masked, from, to),
  ),
  rule(
    `(${list('S')})${noun}(?:[^⟦.;]{0,40}⟦P\\d+⟧)?(?:[^⟦.;]{0,30}\\b)??(?:called|invoked) (?:only |directly |once |internally |just )?(?:by|from|in|within|inside) ${article}(?:\\w+ )?(${list('S')}|${one('P')})(?! (?:callback|hook|handler))`,
    ([, to, from], masked) => calls(masked, from, to),
  ),
  rule(
    `${amount} (?:\\w+ ){0,2}?(?:arguments?|parameters?|options?|fields?|members?|functions?|methods?|files?|flags?|events?|properties|types|values|states|modes|classes|hooks|callbacks|macros|constants|modules|commands),? ?(?:[-–:(]|namely|called|named)? ?(${one('[SVPO]')}(?:, ${one('[SVPO]')}){0,9},? and ${one('[SVPO]')})`,
    ([whole = '', bound, number, names]) =>
      /\b(?:of|first|last|other|more) /.test(whole)
        ? []
        : [
            {
              kind: 'list_count',
              amount: amountOf(bound, number),
              listed: numbersIn(names).length,
            },
          ],
  ),
  rule(`(${one('S')}) (?:SQL |database |SQLite )table\\b`, ([, symbol], masked) =>
    symbolsOf(masked, symbol).map(({ name }) => ({ kind: 'table' as const, name })),
  ),
  rule(
    `(?:exactly |only |at most |up to |no more than )?(\\d[\\d,_]{0,12}) (?:\\w+ ){0,3}?(?:at most |at least )?\\((${one('S')})\\)`,
    ([, number, symbol], masked) => constants(masked, symbol, number, ''),
  ),
  rule(
    `(${list('S')})${noun} (?:is|are) (?:a |an |the |one of the )?(?:static )?(?:method|member|field|property|function)s? of ${article}(?:class |struct(?:ure)? |object )?(${one('S')})`,
    ([, names, owner], masked) => members(masked, owner, names),
  ),
  rule(
    `(?:method|member|field|property|attribute)s? (${list('S')}) of ${article}(?:class |struct(?:ure)? |object )?(${one('S')})`,
    ([, names, owner], masked) => members(masked, owner, names),
  ),
  rule(
    `(${one('S')})${noun} (?:has|offers|provides) ${article}(?:method|member|field)s? (${list('S')})`,
    ([, owner, names], masked) => members(masked, owner, names),
  ),
  rule(
    `(${one('S')})${noun} ${adverbs}(?:has|with|holds|contains) ${amount} (?:members|fields)\\b`,
    ([, symbol, bound, number], masked) =>
      symbolsOf(masked, symbol).map((its) => ({
        kind: 'member_count' as const,
        symbol: its,
        amount: amountOf(bound, number),
      })),
  ),
  rule(
    `(${one('S')})${noun}(?: (?:of|in) ⟦P\\d+⟧)? ${adverbs}(?:sets|clears|throws|emits|rejects with) ${article}(?:\\w+ )?(${one('S')})`,
    ([, from, to], masked) =>
      symbolsOf(masked, to).every(
        ({ name }) => isConstantName(name) || /(?:Error|Exception)$/.test(name),
      )
        ? symbolsOf(masked, from).flatMap((its) =>
            symbolsOf(masked, to).map((each) => ({
              kind: 'mention' as const,
              from: its,
              to: each,
            })),
          )
        : [],
  ),
  rule(
    `(?:emit(?:s|ted)?|fires?) ${article}(${one('[SV]')})(?! (?:function|method))|((?:${one('[SV]')}(?:, | and | or |, and ))?${one('[SV]')}) events?\\b|\\bevents? (?:named |called )?(${one('[SV]')})`,
    ([, one_, before, after], masked) => events(masked, one_ ?? before ?? after),
  ),
  rule(
    `(${one('S')})${noun} (?:is|are|gets?) ${adverbs}(?:called|invoked|used) (?:(?:from|by|in|at) )?${amount} (?:different |other |distinct |separate |call )?(places?|sites?|functions?|callers?|files?|locations?|spots?|times|methods?)`,
    ([, symbol, bound, number], masked) => callers(masked, symbol, bound, number),
  ),
  rule(
    `(${one('S')})${noun}${aside} ${adverbs}(?:has|with|counts) ${amount} (?:direct |known |different )?(?:callers?|call sites?|calling functions?|usages?)`,
    ([, symbol, bound, number], masked) => callers(masked, symbol, bound, number),
  ),
  rule(
    `${amount} (?:direct )?(?:callers|call sites|functions|places|sites) (?:of|calls?|calling|that call|which call|use) (${one('S')})`,
    ([, bound, number, symbol], masked) => callers(masked, symbol, bound, number),
  ),
  rule(
    `(?:nothing|nobody|no one|no function|no other function) (?:ever )?calls (${one('S')})|(${one('S')})${noun} is never called\\b`,
    ([, one_, other], masked) => callers(masked, one_ ?? other, '', 'no'),
  ),
  rule(
    `(${one('P')}),? ${adverbs}(?:exports?|defines?|contains?|has|have|declares?|implements?|holds?) ${amount} ((?:exported |public |static |top-level |inline )?(?:functions?|methods?|class|classes|structs?|structures|macros?|types|interfaces?|exports|symbols|constants))\\b`,
    ([, path, bound, number, what = ''], masked) =>
      counted(masked, path, bound, number, (its, many) => ({
        kind: 'symbol_count',
        path: its,
        what,
        amount: many,
      })),
  ),
  rule(
    `${amount} ((?:exported |public |static )?(?:functions|methods|classes|structs|macros|interfaces)) (?:in|of|from) ${fileWord}(${one('P')})`,
    ([, bound, number, what = '', path], masked) =>
      counted(masked, path, bound, number, (its, many) => ({
        kind: 'symbol_count',
        path: its,
        what,
        amount: many,
      })),
  ),
  rule(
    `(${one('P')})(?: folder| directory)?,? ${adverbs}(?:has|have|holds?|contains?|consists of|comprises|counts) ${amount} ((?:[\\w.+#]+ ){0,2}?)(?:files|modules)\\b`,
    ([, path, bound, number, what = ''], masked) =>
      counted(masked, path, bound, number, (its, many) => ({
        kind: 'file_count',
        path: its,
        what: what.trim(),
        amount: many,
      })),
  ),
  rule(
    `${amount} ((?:[\\w.+#]+ ){0,2}?)files (?:in|under|below|of|inside) ${fileWord}(${one('P')})`,
    ([, bound, number, what = '', path], masked) =>
      counted(masked, path, bound, number, (its, many) => ({
        kind: 'file_count',
        path: its,
        what: what.trim(),
        amount: many,
      })),
  ),
  rule(
    `(${one('P')}),? ${adverbs}(?:is|has|counts|contains|holds|spans) ${amount} lines\\b(?! of comment)`,
    ([, path, bound, number], masked) =>
      counted(masked, path, bound, number, (its, many) => ({
        kind: 'line_count',
        path: its,
        amount: many,
      })),
  ),
  rule(
    `(${one('S')})${noun}${aside} ${adverbs}(?:takes|accepts|has|expects|receives|wants|requires) ${amount} (?:\\w+ )?(?:parameters?|arguments?|args|params)\\b`,
    ([, symbol, bound, number], masked) =>
      symbolsOf(masked, symbol).map((its) => ({
        kind: 'parameter_count',
        symbol: its,
        amount: amountOf(bound, number),
      })),
  ),
  rule(
    `(${one('S')})${noun} ${adverbs}(?:takes|accepts|has|expects|receives|wants|requires) ${article}(?:\\w+ ){0,2}?(?:(?:parameters?|arguments?) (${list('S')})|(${list('S')})(?: as)? (?:\\w+ )?(?:parameters?|arguments?)\\b)`,
    ([, symbol, named, before], masked) =>
      symbolsOf(masked, symbol).flatMap((its) =>
        symbolsOf(masked, named ?? before).map((each) => ({
          kind: 'parameter' as const,
          symbol: its,
          parameter: each.name,
        })),
      ),
  ),
  rule(
    `(${one('S')})${noun} ${adverbs}(?:returns|resolves to|resolves with) ${article}(${one('S')}|${one('V')})`,
    ([, symbol, type], masked) =>
      symbolsOf(masked, symbol).map((its) => ({
        kind: 'returns',
        symbol: its,
        type: written(masked, type),
      })),
  ),
  rule(
    `(${one('S')})${noun}(?: (?:in|of|from) ${fileWord}${one('P')})?,? (?:\\([^()]{0,60}\\) )?(?:which |that |and )?(?:currently |normally |usually )?(?:defaults? to|default(?:s)? (?:is|are|of)|is set to|is limited to|is fixed at|equals|starts (?:out )?(?:as|at|with)|is initiali[sz]ed (?:to|with)|is initially|has a default(?: value)? of|has the (?:default )?value(?: of)?|is by default|(?:is|are) (?=⟦V|\\d)|=|:=|of (?=\\d)|\\((?:default:? |defaults to |by default )?(?=⟦V|\\d)) ?${article}${value}`,
    ({ 0: whole, 1: symbol, 2: its, 3: unit, index }, masked) =>
      isValueOf(whole, masked.text.slice(index + whole.length), masked, symbol)
        ? constants(masked, symbol, its, unit)
        : [],
  ),
  rule(
    `(?:default(?: value)? (?:of|for)|(?<!maximum |minimum |upper |lower )limit|constant|value of|size of) ${article}(${one('S')})${noun} (?:is|of|at|to) ${value}`,
    ([, symbol, its, unit], masked) => constants(masked, symbol, its, unit),
  ),
  rule(
    `(${one('S')})${noun}[^⟦]{0,40}? (?:tested|covered|exercised|checked) (?:in|by) ${fileWord}(${one('P')})`,
    ([, symbol, path], masked) => tests(masked, symbol, path),
  ),
  rule(
    `tests? (?:for|of) ${article}(${one('S')})(?:[^⟦.]{0,40}?(?:in|at) ${fileWord}(${one('P')}))?`,
    ([, symbol, path], masked) => tests(masked, symbol, path),
  ),
];

/** Of a macro, or of a value of an enumeration. */
export function isConstantName(name: string): boolean {
  return /^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/.test(name);
}

/** Adjacent calls and definitions may overlap: all rules read the whole sentence. */
export function relationsIn(masked: Masked): Relation[] {
  const found: Relation[] = [];
  for (const { pattern, state } of rules) {
    for (const match of masked.text.matchAll(pattern)) {
      const statements = state(match, masked);
      if (statements.length > 0)
        found.push({ statements, at: match.index, end: match.index + match[0].length });
    }
  }
  return found;
}

function numbersIn(text: string | undefined): number[] {
  return [...(text ?? '').matchAll(/⟦[A-Z](\d+)⟧/g)].map(([, at]) => Number(at));
}

export function symbolsOf({ references }: Masked, text: string | undefined): SymbolName[] {
  return numbersIn(text).flatMap((at) => {
    const each = references[at];
    return each?.type === 'symbol' ? [each.symbol] : [];
  });
}

export function pathsOf({ references }: Masked, text: string | undefined): PathName[] {
  return numbersIn(text).flatMap((at) => {
    const each = references[at];
    return each?.type === 'path' ? [each.path] : [];
  });
}

function definitions(
  masked: Masked,
  symbols: string | undefined,
  paths: string | undefined,
  how: 'defined' | 'in' | 'exported',
): Statement[] {
  const [path, ...others] = pathsOf(masked, paths);
  // In several files: which of them has which is not said.
  if (path === undefined || others.length > 0) return [];
  return symbolsOf(masked, symbols).map((symbol) => ({ kind: 'definition', symbol, path, how }));
}

function calls(masked: Masked, from: string | undefined, to: string | undefined): Statement[] {
  const callers = [...symbolsOf(masked, from), ...pathsOf(masked, from)];
  return callers.flatMap((caller) =>
    symbolsOf(masked, to).map((callee) => ({ kind: 'call' as const, from: caller, to: callee })),
  );
}

function callers(
  masked: Masked,
  symbol: string | undefined,
  bound: string | undefined,
  number: string | undefined,
): Statement[] {
  return symbolsOf(masked, symbol).map((its) => ({
    kind: 'caller_count',
    symbol: its,
    amount: amountOf(bound, number),
  }));
}

function counted(
  masked: Masked,
  path: string | undefined,
  bound: string | undefined,
  number: string | undefined,
  state: (path: PathName, amount: Amount) => Statement,
): Statement[] {
  return pathsOf(masked, path).map((its) => state(its, amountOf(bound, number)));
}

/** `is 5` of a variable in lower case may say what something is like; where it ends there, it is set to it. */
function isValueOf(
  whole: string,
  after: string,
  masked: Masked,
  symbol: string | undefined,
): boolean {
  if (!/⟧\S* (?:is|are) (?:the |a |an )?(?:⟦V|\d)/.test(whole)) return true;
  const ends = /^(?:\s?$|[.,;:)](?:\s|$)| (?:in|by|of|at|unless|and)\b)/.test(after);
  if (ends && symbolsOf(masked, symbol).every(({ isMarked }) => isMarked)) return true;
  return symbolsOf(masked, symbol).every(({ name }) => /^[A-Z][A-Z0-9_]+$|Max$|Min$/.test(name));
}

export function constants(
  masked: Masked,
  symbol: string | undefined,
  its: string | undefined,
  unit: string | undefined,
): Statement[] {
  return symbolsOf(masked, symbol).map((each) => ({
    kind: 'constant',
    symbol: each,
    value: written(masked, its),
    unit: unit ?? '',
  }));
}

function members(
  masked: Masked,
  owner: string | undefined,
  names: string | undefined,
): Statement[] {
  return symbolsOf(masked, owner).flatMap((symbol) =>
    symbolsOf(masked, names).map((member) => ({ kind: 'member' as const, symbol, member })),
  );
}

function events({ references }: Masked, text: string | undefined): Statement[] {
  return numbersIn(text).flatMap((at): Statement[] => {
    const each = references[at];
    const name =
      each?.type === 'value'
        ? /^['"]([\w:-]{2,60})['"]$/.exec(each.value)?.[1]
        : each?.type === 'symbol' && each.symbol.isMarked && !each.symbol.isCall
          ? each.symbol.name
          : undefined;
    return name === undefined ? [] : [{ kind: 'event', name }];
  });
}

function tests(masked: Masked, symbol: string | undefined, path: string | undefined): Statement[] {
  const [where] = pathsOf(masked, path);
  return symbolsOf(masked, symbol).map((its) => ({
    kind: 'test',
    symbol: its,
    ...(where === undefined ? {} : { path: where }),
  }));
}

function written({ references }: Masked, text: string | undefined): string {
  const [at] = numbersIn(text);
  if (at === undefined) return text ?? '';
  const each = references[at];
  if (each?.type === 'value') return each.value;
  return each?.type === 'symbol' ? each.symbol.name : '';
}

const namedAmounts: Readonly<Record<string, number>> = { no: 0, 'a single': 1, 'a dozen': 12 };

export function amountOf(bound: string | undefined, number: string | undefined): Amount {
  const said = (number ?? '').toLowerCase();
  const named = namedAmounts[said] ?? numerals.indexOf(said);
  const count = named >= 0 ? named : Number(said.replaceAll(/[,_]/g, ''));
  const word = (bound ?? '').trim().toLowerCase();
  if (/^(?:at least|no fewer than)$/.test(word)) return { value: count, bound: 'at least' };
  if (/^(?:more than|over)$/.test(word)) return { value: count + 1, bound: 'at least' };
  if (/^(?:at most|up to|no more than)$/.test(word)) return { value: count, bound: 'at most' };
  if (/^(?:fewer|less) than$/.test(word)) return { value: count - 1, bound: 'at most' };
  if (/^(?:about|around|roughly|nearly|some)$/.test(word)) return { value: count, bound: 'about' };
  return { value: count, bound: 'exactly' };
}

/** Value that follows "default", without a subject before it in the same breath. */
export const defaultValue = new RegExp(
  `\\bdefaults?(?: value)?(?: is| are|:| to| =|=| –| -(?= ))? ?${article}${value}|\\bdefaults?:? ${value}`,
  'i',
);
