import {
  type CallToolResult,
  type InputRequiredResult,
  type McpServer,
  type ServerContext,
  type StandardSchemaWithJSON,
  acceptedContent,
  inputRequired,
  isInputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { inTrace } from '../../src/base/trace-context.js';
import { asBusError, BusError } from '../../src/errors/bus-error.js';
import type { Logger } from '../../src/observe/log.js';
import type { Drafted } from '../../src/operations/bounds.js';
import {
  drafted,
  failureText,
  inputOf,
  type Call,
  type Decision,
  type Operation,
} from '../../src/operations/operation.js';
import type { AnyOperation } from '../../src/operations/registry.js';
import type { Bus } from '../bus.js';
import { callMsMax, type HandedOverCalls, type Working } from './calls.js';
import { clientOf, traceparentOf } from './envelope.js';
import { Progress } from './progress.js';

type Questions = NonNullable<Parameters<typeof inputRequired>[0]['inputRequests']>;

/** A tool goes on only with what a person says; it is called again then. */
class PersonNeeded extends Error {
  constructor(readonly questions: Questions) {
    super('a person is asked');
  }
}

const bounded = {
  truncated: z.boolean().describe('Something was left out to keep within max_tokens.'),
  shown: z.int().describe('Rows in this answer.'),
  total: z.int().describe('Rows there are.'),
  rest: z.string().describe('How to get what is missing; empty when nothing is.'),
};

/** What a server offers its clients. */
export interface Offer {
  bus: Bus;
  log: Logger;
  calls: HandedOverCalls;
  tools: readonly AnyOperation[];
  /** Answers as data, too, beside the same in text: that costs half more. */
  isStructured: boolean;
}

type Answer = CallToolResult | InputRequiredResult;

/** Registers tools whose arguments are checked, whose answers are bounded and whose failures are coded. */
export function addTools(mcp: McpServer, offer: Offer): void {
  const called = new Map<string, (args: unknown, context: ServerContext) => Promise<Answer>>();
  for (const tool of offer.tools) {
    const config = {
      title: tool.title,
      description: tool.description,
      inputSchema: unchecked(inputOf(tool)),
      annotations: tool.annotations,
      ...(offer.isStructured && { outputSchema: tool.output.extend(bounded) }),
    };
    const call = (args: unknown, context: ServerContext): Promise<Answer> =>
      inTrace(traceparentOf(context), () =>
        offer.bus.running(() => answer(tool, args, context, { mcp, offer })),
      );
    mcp.registerTool(tool.name, config, call);
    called.set(tool.name, call);
  }
  // That of the SDK holds a task, which has no structure yet, against the schema of the answer.
  mcp.server.setRequestHandler('tools/call', ({ params: { name, arguments: args } }, context) => {
    const call = called.get(name);
    if (call !== undefined) return call(args ?? {}, context);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${name} not found`);
  });
}

/** The schema as it is listed; checked by us, so that a wrong argument has a code like every other failure. */
function unchecked(schema: z.ZodObject): StandardSchemaWithJSON {
  const standard = schema['~standard'] as StandardSchemaWithJSON['~standard'];
  const { version, vendor, jsonSchema } = standard;
  // The dialect is the one that clients take where none is named.
  const plain =
    (write: typeof jsonSchema.input): typeof jsonSchema.input =>
    (options) => {
      const { $schema: _, ...its } = write(options);
      return its;
    };
  const listed = { input: plain(jsonSchema.input), output: plain(jsonSchema.output) };
  return {
    '~standard': { version, vendor, jsonSchema: listed, validate: (value: unknown) => ({ value }) },
  };
}

async function answer<Input extends z.ZodObject>(
  tool: Operation<Input>,
  args: unknown,
  context: ServerContext,
  { mcp, offer }: { mcp: McpServer; offer: Offer },
): Promise<Answer> {
  const { signal } = context.mcpReq;
  const hasForms = showsForms(mcp, context);
  const person: Call['person'] = (asked) => saidBy(hasForms, context, asked);
  if (tool.isLong === true && offer.calls.takes(context)) {
    const work = ({ ask, ...its }: Working): Promise<Answer> => {
      const call = { ...its, person, patienceMs: callMsMax, ...(hasForms && { ask }) };
      return answered(tool, args, call, offer);
    };
    return offer.calls.begin(work, signal);
  }
  using progress = new Progress(context, tool.doing);
  const tell = (doing: string): void => progress.tell(doing);
  const result = await answered(tool, args, { signal, tell, person }, offer);
  if (result.isError !== true && !isInputRequiredResult(result)) await progress.done();
  return result;
}

async function answered<Input extends z.ZodObject>(
  tool: Operation<Input>,
  args: unknown,
  call: Pick<Call, 'signal' | 'tell' | 'person' | 'ask'> & { patienceMs?: number },
  { bus, log, isStructured }: Offer,
): Promise<Answer> {
  const startedMs = performance.now();
  const told = (outcome: string): void => {
    const elapsed_ms = Math.round(performance.now() - startedMs);
    log.info({ tool: tool.name, outcome, elapsed_ms }, 'tool called');
  };
  try {
    const draft = await drafted(tool, args, { bus, isStructured, ...call });
    const result = resultOf(draft, isStructured);
    told('ok');
    return result;
  } catch (error) {
    if (error instanceof PersonNeeded) {
      told('asks');
      return inputRequired({ inputRequests: error.questions });
    }
    told(asBusError(error).code);
    return failed(error);
  }
}

/** As the request says it, or the connection, by the version of the protocol. */
function showsForms({ server }: McpServer, context: ServerContext): boolean {
  // oxlint-disable-next-line typescript/no-deprecated
  const can = clientOf(context) ?? server.getClientCapabilities();
  return can?.elicitation !== undefined;
}

/** By the person before the client, in a form of it. Throws PersonNeeded until they were asked, NO_FORM where they cannot be. */
function saidBy<Form extends z.ZodObject>(
  hasForms: boolean,
  { mcpReq: { inputResponses: said } }: ServerContext,
  { key, message, form, command }: Decision<Form>,
): z.output<Form> | undefined {
  if (!hasForms) throw new BusError('NO_FORM', { command });
  if (said !== undefined && key in said)
    return acceptedContent(said, key, form) as z.output<Form> | undefined;
  throw new PersonNeeded({ [key]: inputRequired.elicit({ message, requestedSchema: form }) });
}

function resultOf({ structured, text }: Drafted, isStructured: boolean): CallToolResult {
  return {
    content: [{ type: 'text', text }],
    ...(isStructured && { structuredContent: structured }),
  };
}

export function failed(error: unknown): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: failureText(error) }] };
}
