import { claimLimits, type Claim, type Stance, type Statement, type SymbolName } from './claim.js';
import { codeClaims } from './code-claims.js';
import { lineAt, readDocument, type Passage, type ReadDocument } from './document.js';
import { referencesIn, isLiteral, type Reference } from './references.js';
import {
  constants,
  defaultValue,
  isConstantName,
  mask,
  relationsIn,
  symbolsOf,
  type Masked,
} from './relations.js';
import { isHardRule, sentencesOf, stanceAt, stanceOfRelation, type Sentence } from './sentences.js';

export interface Extracted {
  claims: Claim[];
  document: ReadDocument;
  /** There were more than `claimLimits.claims`. */
  isCut: boolean;
}

/** Every claim of a document that names something of the code, in order. `name`: of the file, for its syntax. */
export function extractClaims(name: string, text: string): Extracted {
  const document = readDocument(name, text);
  const claims: Claim[] = [];
  const seen = new Set<string>();
  for (const passage of document.passages) {
    for (const claim of [...claimsOf(passage), ...wordings(passage)]) {
      const key = `${claim.line_start} ${JSON.stringify(claim.statement)}`;
      if (seen.has(key)) continue;
      seen.add(key);
      claims.push(claim);
    }
    if (claims.length > claimLimits.claims) break;
  }
  for (const { statement, ...place } of codeClaims(document.code, /\.(?:rst|[ch])$/.test(name)))
    claims.push({ ...place, statement, stance: 'asserted', is_hard: false });
  const isCut = claims.length > claimLimits.claims;
  return { claims: claims.slice(0, claimLimits.claims), document, isCut };
}

/** "it throws with "no such thing"": what is said to be printed. */
function errorTexts(passage: Passage, sentence: Sentence): Claim[] {
  const said =
    /\b(?:throws?|rejects?|fails?|error|message|warn(?:s|ing)?|prints?|logs?)\b[^"“.;]{0,60}["“]([^"”]{8,160})["”]/gi;
  return [...sentence.text.matchAll(said)].flatMap((match) => {
    const text = match[1] ?? '';
    if ((text.match(/[A-Za-z]{2,}/g) ?? []).length < 3 || /[<>{}[\]$'`\d]|--|\.\.\.|…/.test(text))
      return [];
    const at = match.index + match[0].length - text.length - 1;
    return [
      claimOf(passage, sentence, {
        statement: {
          kind: 'wording',
          text,
          near: '',
          isError: /throw|reject|fail|error/i.test(match[0]),
        },
        ...{ at, end: at + text.length, stance: stanceAt(sentence.text, at) },
      }),
    ];
  });
}

/** The message that a row or item gives for the code that it begins with. */
function wordings(passage: Passage): Claim[] {
  const [first] = referencesIn(passage.text);
  if (first?.type !== 'symbol' || first.at > 8 || !isConstantName(first.symbol.name)) return [];
  return [...passage.text.matchAll(/`([^`]{8,200})`/g)].flatMap((match) => {
    const text = match[1] ?? '';
    if (!/^['"%\w][^=(){}]*\s\S+\s[^=(){}]*$/.test(text)) return [];
    return [
      claimOf(
        passage,
        { text: match[0], at: match.index },
        {
          statement: { kind: 'wording', text, near: first.symbol.name },
          ...{ at: 0, end: match[0].length, stance: 'asserted' },
        },
      ),
    ];
  });
}

function claimsOf(passage: Passage): Claim[] {
  const sentences = sentencesOf(passage.text);
  return sentences.flatMap((sentence) => {
    const references = referencesIn(sentence.text);
    const masked = mask(sentence.text, references, leadOf(passage, sentence));
    return [
      ...existence(passage, sentence, references),
      ...related(passage, sentence, masked),
      ...defaults(passage, sentence, masked),
      ...packages(passage, sentence, masked),
      ...errorCodes(passage, sentence),
      ...headed(passage, sentence, masked),
      ...texts(passage, sentence),
      ...errorTexts(passage, sentence),
    ];
  });
}

/** What a passage begins with: "This is called by …" speaks of it. */
function leadOf(passage: Passage, sentence: Sentence): Reference | undefined {
  if (sentence.at === 0) return undefined;
  const [first] = referencesIn(passage.text.slice(0, sentence.at));
  return first?.type === 'symbol' && first.at < 8 ? first : undefined;
}

/** `-EBUSY`, of the functions that the passage speaks of. */
function errorCodes(passage: Passage, sentence: Sentence): Claim[] {
  const symbols = referencesIn(passage.text).flatMap((each) =>
    each.type === 'symbol' && each.symbol.isCall ? [each.symbol] : [],
  );
  if (symbols.length === 0) return [];
  return [...sentence.text.matchAll(/(?<![\w-])-(E[A-Z]{3,14})\b/g)].map((match) =>
    claimOf(passage, sentence, {
      statement: { kind: 'error_code', name: match[1] ?? '', symbols },
      ...{ at: match.index, end: match.index + match[0].length },
      stance: stanceAt(sentence.text, match.index),
    }),
  );
}

/** Words in quotes within code spans. */
function texts(passage: Passage, sentence: Sentence): Claim[] {
  return [...sentence.text.matchAll(/`([^`]{3,160})`/g)].flatMap((span) =>
    [...(span[1] ?? '').matchAll(/(?<![\w'])'([A-Za-z_@][\w@-]{1,40})'/g)].map((match) => {
      const at = span.index + 1 + match.index;
      return claimOf(passage, sentence, {
        statement: { kind: 'text', text: match[1] ?? '' },
        ...{ at, end: at + match[0].length, stance: stanceAt(sentence.text, at) },
      });
    }),
  );
}

/** A value that stands alone under the heading of a constant. */
function headed(passage: Passage, sentence: Sentence, masked: Masked): Claim[] {
  const value = passage.text.trim().replaceAll(/^[`'"]|[`'"]$/g, '');
  if (passage.isHeading || sentence.at > 0 || !/^\d[\w.]{0,30}$/.test(value)) return [];
  const named = referencesIn(passage.heading);
  const [first] = named;
  if (named.length !== 1 || first?.type !== 'symbol' || !isConstantName(first.symbol.name))
    return [];
  const its = /^\d+$/.test(value) ? value : `'${value}'`;
  return [
    claimOf(passage, sentence, {
      statement: { kind: 'constant', symbol: first.symbol, value: its, unit: '' },
      ...{ at: 0, end: masked.text.length, stance: 'asserted' },
    }),
  ];
}

/** What is named is there. */
function existence(
  passage: Passage,
  sentence: Sentence,
  references: readonly Reference[],
): Claim[] {
  return references.flatMap((reference, at) =>
    statementsOf(reference, sentence.text, references, at).map((statement) =>
      claimOf(passage, sentence, {
        ...{ statement, at: reference.at, end: reference.end },
        stance:
          statement.kind === 'constant' && isGiven(sentence.text.slice(0, reference.at))
            ? 'conditional'
            : stanceAt(sentence.text, reference.at),
      }),
    ),
  );
}

/** "by setting `x: false`": what a reader may do, and not what is. */
function isGiven(before: string): boolean {
  return /\b(?:set|sets|setting|pass|passes|passing|passed|use|using|with|via|specify|specifying|specified|give|given|add|adding|if|when|unless|option|flag|call|called)\b[^.;]{0,40}$/i.test(
    before,
  );
}

function statementsOf(
  reference: Reference,
  sentence: string,
  references: readonly Reference[],
  at: number,
): Statement[] {
  switch (reference.type) {
    case 'symbol':
      return symbolStatements(reference, sentence);
    case 'path':
      return pathStatements(reference, references, at);
    case 'option':
      return reference.flags.map((flag) => ({ kind: 'option', flag, command: reference.command }));
    case 'environment':
      return [{ kind: 'environment', name: reference.name }];
    case 'script':
      return [{ kind: 'script', name: reference.name }];
    case 'assignment': {
      const { symbol, value } = reference;
      return [
        { kind: 'symbol', symbol },
        { kind: 'constant', symbol, value, unit: '' },
      ];
    }
    case 'module':
      return [{ kind: 'module', specifier: reference.specifier, names: [] }];
    case 'value':
    case 'url':
      return [];
  }
}

function symbolStatements(
  { symbol, parameters }: Extract<Reference, { type: 'symbol' }>,
  sentence: string,
): Statement[] {
  if (parameters !== undefined && parameters.length > 0)
    return [
      { kind: 'symbol', symbol },
      { kind: 'signature', symbol, parameters, returns: '', isWhole: false },
      ...keysIn(parameters).map((name) => ({ kind: 'symbol' as const, symbol: ofOptions(name) })),
    ];
  const isVariable =
    /^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/.test(symbol.name) && /\benvironment\b|\benv\b/i.test(sentence);
  return [isVariable ? { kind: 'environment', name: symbol.name } : { kind: 'symbol', symbol }];
}

/** Of an object that is given away: `f(x, { loose: true })`. */
function keysIn(parameters: readonly string[]): string[] {
  return parameters.flatMap((each) =>
    /^\{.*\}$/s.test(each)
      ? [...each.matchAll(/[{,]\s*([A-Za-z_$][\w$]{1,60})\s*(?=[:,}])/g)].map(([, key = '']) => key)
      : [],
  );
}

function ofOptions(name: string): SymbolName {
  return { name, container: 'options', isCall: false, isMarked: true };
}

/** Further from a place than this, a symbol is not said to be there. */
const besideChars = 48;

function pathStatements(
  { path, at: from, end }: Extract<Reference, { type: 'path' }>,
  references: readonly Reference[],
  at: number,
): Statement[] {
  const statements: Statement[] = [];
  const isCode = path.path !== '' && !/\.(?:md|rst|txt|html)$/i.test(path.path);
  if (path.path !== '') statements.push({ kind: 'path', path });
  if (path.anchor !== '' && !isCode) statements.push({ kind: 'anchor', path });
  if (path.line_start === 0) return statements;
  const before = references
    .slice(0, at)
    .filter((each) => each.type === 'symbol' || (each.type === 'path' && each.path.line_start > 0))
    .at(-1);
  const after = references[at + 1];
  const beside =
    before?.type === 'symbol' && from - before.end <= besideChars
      ? before
      : after?.type === 'symbol' && after.at - end <= 4
        ? after
        : undefined;
  const place = { kind: 'line' as const, path };
  return [...statements, beside === undefined ? place : { ...place, symbol: beside.symbol }];
}

function related(passage: Passage, sentence: Sentence, masked: Masked): Claim[] {
  return relationsIn(masked).flatMap(({ statements, at, end }) => {
    const words = masked.text.slice(at, end).replaceAll(/⟦\w+⟧/g, ' ');
    const from = placeOf(masked, at);
    const stance = stanceOfRelation(sentence.text, from, words.replace(/\bno \w+/i, ''));
    return statements.map((statement) =>
      claimOf(passage, sentence, { statement, at: from, end: placeOf(masked, end), stance }),
    );
  });
}

/** Where a place of the masked text is in the sentence, within the reference that stands there. */
function placeOf({ text, references }: Masked, at: number): number {
  const before = text.slice(0, at + 1);
  const last = [...before.matchAll(/⟦[A-Z](\d+)⟧?/g)].at(-1);
  const next = /⟦[A-Z](\d+)⟧/.exec(text.slice(at));
  const reference = references[Number((next?.index === 0 ? next : last)?.[1] ?? -1)];
  if (reference === undefined) return Math.min(at, before.length);
  return next?.index === 0 ? reference.at : reference.end;
}

/** "Default: `30`" of what the passage, or else its heading, begins with. */
function defaults(passage: Passage, sentence: Sentence, masked: Masked): Claim[] {
  const match = defaultValue.exec(masked.text);
  if (match === null) return [];
  const before = masked.text.slice(0, match.index);
  // An item of a list of options speaks of what it begins with.
  const isItem = sentence.at > 0 && /^\W{0,3}`?[\w$.]{1,60}`? ?:/.test(passage.text);
  const last = isItem ? undefined : /⟦S\d+⟧(?=[^⟦]{0,30}$)/.exec(before)?.[0];
  if (last !== undefined && !symbolsOf(masked, last).some(({ name }) => typeName.test(name))) {
    return told(constants(masked, last, match[1] ?? match[3], match[2] ?? match[4]));
  }
  const subject = subjectOf(passage, sentence, placeOf(masked, match.index));
  const [value = '', unit = ''] = [match[1] ?? match[3], match[2] ?? match[4]];
  if (subject?.type !== 'symbol') return [];
  const reference = masked.references[Number(/⟦V(\d+)⟧/.exec(value)?.[1] ?? -1)];
  const its = reference?.type === 'value' ? reference.value : value;
  return told([{ kind: 'constant', symbol: subject.symbol, value: its, unit }]);

  function told(statements: Statement[]): Claim[] {
    const at = placeOf(masked, match?.index ?? 0);
    return statements
      .filter((each) => each.kind === 'constant' && isLiteral(each.value))
      .map((statement) =>
        claimOf(passage, sentence, {
          ...{ statement, at, end: at + 1 },
          // In brackets it is said of the option, whatever the sentence goes on to say.
          stance: /\([^()]{0,80}$/.test(before) ? 'asserted' : stanceAt(sentence.text, at),
        }),
      );
  }
}

/** Said of what stands before it: `Boolean` (optional). */
const typeName =
  /^(?:Boolean|String|Number|Object|Array|Function|RegExp|Promise|URL|Buffer|BigInt|Symbol|Error|Date|Map|Set|any|unknown)$/i;

function subjectOf(passage: Passage, sentence: Sentence, at: number): Reference | undefined {
  const [first] = referencesIn(passage.text.slice(0, sentence.at + at));
  if (first?.type === 'symbol' && first.at < 8) return first;
  const named = referencesIn(passage.heading).filter((each) => each.type === 'symbol');
  const isOfHeading = passage.lines.length <= 2 && sentence.at === 0;
  return isOfHeading || named.length === 1 ? named[0] : undefined;
}

const engine =
  /\b(?:requires?|needs?|runs? on|runs? with|works? (?:on|with)|tested (?:on|with)|requirement is|supports?|engine is|minimum(?: supported)? version (?:is|of)) (?:at least )?Node(?:\.js)? ?(?:version )?(?:(>=|≥|v|>)? ?v?(\d{1,3}(?:\.\d{1,3}){0,2})|⟦V(\d+)⟧)/i;
const version =
  /\b(?:current version|this (?:is )?version|package version|version of (?:this|the) package)(?: is)? (⟦V\d+⟧|v?\d+\.\d+\.\d+)/i;
const dependency =
  /\b((?:(?:it|the package|this package|this module|the module|we) )?(?:depends? on|has a dependency on|dependency|runtime dependency(?: is)?|built on(?: top of)?|relies on))(?: the)?(?: \w+){0,2}? (⟦[SVP]\d+⟧(?:(?:(?: for [\w -]{1,40})?(?:, and (?:on )?|, (?:on )?| and (?:on )?))⟦[SVP]\d+⟧){0,11})/gi;
/** What it is made or tried with, and what its parts are taken from. */
const usedPackage =
  /\b(uses|wraps|comes? from|taken from|provided by|(?:generated|created|built|bundled|linted|measured|formatted) (?:by|with|using)|(?:tests?|suite|it|they)? ?(?:are|is) (?:run|tested|driven|measured|linted) (?:by|with|using|through)) (?:the )?⟦([SVP])(\d+)⟧/gi;
/** Programs that run tests are named without marks. */
const runner =
  /\btests\b[^.;]{0,40}\b(?:run|written|using|with|by)\b[^.;]{0,20}\b(mocha|jest|tap|vitest|ava|tape|jasmine|karma|borp|uvu|lab)\b(?![\w-])/i;
const listed =
  /⟦[SVP](\d+)⟧,? (?:which )?(?:is|are|being) (?:one of|among|listed in) (?:the|its) (?:dev |peer |optional )?(?:dependencies\b|⟦S(\d+)⟧)/i;

/** What package.json would say. */
function packages(passage: Passage, sentence: Sentence, masked: Masked): Claim[] {
  const statements: Statement[] = [];
  const node = engine.exec(masked.text);
  const range = masked.references[Number(node?.[3] ?? -1)];
  const needed = node?.[2] ?? (range?.type === 'value' ? range.value : '');
  if (/\d/.test(needed) && /^[\d\s.<>=^~|vx*-]+$/.test(needed))
    statements.push({ kind: 'package', what: 'engine', name: 'node', value: needed });
  const said = version.exec(masked.text)?.[1];
  if (said !== undefined) {
    const reference = masked.references[Number(/\d+/.exec(said)?.[0] ?? -1)];
    const value = reference?.type === 'value' ? reference.value : said;
    if (/^v?\d/.test(value)) statements.push({ kind: 'package', what: 'version', name: '', value });
  }
  for (const [, verb = '', list = ''] of masked.text.matchAll(dependency))
    for (const [, at] of list.matchAll(/⟦\w(\d+)⟧/g))
      depended(at, /^(?:it|the|this|we)\b/i.test(verb));
  for (const [, verb = '', , at] of masked.text.matchAll(usedPackage)) {
    const name = packageName(masked.references[Number(at)]);
    // A plain word may be anything; a name with a scope or a dash is that of a package.
    if (/[@/-]/.test(name) || /\b(?:run|tested|linted) (?:by|with)/i.test(verb)) depended(at, true);
  }
  const by = runner.exec(sentence.text.replaceAll('`', ''))?.[1]?.toLowerCase();
  if (by !== undefined)
    statements.push({ kind: 'package', what: 'dependency', name: by, value: '', isOwn: true });
  const among = listed.exec(masked.text);
  const list = masked.references[Number(among?.[2] ?? -1)];
  if (list === undefined || (list.type === 'symbol' && /[dD]ependencies$/.test(list.symbol.name)))
    depended(among?.[1], true);
  return statements.map((statement) => {
    const stance: Stance = stanceOfRelation(sentence.text, 0, sentence.text);
    return claimOf(passage, sentence, { statement, at: 0, end: sentence.text.length, stance });
  });

  function depended(at: string | undefined, isOwn: boolean): void {
    const name = at === undefined ? '' : packageName(masked.references[Number(at)]);
    if (name === '') return;
    statements.push({ kind: 'package', what: 'dependency', name, value: '', isOwn });
  }
}

function packageName(reference: Reference | undefined): string {
  if (reference?.type === 'value')
    return /^@?[a-z][\w./-]{1,60}$/.test(reference.value) ? reference.value : '';
  if (reference?.type === 'path') return reference.path.isStem ? reference.path.path : '';
  if (reference?.type !== 'symbol' || reference.symbol.container !== '') return '';
  return /^[a-z][a-z0-9]{1,40}$/.test(reference.symbol.name) ? reference.symbol.name : '';
}

function claimOf(
  passage: Passage,
  sentence: Sentence,
  { statement, at, end, stance }: { statement: Statement; at: number; end: number; stance: Stance },
): Claim {
  return {
    text: sentence.text.trim().slice(0, claimLimits.textChars),
    line_start: lineAt(passage, sentence.at + at),
    line_end: lineAt(passage, sentence.at + Math.max(at, end - 1)),
    stance,
    is_hard: isHardRule(sentence.text),
    statement,
  };
}
