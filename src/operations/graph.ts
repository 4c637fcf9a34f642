import { z } from 'zod';
import { BusError } from '../errors/bus-error.js';
import type {
  CalleesAnswer,
  CallersAnswer,
  CallSite,
  Definition,
  ImplementationsAnswer,
  TraceAnswer,
} from '../pgc/shapes.js';
import { renderErrors, renderTrace } from '../render/answer.js';
import { line as lineOf } from '../render/terminal.js';
import { listsOf } from './bounds.js';
import { definitionOutput, failureOutput, offsetInput, siteOutput, symbolInput } from './shapes.js';
import { listing, looks, type Operation, type Reply } from './operation.js';

const input = z.strictObject({ symbol: symbolInput, offset: offsetInput });
/** Calls that may mean the symbol in one answer to a reader. */
const possibleShown = 10;

/** `callers`: every call site of a symbol. */
export const callers = sitesOperation('callers', {
  title: 'Who calls it',
  description:
    'Every call site of a function or method over all shards, resolved, not matched by text. `symbol` of a row is the function that holds the call; `certainty`: exact, or dispatch through the interface method `via`. `possible`: calls of the name of which nothing proves what they call.',
  doing: 'looking for call sites',
  cli: { command: 'callers', help: 'list all call sites of a symbol', arguments: ['symbol'] },
});

/** `callees`: everything a symbol calls. */
export const callees = sitesOperation('callees', {
  title: 'What it calls',
  description:
    'Everything a function or method calls, each with the line of the call and where the callee is defined.',
  doing: 'looking for calls',
  cli: { command: 'callees', help: 'list everything a symbol calls', arguments: ['symbol'] },
});

type SitesName = 'callers' | 'callees';
type SitesAnswer = CallersAnswer | CalleesAnswer;

function sitesOperation(
  name: SitesName,
  words: Pick<Operation<typeof input>, 'title' | 'description' | 'doing' | 'cli'>,
): Operation<typeof input> {
  return {
    ...words,
    name,
    input,
    output: z.looseObject({
      symbol: z.string(),
      definitions: z.array(definitionOutput),
      [name]: z.array(siteOutput),
      errors: z.array(failureOutput),
    }),
    annotations: looks,
    async run({ symbol, offset }, { bus, deadlineMs, signal }): Promise<Reply<SitesAnswer>> {
      const answer = await (await bus.questions())[name](symbol, { deadlineMs, signal });
      const total = sitesIn(answer).length;
      const value: SitesAnswer = { ...answer, [name]: sitesIn(answer).slice(offset) };
      return {
        value,
        cut: listsOf<SitesAnswer>(name as never, 'definitions', 'errors'),
        total,
        shown: (part) => sitesIn(part).length,
        rest: (shown) => `Call again with offset ${offset + shown}, or a larger max_tokens.`,
        text: (part) => sitesText(part, total),
        structure: briefSites,
        failure: answer.errors[0],
        isEmpty: answer.definitions.length + total + possibleIn(answer) === 0,
      };
    },
  };
}

function sitesIn(answer: SitesAnswer): CallSite[] {
  return 'callers' in answer ? answer.callers : answer.callees;
}

function possibleIn(answer: SitesAnswer): number {
  return 'callers' in answer ? answer.possible_total : 0;
}

/** Without what routing needs, and no reader. */
function briefSites({ symbol, definitions, errors, ...its }: SitesAnswer): object {
  const name = 'callers' in its ? 'callers' : 'callees';
  const all = 'callers' in its ? its.callers : its.callees;
  return {
    symbol,
    definitions: definitions.map(briefDefinition),
    [name]: all.map(briefSite),
    ...('callers' in its && {
      possible: its.possible.slice(0, possibleShown).map(briefSite),
      possible_total: its.possible_total,
    }),
    errors,
  };
}

function briefDefinition(definition: Definition): object {
  const { symbol, container, kind, file_path, line, signature, agent } = definition;
  return { symbol, container, kind, file_path, line, signature, agent };
}

function briefSite(site: CallSite): object {
  const { symbol, file_path, line, agent, kind, definition, certainty, via } = site;
  return { symbol, file_path, line, agent, kind, definition, certainty, via };
}

function definitionLine({ symbol, kind, file_path, line, agent }: Definition): string {
  return lineOf`${symbol} (${kind}) is defined at ${file_path}:${line} [${agent}]`;
}

function sitesText(answer: SitesAnswer, total: number): string {
  const { symbol, definitions, errors } = answer;
  const isCallees = 'callees' in answer;
  const name = lineOf`${definitions[0]?.symbol ?? symbol}`;
  const isKnown = definitions.length + total > 0;
  return [
    ...definitions.map(definitionLine),
    ...(isKnown && isCallees ? [`${name} calls ${places(total)}`] : []),
    ...(isKnown && !isCallees ? [calledText(name, answer, total)] : []),
    ...sitesIn(answer).map((each) => siteLine(each, isCallees)),
    ...(isCallees ? [] : possibleLines(answer)),
    ...renderErrors(errors),
  ].join('\n');
}

/** That nothing calls it is said only where no call is left that may. */
function calledText(
  name: string,
  { callers, possible_total }: CallersAnswer,
  total: number,
): string {
  if (total > 0) {
    const through = callers.filter(({ certainty }) => certainty === 'dispatch').length;
    const note = through === 0 ? '' : `, ${through} of them through an interface`;
    return `${name} is called at ${places(total)}${note}`;
  }
  return possible_total === 0 ? `nothing calls ${name}` : `no call of ${name} is proven`;
}

function places(count: number): string {
  return `${count} place${count === 1 ? '' : 's'}`;
}

function possibleLines({ possible, possible_total }: CallersAnswer): string[] {
  if (possible_total === 0) return [];
  const shown = possible.slice(0, possibleShown);
  const one = possible_total === 1;
  const head = `${possible_total} other call${one ? '' : 's'} of this name may mean it; nothing proves what ${one ? 'it calls' : 'they call'}${shown.length < possible_total ? ', the nearest first' : ''}:`;
  return [head, ...shown.map((each) => siteLine(each, false))];
}

function siteLine(
  { file_path, line, symbol, definition, ignored, via, certainty }: CallSite,
  hasTarget: boolean,
): string {
  const target = hasTarget && definition !== '' ? `  -> ${definition}` : '';
  const notes = [
    ...(!hasTarget && ignored ? ['its result is ignored'] : []),
    ...(via === '' ? [] : [`through ${via}`]),
    ...(hasTarget && certainty === 'dispatch' ? ['through an interface'] : []),
  ];
  const note = notes.length === 0 ? '' : `  (${notes.join(', ')})`;
  return lineOf`  ${file_path}:${line}  ${symbol === '' ? '(file level)' : symbol}${target}${note}`;
}

const implementationsInput = z.strictObject({ symbol: symbolInput });

/** `implementations`: what may run, or stand, in place of a method, a type or an interface. */
export const implementations: Operation<typeof implementationsInput> = {
  name: 'implementations',
  title: 'What implements it',
  description:
    'The types that implement an interface or build on a type, or the methods that may run where one of its methods is called, over all shards; by their types, not by their names.',
  input: implementationsInput,
  output: z.looseObject({
    symbol: z.string(),
    definitions: z.array(definitionOutput),
    implementations: z.array(definitionOutput),
    errors: z.array(failureOutput),
  }),
  annotations: looks,
  doing: 'looking for implementations',
  cli: {
    command: 'implementations',
    help: 'list what implements an interface, a type or a method',
    arguments: ['symbol'],
  },
  async run({ symbol }, { bus, deadlineMs, signal }): Promise<Reply<ImplementationsAnswer>> {
    const answer = await (await bus.questions()).implementations(symbol, { deadlineMs, signal });
    return {
      ...listing<ImplementationsAnswer>(
        answer,
        ['implementations', 'definitions', 'errors'],
        implementationsText,
      ),
      structure: briefImplementations,
      failure: answer.errors[0],
      isEmpty: answer.definitions.length === 0,
    };
  },
};

function briefImplementations({ symbol, errors, ...its }: ImplementationsAnswer): object {
  const implementing = its.implementations.map(briefDefinition);
  return {
    symbol,
    definitions: its.definitions.map(briefDefinition),
    implementations: implementing,
    errors,
  };
}

function implementationsText(answer: ImplementationsAnswer): string {
  const { definitions, implementations: found } = answer;
  return [
    ...definitions.map(definitionLine),
    ...(definitions.length > 0
      ? [
          found.length === 0
            ? 'nothing is known to implement it'
            : `implemented at ${places(found.length)}`,
        ]
      : []),
    ...found.map(
      ({ symbol, container, file_path, line }) =>
        lineOf`  ${file_path}:${line}  ${container === '' ? symbol : `${container}.${symbol}`}`,
    ),
    ...renderErrors(answer.errors),
  ].join('\n');
}

const traceInput = z.strictObject({ from: symbolInput, to: symbolInput });

/** `trace`: the shortest chain of calls. */
export const trace: Operation<typeof traceInput> = {
  name: 'trace',
  title: 'Chain of calls',
  description:
    'The shortest chain of calls from one symbol to another, across shards; every step with its definition and the call site that leads to it.',
  input: traceInput,
  output: z.looseObject({
    found: z.boolean(),
    path: z.array(
      z.looseObject({
        symbol: z.string(),
        file_path: z.string(),
        line: z.int(),
        agent: z.string(),
        call_site: z.string(),
      }),
    ),
    agents_asked: z.int(),
    elapsed_ms: z.number(),
    errors: z.array(failureOutput),
  }),
  annotations: looks,
  doing: 'following calls from both ends',
  cli: {
    command: 'trace',
    help: 'find the shortest chain of calls between two symbols',
    arguments: ['from', 'to'],
  },
  async run({ from, to }, { bus, deadlineMs, signal }): Promise<Reply<TraceAnswer>> {
    const found = await (await bus.questions()).trace(from, to, { deadlineMs, signal });
    const hasReason = found.found || found.errors.length > 0;
    const noRoute = { ...new BusError('NO_ROUTE', { from, to }).toFailure(), agent: '' };
    const value = hasReason ? found : { ...found, errors: [noRoute] };
    return {
      ...listing<TraceAnswer>(value, ['path', 'errors'], renderTrace),
      // That there is no chain is an answer; that a symbol is unknown is none.
      ...(!value.found && { failure: value.errors[0], isEmpty: hasReason }),
    };
  },
};
