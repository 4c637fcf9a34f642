import type {
  CalleesAnswer,
  CallersAnswer,
  CallSite,
  Definition,
  ImplementationsAnswer,
} from '../pgc/shapes.js';
import { roleNote } from '../pgc/answer/evidence-line.js';
import { knowsUses, type FactsLanguage } from '../pgc/format/facts.js';
import { languageOf } from '../pgc/source/language.js';
import { certaintyNotes, renderErrors } from './answer.js';
import { line as lineOf } from './terminal.js';

/** Definitions of one name in an answer to a reader. */
const definitionsShown = 20;
const wordsFor = { callers: 'the callers', references: 'the uses', callees: 'the calls' } as const;
/** Calls that may mean the symbol in one answer to a reader. */
export const possibleShown = 10;

export type SitesName = 'callers' | 'references' | 'callees';
export type ReferencesAnswer = Omit<CallersAnswer, 'callers'> & { references: CallSite[] };
export type SitesAnswer = CallersAnswer | ReferencesAnswer | CalleesAnswer;

/** Of which operation an answer is. */
export function nameOf(answer: SitesAnswer): SitesName {
  if ('callees' in answer) return 'callees';
  return 'references' in answer ? 'references' : 'callers';
}

export function sitesIn(answer: SitesAnswer): CallSite[] {
  if ('callees' in answer) return answer.callees;
  return 'references' in answer ? answer.references : answer.callers;
}

function definitionLine(definition: Definition): string {
  const { kind, file_path, line, agent, role } = definition;
  return lineOf`${scopedName(definition)} (${kind}) is defined at ${file_path}:${line}${roleNote({ role })} [${agent}]`;
}

/** How the sites of an answer are spoken of. */
interface SiteWords {
  of: SitesName;
  /** Used without being called. */
  value: string;
  /** Each of the definitions has a result that a caller may ignore. */
  hasResult: boolean;
}

/** A function that is named and not called is handed to what will call it. */
function wordsOf(answer: SitesAnswer): SiteWords {
  const isCalled = answer.definitions.some(({ kind }) => callable.has(kind));
  const functions = answer.definitions.filter(({ kind }) => callable.has(kind));
  return {
    of: nameOf(answer),
    value: isCalled ? 'registered or passed on' : 'used',
    hasResult: functions.length > 0 && functions.every(hasResult),
  };
}

const callable: ReadonlySet<string> = new Set(['function', 'method']);
/** What signatures of all languages say where a function gives nothing back; `void *` is a pointer. */
const noResult = /^(?:None|NoReturn|never|undefined|\(\)|!)$|(?:^|\s)void(?![\w\s]*[*&<|])/;

/** As far as the signature tells. */
function hasResult({ signature }: Definition): boolean {
  // Types have strokes as well as what stands between two parts.
  const result = / \| returns:(.*?)(?= \| (?:\w+:|\()|$)/.exec(signature)?.[1];
  return result !== undefined && !noResult.test(result);
}

function keyOf(definition: Definition): string {
  return `${definition.file_path}#${scopedName(definition)}`;
}

function isFunction({ kind, container }: Definition): boolean {
  return kind === 'function' && container === '';
}

function scopedName({ symbol, container }: Definition): string {
  return container === '' ? symbol : `${container}.${symbol}`;
}

/** What the name may mean, and how to ask for one of several. `all`: what follows is about. */
function definitionLines(definitions: readonly Definition[], all: string): string[] {
  // A declaration of a function is no other one; one of a method is, in an interface.
  const real = definitions.filter((each) => !each.declaration || each.container !== '');
  const names = new Set(real.map(keyOf));
  // Overloads and declarations of one are one row.
  const each = [...new Map(definitions.toReversed().map((one) => [keyOf(one), one])).values()];
  const lines = each.toReversed().slice(0, definitionsShown).map(definitionLine);
  if (each.length > lines.length) lines.push(`and ${each.length - lines.length} more definitions`);
  const [first = ''] = names;
  return names.size < 2
    ? lines
    : [
        ...lines,
        lineOf`the name has ${names.size} meanings, and ${all} of all of them follow; ask for one as path#name, such as ${first}`,
      ];
}

/** Where it was looked for, if not everywhere. */
export function whereOf(roles: readonly string[]): string {
  return roles.length === 0 ? '' : ` in files of role ${roles.join(', ')}`;
}

export function sitesText(answer: SitesAnswer, total: number, where: string): string {
  const { symbol, definitions, errors } = answer;
  const [first, ...others] = definitions;
  const isOne = first !== undefined && others.every((each) => each.symbol === first.symbol);
  const name = lineOf`${isOne ? first.symbol : symbol}`;
  const isKnown = definitions.length + total > 0;
  return [
    ...definitionLines(definitions, wordsFor[nameOf(answer)]),
    ...(isKnown ? [headText(name, answer, { total, where })] : []),
    ...('references' in answer ? unknownUses(definitions) : []),
    ...sitesIn(answer).map((each) => siteLine(each, wordsOf(answer))),
    ...('possible' in answer ? possibleLines(answer) : []),
    ...renderErrors(errors),
  ].join('\n');
}

/** That nothing calls or uses it is said only where no place is left that may. */
function headText(
  name: string,
  answer: SitesAnswer,
  { total, where }: { total: number; where: string },
): string {
  if ('callees' in answer) {
    const sites = new Set(answer.callees.map((each) => `${each.file_path}:${each.line}`));
    return total === 0
      ? `${name} calls nothing${where}`
      : `${name} calls, in ${lines(sites.size)}${where}:`;
  }
  const isCalls = 'callers' in answer;
  if (total > 0) {
    const through = sitesIn(answer).filter(({ certainty }) => certainty === 'dispatch').length;
    const note = through === 0 ? '' : `, ${through} of them through an interface`;
    return `${name} is ${isCalls ? 'called' : 'used'} at ${places(total)}${where}${note}`;
  }
  const none = `${isCalls ? 'calls' : 'uses'} ${name}${where}`;
  const isOpen = !isCalls && unknownUses(answer.definitions).length > 0;
  const certain =
    answer.possible_total > 0 || isOpen ? `nothing certainly ${none}` : `nothing ${none}`;
  // What is passed on is called by another name.
  return answer.uses_total === 0
    ? certain
    : `${certain} by its name; it is used as a value at ${places(answer.uses_total)}, which \`references\` lists`;
}

/** The search did not look for all of them. */
function unknownUses(definitions: readonly Definition[]): string[] {
  const languages = definitions
    .flatMap(({ language, file_path }) => language || (languageOf(file_path) ?? []))
    .filter((each) => !knowsUses(each as FactsLanguage));
  const [first] = languages;
  return first === undefined
    ? []
    : [`uses without a call are not known in ${[...new Set(languages)].sort().join(', ')}`];
}

function lines(count: number): string {
  return `${count} line${count === 1 ? '' : 's'}`;
}

function places(count: number): string {
  return `${count} place${count === 1 ? '' : 's'}`;
}

function possibleLines(answer: CallersAnswer | ReferencesAnswer): string[] {
  const { possible, possible_total } = answer;
  if (possible_total === 0) return [];
  const shown = possible.slice(0, possibleShown);
  const [what, verb] = 'callers' in answer ? ['call', 'call'] : ['use', 'mean'];
  const one = possible_total === 1;
  const isHandedOn = 'callers' in answer && possible.every(({ kind }) => kind === 'value');
  const named = `${possible_total} other ${what}${one ? '' : 's'} of this name may mean it; nothing proves what ${one ? `it ${verb}s` : `they ${verb}`}${shown.length < possible_total ? ', the nearest first' : ''}:`;
  const head = isHandedOn ? 'it may be called from where it is handed on:' : named;
  return [head, ...shown.map((each) => siteLine(each, wordsOf(answer)))];
}

function siteLine(
  { file_path, line, symbol, definition, ignored, kind, via, certainty, role = '' }: CallSite,
  { of, value, hasResult: isGiven }: SiteWords,
): string {
  const hasTarget = of === 'callees';
  const target = hasTarget && definition !== '' ? `  -> ${definition}` : '';
  const notes = [
    ...(of === 'references' ? [kind === 'value' ? value : (kindNotes[kind] ?? 'called')] : []),
    ...(of === 'callers' && ignored && isGiven ? ['its result is ignored'] : []),
    ...(via === '' ? [] : [`through ${via}`]),
    ...(hasTarget ? [certainty === '' ? '' : certaintyNotes[certainty]].filter(Boolean) : []),
    ...(role === '' ? [] : [role]),
  ];
  const note = notes.length === 0 ? '' : `  (${notes.join(', ')})`;
  return lineOf`  ${file_path}:${line}  ${symbol === '' ? '(file level)' : symbol}${target}${note}`;
}

const kindNotes: Partial<Record<string, string>> = {
  ...{ construct: 'constructed', slot: 'put into a structure', type: 'as a type' },
};

export function implementationsText(answer: ImplementationsAnswer, where: string): string {
  const { definitions, implementations: found } = answer;
  return [
    ...definitionLines(definitions, 'what implements it'),
    ...(definitions.length > 0
      ? [
          found.length === 0
            ? `${definitions.every(isFunction) ? 'nothing implements a function' : 'nothing is known to implement it'}${where}`
            : `implemented at ${places(found.length)}${where}`,
        ]
      : []),
    ...found.map(
      (each) => lineOf`  ${each.file_path}:${each.line}  ${scopedName(each)}${roleNote(each)}`,
    ),
    ...renderErrors(answer.errors),
  ].join('\n');
}
