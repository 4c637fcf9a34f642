import {
  type CallToolResult,
  type ClientCapabilities,
  type InputRequiredResult,
  type McpServer,
  type ServerContext,
  type StandardSchemaWithJSON,
  CLIENT_CAPABILITIES_META_KEY,
  acceptedContent,
  inputRequired,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { asBusError, BusError } from '../../src/errors/bus-error.js';
import type { Logger } from '../../src/observe/log.js';
import type { Drafted } from '../../src/operations/bounds.js';
import {
  drafted,
  failureText,
  inputOf,
  type Decision,
  type Operation,
} from '../../src/operations/operation.js';
import type { Bus } from '../bus.js';
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

/** Registers a tool whose arguments are checked, whose answer is bounded and whose failures are coded. */
export function addTool<Input extends z.ZodObject>(
  server: McpServer,
  tool: Operation<Input>,
  parts: { bus: Bus; log: Logger; isStructured: boolean },
): void {
  const input = inputOf(tool);
  const config = {
    title: tool.title,
    description: tool.description,
    inputSchema: unchecked(input),
    annotations: tool.annotations,
    ...(parts.isStructured && { outputSchema: tool.output.extend(bounded) }),
  };
  server.registerTool(tool.name, config, (args, context) =>
    parts.bus.running(() => answered(tool, args, context, { ...parts, server })),
  );
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

async function answered<Input extends z.ZodObject>(
  tool: Operation<Input>,
  args: unknown,
  context: ServerContext,
  {
    bus,
    log,
    server,
    isStructured,
  }: { bus: Bus; log: Logger; server: McpServer; isStructured: boolean },
): Promise<CallToolResult | InputRequiredResult> {
  const startedMs = performance.now();
  const told = (outcome: string): void => {
    const elapsed_ms = Math.round(performance.now() - startedMs);
    log.info({ tool: tool.name, outcome, elapsed_ms }, 'tool called');
  };
  try {
    using progress = new Progress(context, tool.doing);
    const result = resultOf(
      await drafted(tool, args, {
        bus,
        signal: context.mcpReq.signal,
        tell: (doing) => progress.tell(doing),
        person: (asked) => saidBy(server, context, asked),
        isStructured,
      }),
      isStructured,
    );
    await progress.done();
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
function showsForms(server: McpServer, envelope: object | undefined): boolean {
  const said = (envelope as Readonly<Record<string, unknown>> | undefined)?.[
    CLIENT_CAPABILITIES_META_KEY
  ] as ClientCapabilities | undefined;
  // The requests of 2025 say nothing of themselves.
  // oxlint-disable-next-line typescript/no-deprecated
  const can = said ?? server.server.getClientCapabilities();
  return can?.elicitation !== undefined;
}

/** By the person before the client, in a form of it. Throws PersonNeeded until they were asked, NO_FORM where they cannot be. */
function saidBy<Form extends z.ZodObject>(
  server: McpServer,
  { mcpReq: { inputResponses: said, envelope } }: ServerContext,
  { key, message, form, command }: Decision<Form>,
): z.output<Form> | undefined {
  if (!showsForms(server, envelope)) throw new BusError('NO_FORM', { command });
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
