import { z } from 'zod';
import type { Client } from '../client/client.js';
import { asBusError, BusError, RemoteError, type Failure } from '../errors/bus-error.js';
import type { Analyses } from '../pgc/analyse/analyses.js';
import type { AskingOptions, Questions } from '../lattice/questions.js';
import type { Answer, AskRequest } from '../pgc/shapes.js';
import { answerTokens, charsPerToken, fitted, listsOf, type Cut, type Drafted } from './bounds.js';

/** For a whole call, unless it names another. Most clients give up after a minute. */
export const timeoutS = { default: 30, max: 600 } as const;

/** What a tool does to the world, in the terms of MCP. */
export interface Annotations {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

/** Reads, and changes nothing; what it reads is on this machine. */
export const looks: Annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** Adds something, and reaches other agents. */
export const acts: Annotations = {
  ...looks,
  readOnlyHint: false,
  idempotentHint: false,
  openWorldHint: true,
};

/** An answer that is one sentence. */
export function plain<V extends object>(value: V, text: string): Reply<V> {
  const none = { cut: listsOf<V>(), total: 0, shown: () => 0, rest: () => '' };
  return { value, ...none, text: () => text };
}

/** An answer with lists that may be cut. It counts the rows of the first list; `total`: how many rows there are, if not all are in `value`. */
export function listing<V extends object>(
  value: V,
  lists: readonly [keyof V, ...(keyof V)[]],
  text: (value: V) => string,
  {
    rest = () => 'Call again with a larger max_tokens.',
    total,
  }: { rest?: (shown: number) => string; total?: number } = {},
): Reply<V> {
  const shown = (part: V): number => (part[lists[0]] as unknown[]).length;
  return { value, cut: listsOf<V>(...lists), total: total ?? shown(value), shown, rest, text };
}

/** Where an operation asks: a bus, or the built index of one tree. */
export interface Asking {
  /** Throws NEEDS_BUS where there is only an index. */
  client(): Promise<Client>;
  /** `reads`: whether the question is read by its meaning, for which a model may have to be started. */
  questions(reads?: 'meaning'): Promise<Questions>;
  /** Of a whole tree. */
  analyses(): Promise<Analyses>;
  /** One agent, or one shard of the index. */
  askAgent(agent: string, request: AskRequest, options: AskingOptions): Promise<Answer>;
}

/** What a tool is given besides its arguments. */
export interface Call<B extends Asking = Asking> {
  bus: B;
  deadlineMs: number;
  /** Longest wait for what others do: the answer must still come within the deadline. */
  waitMs: number;
  /** The agent in whose name it is asked; empty: that of the session. */
  actor: string;
  /** Session in which approvals of a person are remembered; empty: that of the agent. */
  session: string;
  /** Of the answer. */
  charsMax: number;
  /** Aborts when the client cancels, or goes away. */
  signal: AbortSignal;
  tell: (doing: string) => void;
  /** What holds also where the call fails or is interrupted from now on. */
  keep: (known: Known | undefined) => void;
  /** What the person before the client answered, by question; undefined: no person was asked yet. */
  responses: Record<string, unknown> | undefined;
}

/** For scripts the facts, for people the hint. */
export interface Known {
  facts: object;
  hint: string;
}

export interface Reply<V extends object> {
  value: V;
  cut: Cut<V>;
  /** How many rows of its kind there are, and how many of them `value` holds. */
  total: number;
  shown: (value: V) => number;
  /** How to get what is missing. */
  rest: (shown: number) => string;
  /** What a model reads; places are `path:line`. */
  text: (value: V) => string;
  /** Without what a model has no use for, before it is bounded; absent: all of it. */
  brief?: (value: V) => V;
  /** What a model gets beside the text; absent: all of it. */
  structure?: (value: V) => object;
  /** What --json prints; absent: `value`. */
  document?: object;
  /** What a person at a terminal reads; absent: `text`. */
  screen?: (value: V) => string;
  /** It came, but it is not what was asked for: the command line ends with 1. Null: the value itself says why. */
  failure?: Failure | null | undefined;
  /** Nothing came but the failure, which a model gets instead. */
  isEmpty?: boolean;
  /** Called when it was handed over: settles messages. False: they come again. */
  settle?: () => boolean;
}

export interface Operation<Input extends z.ZodObject, B extends Asking = Asking> {
  name: string;
  title: string;
  description: string;
  input: Input;
  /** Of the answer without what `bounded` adds. */
  output: z.ZodObject;
  annotations: Annotations;
  /** While it runs, for those who wait. */
  doing: string;
  /** How it stands on the command line; absent: it has a command of its own there, or none. */
  cli?: CommandLine;
  /** False: models are not offered it. */
  isTool?: false;
  /** Optional fields that only commands have. */
  personal?: readonly string[];
  /** What no schema says, before anything is asked: a slip costs no connection. */
  check?(input: z.output<Input>): void;
  // Each has an answer of its own, and hands it on together with what to do with it.
  // oxlint-disable-next-line typescript/no-explicit-any
  run(input: z.output<Input>, call: Call<B>): Promise<Reply<any>>;
}

/** An operation that only people are offered. */
export function command<Input extends z.ZodObject>(
  its: Pick<Operation<Input>, 'input' | 'check' | 'run'> & { cli: CommandLine },
): Operation<Input> {
  const { command: words, help } = its.cli;
  return {
    ...{ name: words.replaceAll(' ', '_'), title: help, description: help, doing: help },
    ...{ output: z.looseObject({}), annotations: acts, isTool: false },
    ...its,
  };
}

/** An operation as a command. What is not named here is taken from the input: names, defaults, bounds, descriptions. */
export interface CommandLine {
  /** Words behind `sigma`: `lattice query`. */
  command: string;
  /** One line of the help. */
  help: string;
  /** The same of the word that it stands below, where no command has that word. */
  above?: string;
  /** Fields of the input that are given without a flag, in order. */
  arguments: readonly string[];
  /** What the help says of them, where it is not what the input says. */
  argumentHelp?: Readonly<Record<string, string>>;
  /** Flags by field; a field within a field is `grounding.overlays`. Others have no flag. */
  flags?: Readonly<Record<string, Flag>>;
  /** Longest wait, in ms; absent: 30 s. */
  deadlineMs?: number;
  /** The flag that says another one. */
  deadline?: Flag;
  /** Printed with --schema, instead of everything else. */
  schema?: () => object;
  /** What it is doing is said on standard error. */
  tells?: true;
  /** The first argument may be `-`: standard input. */
  readsInput?: boolean;
  /** All of it is read, where it is not given in words. */
  source?: Source;
  /** The fields as the command names them → as the input does. Throws what is wrong with them. */
  complete?(fields: Record<string, unknown>, from: 'words' | 'document'): object;
  /**
   * `index`: also a built index, with --repo; `bus`: agents; `as operator`: with the rights of a person; `as an agent`: also in the
   * name of `--as`. Absent: index.
   */
  asks?: 'index' | 'bus' | 'as operator' | 'as an agent';
  /** Behind the options in the help. */
  more?: string;
}

/** What the first argument may be besides words: `-`, standard input. */
export interface Source {
  /** In messages: `a prompt`. */
  what: string;
  bytesMax: number;
  /** A file, too; without one it is standard input. What looks like this is never words. */
  files?: RegExp;
  /** It holds the whole input as JSON, over which flags go. */
  isDocument?: true;
}

export interface Flag {
  /** As commander takes it: `--hint <words>`. `<duration>` is read as one, `<list>` with commas. */
  flag: string;
  help: string;
  /** Help of its `--no-` form. */
  no?: string;
  /** On a terminal it is on. */
  onTerminal?: true;
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

/** An answer must still come within the time that the client gives it. */
const marginMs = 1_000;

/** All arguments of a model. */
export function inputOf(tool: { input: z.ZodObject; personal?: readonly string[] }): z.ZodObject {
  const personal = new Set(tool.personal);
  const fields = Object.entries(tool.input.shape).filter(([name]) => !personal.has(name));
  return z.strictObject({ ...Object.fromEntries(fields), ...common.shape });
}

/** What is the same for all calls of models. */
export function modelCall(
  input: z.output<typeof common>,
): Pick<Call, 'deadlineMs' | 'waitMs' | 'charsMax' | 'actor' | 'session' | 'keep'> {
  const deadlineMs = input.timeout_seconds * 1_000;
  return {
    ...{ deadlineMs, waitMs: Math.max(0, deadlineMs - marginMs) },
    charsMax: input.max_tokens * charsPerToken,
    ...{ actor: '', session: '', keep: () => undefined },
  };
}

/** The answer of a tool as a model reads it, outside of an MCP server. Throws TOOL_INPUT, and what the tool throws. */
export async function textOf<Input extends z.ZodObject, B extends Asking>(
  tool: Operation<Input, B>,
  args: unknown,
  call: Pick<Call<B>, 'bus' | 'signal' | 'tell'>,
): Promise<string> {
  const input = argumentsOf(tool.name, inputOf(tool), args);
  tool.check?.(input as z.output<Input>);
  const answer = await tool.run(input as z.output<Input>, {
    ...call,
    ...modelCall(input),
    responses: undefined,
  });
  return replied(answer, input.max_tokens).text;
}

/** Checked against `schema`. Throws TOOL_INPUT. */
export function argumentsOf(
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

/** As much of an answer as `maxTokens` allow. */
function bounds<V extends object>(answer: Reply<V>, maxTokens: number): Drafted {
  const { value, cut, total, shown, rest, text, structure = (part: V) => part } = answer;
  return fitted(value, cut, maxTokens * charsPerToken, (part, isCut) => {
    const rows = shown(part);
    const note = isCut || rows !== total ? rest(rows) : '';
    return {
      structured: { ...structure(part), truncated: isCut, shown: rows, total, rest: note },
      text: text(part) + (note === '' ? '' : `\n(${rows} of ${total} shown. ${note})`),
    };
  });
}

/** One line of JSON: code, text, whether to try again, and what to do next. */
export function failureText(error: unknown): string {
  const coded = asBusError(error);
  return JSON.stringify({ error: { ...coded.toFailure(), next: coded.next } });
}

/** What a model gets of it. Throws the failure of an answer that holds nothing else. */
export function replied<V extends object>(reply: Reply<V>, maxTokens: number): Drafted {
  if (reply.isEmpty === true && reply.failure) throw new RemoteError(reply.failure);
  const { value, brief = (whole: V) => whole, settle = () => true } = reply;
  const drafted = bounds({ ...reply, value: brief(value) }, maxTokens);
  if (!settle()) throw new BusError('BROKER_LOST');
  return drafted;
}
