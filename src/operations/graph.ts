import { z } from 'zod';
import { BusError } from '../errors/bus-error.js';
import type {
  CallersAnswer,
  CallSite,
  Definition,
  ImplementationsAnswer,
  TraceAnswer,
} from '../pgc/shapes.js';
import { renderTrace } from '../render/answer.js';
import { listsOf } from './bounds.js';
import {
  implementationsText,
  nameOf,
  possibleShown,
  sitesIn,
  sitesText,
  whereOf,
  type ReferencesAnswer,
  type SitesAnswer,
  type SitesName,
} from '../render/sites.js';
import {
  definitionOutput,
  failureOutput,
  offsetInput,
  roleField,
  rolesFlag,
  rolesInput,
  siteOutput,
  symbolInput,
} from './shapes.js';
import { listing, looks, type Operation, type Reply } from './operation.js';

const input = z.strictObject({ symbol: symbolInput, roles: rolesInput, offset: offsetInput });
const flags = { roles: rolesFlag };

/** `callers`: every call site of a symbol. */
export const callers = sitesOperation('callers', {
  title: 'Who calls it',
  description:
    'Every call site of a function or method over all shards, resolved, not matched by text. `symbol` of a row is the function that holds the call; `certainty`: exact, or dispatch through the interface method `via`. `possible`: calls of the name of which nothing proves what they call.',
  doing: 'looking for call sites',
  cli: {
    command: 'callers',
    help: 'list all call sites of a symbol',
    arguments: ['symbol'],
    flags,
  },
});

/** `references`: every use of a symbol. */
export const references = sitesOperation('references', {
  title: 'Who uses it',
  description:
    'Every place that uses a constant, variable, type, function or method over all shards, resolved, not matched by text. `kind`: a call (direct, member, construct, slot), value: used without being called, such as a function that is passed on, or type: mentioned as a type. `possible`: uses of the name of which nothing proves what they mean.',
  doing: 'looking for uses',
  cli: { command: 'references', help: 'list all uses of a symbol', arguments: ['symbol'], flags },
});

/** `callees`: everything a symbol calls. */
export const callees = sitesOperation('callees', {
  title: 'What it calls',
  description:
    'Everything a function or method calls, each with the line of the call and where the callee is defined.',
  doing: 'looking for calls',
  cli: {
    command: 'callees',
    help: 'list everything a symbol calls',
    arguments: ['symbol'],
    flags,
  },
});

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
    async run({ symbol, roles, offset }, { bus, deadlineMs, signal }): Promise<Reply<SitesAnswer>> {
      const found = await (await bus.questions())[name]({ symbol, roles }, { deadlineMs, signal });
      const answer = name === 'references' && 'callers' in found ? asReferences(found) : found;
      const total = sitesIn(answer).length;
      const value: SitesAnswer = { ...answer, [name]: sitesIn(answer).slice(offset) };
      return {
        value,
        cut: listsOf<SitesAnswer>(name as never, 'definitions', 'errors'),
        total,
        shown: (part) => sitesIn(part).length,
        rest: (shown) => `Call again with offset ${offset + shown}, or a larger max_tokens.`,
        text: (part) => sitesText(part, total, whereOf(roles)),
        structure: briefSites,
        failure: answer.errors[0],
        isEmpty: answer.definitions.length + total + possibleIn(answer) === 0,
      };
    },
  };
}

function asReferences({ callers: uses, ...its }: CallersAnswer): ReferencesAnswer {
  return { ...its, references: uses };
}

function possibleIn(answer: SitesAnswer): number {
  return 'callees' in answer ? 0 : answer.possible_total;
}

/** Without what routing needs, and no reader. */
function briefSites(answer: SitesAnswer): object {
  const { symbol, definitions, errors } = answer;
  return {
    symbol,
    definitions: definitions.map(briefDefinition),
    [nameOf(answer)]: sitesIn(answer).map(briefSite),
    ...('possible' in answer && {
      possible: answer.possible.slice(0, possibleShown).map(briefSite),
      possible_total: answer.possible_total,
      uses_total: answer.uses_total,
    }),
    errors,
  };
}

function briefDefinition(definition: Definition): object {
  const { symbol, container, kind, file_path, line, signature, agent, role } = definition;
  return { symbol, container, kind, file_path, line, signature, agent, ...roleField(role) };
}

function briefSite(site: CallSite): object {
  const { symbol, file_path, line, agent, kind, definition, certainty, via, role } = site;
  return {
    ...{ symbol, file_path, line, agent, kind, definition, certainty, via },
    ...roleField(role),
  };
}

const implementationsInput = z.strictObject({ symbol: symbolInput, roles: rolesInput });

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
    flags,
  },
  async run({ symbol, roles }, { bus, ...options }): Promise<Reply<ImplementationsAnswer>> {
    const { deadlineMs, signal } = options;
    const asked = await bus.questions();
    const answer = await asked.implementations({ symbol, roles }, { deadlineMs, signal });
    return {
      ...listing<ImplementationsAnswer>(
        answer,
        ['implementations', 'definitions', 'errors'],
        (part) => implementationsText(part, whereOf(roles)),
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

const traceInput = z.strictObject({ from: symbolInput, to: symbolInput, roles: rolesInput });

/** `trace`: the shortest chain of calls. */
export const trace: Operation<typeof traceInput> = {
  name: 'trace',
  title: 'Chain of calls',
  description:
    'The shortest chain of calls from one symbol to another, across shards; every step with its definition and the call site that leads to it. `certainty` of that call: exact, dispatch through an interface, or possible: nothing proves that it leads there.',
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
    flags,
  },
  async run({ from, to, roles }, { bus, deadlineMs, signal }): Promise<Reply<TraceAnswer>> {
    const found = await (await bus.questions()).trace({ from, to, roles }, { deadlineMs, signal });
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
