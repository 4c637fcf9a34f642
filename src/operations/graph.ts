import { z } from 'zod';
import { BusError } from '../errors/bus-error.js';
import type { CallSite, CodedError, Definition, TraceAnswer } from '../pgc/shapes.js';
import {
  definitionOutput,
  errorLines,
  failureOutput,
  offsetInput,
  siteOutput,
  symbolInput,
} from './shapes.js';
import { listing, looks, unlessEmpty, type Reply, type Tool } from './tool.js';

const input = z.strictObject({ symbol: symbolInput, offset: offsetInput });

/** `callers`: every call site of a symbol. */
export const callers = sitesTool('callers', 'is called at', {
  title: 'Who calls it',
  description:
    'Every call site of a function or method over all shards, resolved, not matched by text: complete where grep guesses. `symbol` of a row is the function that holds the call.',
  doing: 'looking for call sites',
});

/** `callees`: everything a symbol calls. */
export const callees = sitesTool('callees', 'calls', {
  title: 'What it calls',
  description:
    'Everything a function or method calls, each with the line of the call and where the callee is defined.',
  doing: 'looking for calls',
});

type SitesName = 'callers' | 'callees';

function sitesTool(
  name: SitesName,
  verb: string,
  words: Pick<Tool<typeof input>, 'title' | 'description' | 'doing'>,
): Tool<typeof input> {
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
    async run({ symbol, offset }, { bus, deadlineMs, signal }) {
      const answer = await (await bus.questions())[name](symbol, { deadlineMs, signal });
      const all: CallSite[] = 'callers' in answer ? answer.callers : answer.callees;
      const isEmpty = answer.definitions.length + all.length === 0;
      const { definitions, errors } = unlessEmpty(answer, isEmpty);
      const found = { symbol, definitions: definitions.map(short), errors };
      const shown = { ...found, [name]: all.slice(offset).map(site) } as Sites;
      return sites(shown, name, verb, all.length, offset);
    },
  };
}

type Sites = Record<SitesName, CallSite[]> & {
  symbol: string;
  definitions: Partial<Definition>[];
  errors: CodedError[];
};

function short({ symbol, kind, file_path, line, signature, agent }: Definition): object {
  return { symbol, kind, file_path, line, signature, agent };
}

/** What routing needs, and no reader. */
function site({ symbol, file_path, line, agent, kind, definition }: CallSite): object {
  return { symbol, file_path, line, agent, kind, definition };
}

function sites(
  found: Sites,
  name: SitesName,
  verb: string,
  total: number,
  offset: number,
): Reply<Sites> {
  return listing<Sites>(
    found,
    [name, 'definitions', 'errors'],
    (value) =>
      [
        ...value.definitions.map(
          (each) => `${each.symbol} (${each.kind}) is defined at ${each.file_path}:${each.line}`,
        ),
        `${value.symbol} ${verb} ${total} place${total === 1 ? '' : 's'}`,
        ...value[name].map(siteLine),
        ...errorLines(value.errors),
      ].join('\n'),
    { rest: (shown) => `Call again with offset ${offset + shown}, or a larger max_tokens.`, total },
  );
}

function siteLine({ file_path, line, symbol, definition }: CallSite): string {
  const target = definition === '' ? '' : ` → ${definition}`;
  return `${file_path}:${line} ${symbol === '' ? '(file level)' : symbol}${target}`;
}

const traceInput = z.strictObject({ from: symbolInput, to: symbolInput });

/** `trace`: the shortest chain of calls. */
export const trace: Tool<typeof traceInput> = {
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
  async run({ from, to }, { bus, deadlineMs, signal }): Promise<Reply<TraceAnswer>> {
    const found = await (await bus.questions()).trace(from, to, { deadlineMs, signal });
    const answer = unlessEmpty(found, !found.found);
    const noRoute = { ...new BusError('NO_ROUTE', { from, to }).toFailure(), agent: '' };
    return listing<TraceAnswer>(
      answer.found ? answer : { ...answer, errors: [noRoute] },
      ['path', 'errors'],
      ({ path, errors }) =>
        [
          ...path.map(
            ({ symbol, file_path, line, call_site }) =>
              `${symbol} ${file_path}:${line}${call_site === '' ? '' : ` (called at ${call_site})`}`,
          ),
          ...errorLines(errors),
        ].join('\n'),
    );
  },
};
