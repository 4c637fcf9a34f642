import { z } from 'zod';
import type { Client } from '../client/client.js';
import { asBusError, BusError, RemoteError, type Failure } from '../errors/bus-error.js';
import type { ErrorCode } from '../errors/catalogue.js';
import type { Analyses } from '../pgc/analyse/analyses.js';
import type { AskingOptions, Questions } from '../lattice/questions.js';
import type { TreeState } from '../pgc/plan/tree-state.js';
import type { StatesRequest } from '../pgc/serve/messages.js';
import type { Answer, AskRequest } from '../pgc/shapes.js';
import type { AuditFilter, AuditLine } from '../remote/audit.js';
import type { CriticPort } from '../remote/critic.js';
import { printableLines } from '../render/terminal.js';
import { answerTokens, charsPerToken, fitted, listsOf, type Cut, type Drafted } from './bounds.js';
import type { LeftPlaces } from './explore/left.js';
import { readWith } from './fields.js';

/** For a whole call, unless it names another. Most clients give up after a minute. */
const timeoutS = { default: 30, max: 600 } as const;

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
  ...{ readOnlyHint: false, idempotentHint: false, openWorldHint: true },
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

/**
 * An answer that comes line by line, for people and their scripts. A row with an `error` says that not all is well. `list`: the
 * name of them all in one document; absent: they have no end.
 */
export function inLines<V extends object>(rows: AsyncIterable<object>, list?: string): Reply<V> {
  return { ...plain({} as V, ''), rows, ...(list !== undefined && { list }) };
}

/** Where an operation asks: a bus, or the built index of one tree. */
export interface Asking {
  /** Throws NEEDS_BUS where there is only an index. */
  client(): Promise<Client>;
  /** `folder`: of several trees the one with it answers; absent: that of the caller. */
  questions(folder?: string): Promise<Questions>;
  /** Of a whole tree. */
  analyses(): Promise<Analyses>;
  /** Of a whole tree, too. */
  locator(): Promise<Pick<Questions, 'locate'>>;
  /** One agent, or one shard of the index. */
  askAgent(agent: string, request: AskRequest, options: AskingOptions): Promise<Answer>;
  /** Of which states of their trees answers of these shards are. */
  states(request: StatesRequest, options: AskingOptions): Promise<TreeState[]>;
  /** Reviews artifacts, and remembers its reviews. */
  critic(): Promise<CriticPort>;
  /** Where the files of the caller are. */
  readonly folder: string;
  /** What answers had no room for; undefined: it is not kept. */
  readonly left: LeftPlaces | undefined;
  /** The end of the audit log; undefined: it is not on this machine. */
  audit(filter: AuditFilter, limit: number): Promise<AuditLine[] | undefined>;
  /** With the rights of the person who calls, or who was asked. */
  asPerson<T>(work: (client: Client) => Promise<T>): Promise<T>;
}

/** What only a person decides. */
export interface Decision<Form extends z.ZodObject> {
  /** Names what is decided: an answer is one to this question only. */
  key: string;
  message: string;
  form: Form;
  /** The command by which they decide where they can be shown no form. */
  command: string;
}

/** What a tool is given besides its arguments. */
export interface Call {
  bus: Asking;
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
  /** Who decides: the caller, whose arguments are their word, or the person before the client. Undefined: they said nothing. */
  person:
    | 'caller'
    | (<Form extends z.ZodObject>(asked: Decision<Form>) => z.output<Form> | undefined);
  /** The person before the client, while the work stands still; the signal takes the question back. Undefined: they said nothing. Absent: they cannot be asked meanwhile. */
  ask?: <Form extends z.ZodObject>(
    asked: Decision<Form>,
    signal: AbortSignal,
  ) => Promise<z.output<Form> | undefined>;
}

/** Why the signal of a call aborts whose client wants an end of the work, and not only of its own waiting. */
export const unwanted = Symbol('unwanted');

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
  screen?: (value: V, isPlain: boolean) => string;
  /** Printed instead, each as a line of JSON. */
  rows?: AsyncIterable<object>;
  /** With --json the rows are this list of one document; absent: a line of JSON each. */
  list?: string;
  /** A row for people; absent: as JSON, too. */
  row?: (row: object) => string;
  /** It came, but it is not what was asked for: the command line ends with 1. Null: the value itself says why. */
  failure?: Failure | null | undefined;
  /** Nothing came but the failure, which a model gets instead. */
  isEmpty?: boolean;
  /** It says nothing of any tree, so that it is of no state of one. */
  isDateless?: boolean;
  /** Called when it was handed over: settles messages. False: they come again. */
  settle?: () => boolean;
}

export interface Operation<Input extends z.ZodObject> {
  name: string;
  title: string;
  description: string;
  input: Input;
  /** Of the answer without what `bounded` adds. */
  output: z.ZodObject;
  annotations: Annotations;
  /** Of one that can both look and act: with this input it only looks. */
  looksWith?(input: z.output<Input>): boolean;
  /** While it runs, for those who wait. */
  doing: string;
  /** How it stands on the command line, as one command or several; absent: it has a command of its own there, or none. */
  cli?: CommandLine | readonly CommandLine[];
  /** As on the command line, where it has no command. */
  asks?: CommandLine['asks'];
  /** What a model may say: the rest of `input` is for people. Absent: all. */
  offered?: z.ZodObject;
  /** It may take longer than a client waits: one that can come back for the answer need not wait. What it asks by `person` it asks at once. */
  isLong?: true;
  /** False: models are not offered it. */
  isTool?: false;
  /** What no schema says, before anything is asked: a slip costs no connection. */
  check?(input: z.output<Input>): void;
  // Each has an answer of its own, and hands it on together with what to do with it.
  // oxlint-disable-next-line typescript/no-explicit-any
  run(input: z.output<Input>, call: Call): Promise<Reply<any>>;
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
  arguments: readonly (string | Argument)[];
  /** Fields that the command itself says, unless a flag does: `gate halt`. */
  sets?: Readonly<Record<string, unknown>>;
  /** Flags by field; a field within a field is `grounding.overlay_hints`. Others have no flag. */
  flags?: Readonly<Record<string, Flag>>;
  /** Fields of which one must be given. */
  needs?: readonly string[];
  /** Longest wait, in ms; absent: 30 s. */
  deadlineMs?: number;
  /** The flag that says another one; absent: --deadline where it asks an index. */
  deadline?: Flag;
  /**
   * `index`: also a built index, with --repo; `bus`: agents; `as operator`: with the rights of a person; `as an agent`: also in the
   * name of `--as`; `for an agent`: so only where there is `--as`; `the critic`: also without a broker. Absent: index.
   */
  asks?: 'index' | 'bus' | 'as operator' | 'as an agent' | 'for an agent' | 'the critic';
  /** What `--as` is for. */
  as?: string;
  /** Each step is a line on standard error. */
  isFollowed?: true;
  /** Code of an argument that the input refuses; absent: USAGE. */
  refusal?: ErrorCode;
  /** Adds to the fields what words leave out, and a document does not. */
  complete?: (fields: Record<string, unknown>) => object;
  /** Behind the options in the help. */
  more?: string;
}

/** Where the field has another name for people, or other words. */
export interface Argument {
  field: string;
  /** As commander takes it: `[intent]`. */
  argument: string;
  help: string;
  source?: Source;
}

export interface Flag {
  /** As commander takes it: `--hint <words>`. `<duration>` is read as one, `<list>` with commas. */
  flag: string;
  help: string;
  isRequired?: true;
  /** Help of its `--no-` form. */
  no?: string;
  /** On a terminal it is on. */
  onTerminal?: true;
  source?: Source;
  /** What is written behind it as a value of the field. Throws USAGE. */
  read?: (text: string) => unknown;
}

/** What may be read of a file, or of standard input for `-`, instead of being said. */
export interface Source {
  /**
   * `beginning`: as much of a text as fits; `bytes`: in base64, as `encoding` says, where they are no text; `either`: JSON or text;
   * `document`: the whole input as JSON, over which flags go; `lines`: one by one, instead of what an argument names.
   */
  holds: 'beginning' | 'text' | 'bytes' | 'json' | 'either' | 'document' | 'lines';
  /** Of one line, or of all. */
  bytesMax: number;
  /** In messages: `a prompt`; absent: the name of the file. */
  what?: string;
  /** What names a file: `-` alone; what stands behind `@`; a file that is there, and what looks like this is never words. Absent: all, an argument without one standard input. */
  names?: '-' | '@' | RegExp;
  /** The field that gets what a file holds; absent: the one that names it. */
  gives?: string;
}

/** A command that no model is offered as a tool, and that needs no words for one. */
export function forPeople<Input extends z.ZodObject>(
  its: CommandLine &
    Pick<Operation<Input>, 'input' | 'annotations' | 'looksWith' | 'check' | 'run'>,
): Operation<Input> {
  const words = { title: '', description: '', doing: '', output: z.looseObject({}) };
  return { ...words, isTool: false, name: its.command, cli: its, ...its };
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

/** All arguments that a model may give. */
export function inputOf({ input, offered = input }: Offer): z.ZodObject {
  return z.strictObject({ ...offered.shape, ...common.shape });
}

type Offer = Pick<Operation<z.ZodObject>, 'input' | 'offered'>;

/** The answer of a tool as a model reads it, outside of an MCP server. Throws TOOL_INPUT, and what the tool throws. */
export async function textOf<Input extends z.ZodObject>(
  tool: Operation<Input>,
  args: unknown,
  call: Pick<Call, 'bus' | 'signal' | 'tell'>,
): Promise<string> {
  return (await drafted(tool, args, { ...call, person: () => undefined })).text;
}

/** The answer of a tool to a model, within what it may take. `patienceMs`: its longest wait where the model names none. Throws TOOL_INPUT, and what the tool throws. */
export async function drafted<Input extends z.ZodObject>(
  tool: Operation<Input>,
  args: unknown,
  call: Pick<Call, 'bus' | 'signal' | 'tell' | 'person' | 'ask'> & {
    isStructured?: boolean;
    patienceMs?: number;
  },
): Promise<Drafted> {
  const { timeout_seconds, max_tokens, ...given } = argumentsOf(tool.name, inputOf(tool), args);
  // What only people say has its default.
  const input = tool.input.parse(given);
  tool.check?.(input);
  const isTimed = (args as { timeout_seconds?: unknown } | null)?.timeout_seconds !== undefined;
  const saidMs = timeout_seconds * 1_000;
  const deadlineMs = isTimed ? saidMs : (call.patienceMs ?? saidMs);
  const answer = await tool.run(input, {
    ...call,
    ...{ deadlineMs, waitMs: Math.max(0, deadlineMs - marginMs) },
    ...{ actor: '', session: '', keep: () => undefined },
    charsMax: max_tokens * charsPerToken,
  });
  return replied(answer, max_tokens, call.isStructured);
}

/** Checked against `schema`. Throws TOOL_INPUT. */
function argumentsOf(
  tool: string,
  schema: z.ZodObject,
  args: unknown,
): Record<string, unknown> & z.output<typeof common> {
  const read = readWith({ input: schema }, args ?? {});
  if ('value' in read) return read.value as ReturnType<typeof argumentsOf>;
  const { field, why } = read;
  throw new BusError('TOOL_INPUT', { tool, detail: `${field}${field && ': '}${why}` });
}

/** As much of an answer as `maxTokens` allow. */
function bounds<V extends object>(
  answer: Reply<V>,
  maxTokens: number,
  isStructured: boolean,
): Drafted {
  const { value, cut, total, shown, rest, text, structure = (part: V) => part } = answer;
  return fitted(value, cut, maxTokens * charsPerToken, (part, isCut) => {
    const rows = shown(part);
    const note = isCut || rows !== total ? rest(rows) : '';
    const bounded = { truncated: isCut, shown: rows, total, rest: note };
    return {
      structured: isStructured ? { ...structure(part), ...bounded } : {},
      text: printableLines(
        text(part) + (note === '' ? '' : `\n(${rows} of ${total} shown. ${note})`),
      ),
    };
  });
}

/** One line of JSON: code, text, whether to try again, and what to do next. */
export function failureText(error: unknown): string {
  const coded = asBusError(error);
  return JSON.stringify({ error: { ...coded.toFailure(), next: coded.next } });
}

/** What a model gets of it. Throws the failure of an answer that holds nothing else. */
export function replied<V extends object>(
  reply: Reply<V>,
  maxTokens: number,
  isStructured = true,
): Drafted {
  if (reply.isEmpty === true && reply.failure) throw new RemoteError(reply.failure);
  const { value, brief = (whole: V) => whole, settle = () => true } = reply;
  const drafted = bounds({ ...reply, value: brief(value) }, maxTokens, isStructured);
  if (!settle()) throw new BusError('BROKER_LOST');
  return drafted;
}
