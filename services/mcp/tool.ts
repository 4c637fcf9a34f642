import type {
  CallToolResult,
  InputRequiredResult,
  McpServer,
  ServerContext,
  StandardSchemaWithJSON,
  ToolAnnotations,
} from '@modelcontextprotocol/server';
import { inputRequired } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { asBusError, BusError, RemoteError } from '../../src/errors/bus-error.js';
import type { Logger } from '../../src/observe/log.js';
import type { CodedError } from '../../src/pgc/shapes.js';
import {
  answerTokens,
  charsPerToken,
  fitted,
  type Cut,
  type Drafted,
} from '../../src/remote/tools/bounds.js';
import type { Bus } from './bus.js';
import { Progress } from './progress.js';

/** For a whole call, unless it says otherwise. Most clients give up after a minute. */
export const timeoutS = { default: 30, max: 600 } as const;

/** Looks, and changes nothing; what it looks at is this machine's. */
export const looks: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** What most tools need of the bus: as much as whoever runs them outside of a server has. */
export type AskingBus = Pick<Bus, 'client' | 'questions'>;

/** What a tool is given besides its arguments. */
export interface Call<B extends AskingBus = AskingBus> {
  bus: B;
  deadlineMs: number;
  /** Of the answer. */
  charsMax: number;
  /** Aborts when the client cancels, or goes away. */
  signal: AbortSignal;
  tell: (doing: string) => void;
  /** What the person before the client answered, by question; undefined: nobody was asked yet. */
  responses: Record<string, unknown> | undefined;
}

type Questions = NonNullable<Parameters<typeof inputRequired>[0]['inputRequests']>;

/** Thrown by a tool that goes on only with what a person says; it is called again then. */
export class PersonNeeded extends Error {
  constructor(readonly questions: Questions) {
    super('a person is asked');
  }
}

export interface Answer<V extends object> {
  value: V;
  cut: Cut<V>;
  /** How many rows of its kind there are, and how many of them `value` holds. */
  total: number;
  shown: (value: V) => number;
  /** How to get what is missing. */
  rest: (shown: number) => string;
  /** What a model reads; places are `path:line`. */
  text: (value: V) => string;
}

export interface Tool<Input extends z.ZodObject, B extends AskingBus = AskingBus> {
  name: string;
  title: string;
  description: string;
  input: Input;
  /** Of the answer without what `bounded` adds. */
  output: z.ZodObject;
  annotations: ToolAnnotations;
  /** While it runs, for those who wait. */
  doing: string;
  // Each has an answer of its own, and hands it on together with what to do with it.
  // oxlint-disable-next-line typescript/no-explicit-any
  run(input: z.output<Input>, call: Call<B>): Promise<Answer<any>>;
}

const common = z.strictObject({
  timeout_seconds: z
    .number()
    .min(0.1)
    .max(timeoutS.max)
    .default(timeoutS.default)
    .describe('Longest wait for the answer.'),
  max_tokens: z
    .int()
    .min(answerTokens.min)
    .max(answerTokens.max)
    .default(answerTokens.default)
    .describe(`Size of the answer, estimated at ${charsPerToken} characters a token.`),
});

const bounded = {
  truncated: z.boolean().describe('Something was left out to keep within max_tokens.'),
  shown: z.int().describe('Rows in this answer.'),
  total: z.int().describe('Rows there are.'),
  rest: z.string().describe('How to get what is missing; empty when nothing is.'),
};

/** All its arguments. */
export function inputOf(tool: { input: z.ZodObject }): z.ZodObject {
  return z.strictObject({ ...tool.input.shape, ...common.shape });
}

/** The same tool for who is no client of this server: what a model reads. Throws TOOL_INPUT, and what the tool throws. */
export async function toldBy<Input extends z.ZodObject, B extends AskingBus>(
  tool: Tool<Input, B>,
  args: unknown,
  its: Pick<Call<B>, 'bus' | 'signal' | 'tell'>,
): Promise<string> {
  const input = argumentsOf(tool.name, inputOf(tool), args);
  const answer = await tool.run(input as z.output<Input>, {
    ...its,
    deadlineMs: input.timeout_seconds * 1_000,
    charsMax: input.max_tokens * charsPerToken,
    responses: undefined,
  });
  return bounds(answer, input.max_tokens).text;
}

/** Registers a tool whose arguments are checked, whose answer is bounded and whose failures are coded. */
export function addTool<Input extends z.ZodObject>(
  server: McpServer,
  tool: Tool<Input, Bus>,
  parts: { bus: Bus; log: Logger },
): void {
  const input = inputOf(tool);
  const config = {
    title: tool.title,
    description: tool.description,
    inputSchema: unchecked(input),
    outputSchema: tool.output.extend(bounded),
    annotations: { title: tool.title, ...tool.annotations },
  };
  server.registerTool(tool.name, config, (args, context) =>
    parts.bus.running(() => answered(tool, input, args, context, parts)),
  );
}

/** The schema as it is listed; checked by us, so that a wrong argument has a code like every other failure. */
function unchecked(schema: z.ZodObject): StandardSchemaWithJSON {
  const standard = schema['~standard'] as StandardSchemaWithJSON['~standard'];
  const { version, vendor, jsonSchema } = standard;
  return {
    '~standard': { version, vendor, jsonSchema, validate: (value: unknown) => ({ value }) },
  };
}

async function answered<Input extends z.ZodObject>(
  tool: Tool<Input, Bus>,
  schema: z.ZodObject,
  args: unknown,
  context: ServerContext,
  { bus, log }: { bus: Bus; log: Logger },
): Promise<CallToolResult | InputRequiredResult> {
  const startedMs = performance.now();
  const told = (outcome: string): void => {
    const elapsed_ms = Math.round(performance.now() - startedMs);
    log.info({ tool: tool.name, outcome, elapsed_ms }, 'tool called');
  };
  try {
    using progress = new Progress(context, tool.doing);
    const input = argumentsOf(tool.name, schema, args);
    const answer = await tool.run(input as z.output<Input>, {
      bus,
      deadlineMs: input.timeout_seconds * 1_000,
      charsMax: input.max_tokens * charsPerToken,
      signal: context.mcpReq.signal,
      tell: (doing) => progress.tell(doing),
      responses: context.mcpReq.inputResponses,
    });
    const result = resultOf(answer, input.max_tokens);
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

function argumentsOf(
  tool: string,
  schema: z.ZodObject,
  args: unknown,
): Record<string, unknown> & z.output<typeof common> {
  const parsed = schema.safeParse(args ?? {});
  if (parsed.success) return parsed.data as ReturnType<typeof argumentsOf>;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') ?? '';
  const detail = `${where}${where && ': '}${issue?.message ?? ''}`;
  throw new BusError('TOOL_INPUT', { tool, detail });
}

function resultOf<V extends object>(answer: Answer<V>, maxTokens: number): CallToolResult {
  const { structured, text } = bounds(answer, maxTokens);
  return { content: [{ type: 'text', text }], structuredContent: structured };
}

function bounds<V extends object>(answer: Answer<V>, maxTokens: number): Drafted {
  const { value, cut, total, shown, rest, text } = answer;
  return fitted(value, cut, maxTokens * charsPerToken, (part, isCut) => {
    const rows = shown(part);
    const note = isCut || rows !== total ? rest(rows) : '';
    return {
      structured: { ...part, truncated: isCut, shown: rows, total, rest: note },
      text: text(part) + (note === '' ? '' : `\n(${rows} of ${total} shown. ${note})`),
    };
  });
}

export function failed(error: unknown): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: failureText(error) }] };
}

/** One line of JSON: code, text, whether to try again, and what to do next. */
export function failureText(error: unknown): string {
  const coded = asBusError(error);
  return JSON.stringify({ error: { ...coded.toFailure(), next: coded.next } });
}

/** An answer that holds nothing but errors is a failure. Throws the first of them. */
export function unlessEmpty<A extends { errors: CodedError[] }>(answer: A, isEmpty: boolean): A {
  const [first] = answer.errors;
  if (isEmpty && first !== undefined) throw new RemoteError(first);
  return answer;
}
