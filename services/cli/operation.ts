import { isUtf8 } from 'node:buffer';
import { isatty } from 'node:tty';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { BusError } from '../../src/errors/bus-error.js';
import type { ErrorCode } from '../../src/errors/catalogue.js';
import { askingOver } from '../../src/operations/asking.js';
import type {
  Argument,
  Asking,
  Call,
  CommandLine,
  Flag,
  Known,
  Reply,
  Source,
} from '../../src/operations/operation.js';
import type { AnyOperation } from '../../src/operations/registry.js';
import { anyOf } from '../../src/errors/objection.js';
import { fieldsOf, readWith, type Field } from '../../src/operations/fields.js';
import { standingOf, type Standing } from '../../src/operations/standing.js';
import type { CriticPort } from '../../src/remote/critic.js';
import { agentOfPerson } from '../../src/remote/identity.js';
import { printable } from '../../src/render/terminal.js';
import { beginningOf, bytesOf, isFileAt, linesIn, textIn, wholeOf } from './input.js';
import { withClient } from './connect.js';
import {
  configOf,
  duration,
  handingOn,
  list,
  longDuration,
  wholeNumber,
  withCommon,
  withTree,
  type CommonOptions,
  type TreeOptions,
} from './options.js';
import { FailureWith, print, printRows, usage } from './output.js';
import { classifying } from './tasks/attend.js';
import type { Dialogue, Terminal } from './terminal.js';

/** A character takes four bytes at most. */
const bytesPerChar = 4;
const deadlineMsDefault = 30_000;

const attending = (): Promise<Dialogue> => import('./tasks/attend-dialogue.js');

/** `--schema`: of what is read as JSON. */
const printsSchema = (help: string, schema: () => Promise<object>): Terminal => ({
  adds: (command) => command.option('--schema', help),
  instead: async (_, options: CommonOptions & { schema?: boolean }) => {
    if (options.schema !== true) return false;
    process.stdout.write(`${JSON.stringify(await schema(), null, 2)}\n`);
    return true;
  },
});

/** By command. */
const terminals: Readonly<Record<string, Terminal>> = {
  gate: { dialogue: () => import('./tasks/gate-dialogue.js') },
  delegate: printsSchema('print the JSON Schema of a task; delegate nothing', async () =>
    (await import('../../src/delegation/task/json-schema.js')).delegatedTaskJsonSchema(),
  ),
  'task update': printsSchema(
    'print the JSON Schema of a SigmaTaskUpdate; change nothing',
    async () => (await import('../../src/task/todo/todo-update.js')).todoUpdateJsonSchema(),
  ),
  'task review': { dialogue: () => import('./tasks/review-dialogue.js') },
  attend: { ...classifying, dialogue: attending },
  'attend answer': { dialogue: attending },
  'attend show': { dialogue: attending },
};

/** Adds an operation as the commands that it names. Its arguments are checked by its own input. Throws USAGE when it has none. */
export function addOperation(sigma: Command, operation: AnyOperation): void {
  for (const cli of [operation.cli ?? []].flat()) addCommand(sigma, operation, cli);
}

function addCommand(sigma: Command, operation: AnyOperation, cli: CommandLine): void {
  const fields = fieldsOf(operation);
  const [name = '', ...groups] = cli.command.split(' ').reverse();
  const group = groups.reverse().reduce((above, each) => groupOf(above, each, cli.above), sigma);
  const terminal = terminals[cli.command] ?? {};
  const command = withSource(group.command(name).description(cli.help), cli);
  const all = cli.arguments.map((each) => argumentIn(each, fields));
  for (const each of all) addArgument(command, each, fields[each.field] ?? {});
  const flags = Object.entries(cli.flags ?? {});
  for (const [path, flag] of flags) addFlag(command, flag, fieldAt(fields, path), cli);
  const { deadline } = cli;
  if (deadline !== undefined) command.option(deadline.flag, deadline.help, duration);
  terminal.adds?.(command);
  if (cli.more !== undefined) command.addHelpText('after', cli.more);
  command.action(async (...given: unknown[]) => {
    const options = command.opts<OperationOptions & Record<string, unknown>>();
    if ((await terminal.instead?.(given, options)) === true) return;
    const areLines = flags.some(
      ([, its]) => its.source?.holds === 'lines' && keyOf(its) in options,
    );
    const words = await Promise.all(
      all.map((each, at) => {
        const isFile = each.source !== undefined && each.source.names === undefined;
        const word = given[at] ?? (isFile && !areLines ? '-' : undefined);
        return valuesIn(each.field, each, word, cli.refusal);
      }),
    );
    // What was not given has its default in the input, too.
    const isGiven = ([, flag]: [string, Flag]): boolean =>
      command.getOptionValueSource(keyOf(flag)) !== 'default';
    const said = flags.filter(isGiven).map(([path, flag]) => {
      const value = options[keyOf(flag)] ?? (flag.onTerminal === true ? isatty(1) : undefined);
      return valuesIn(path, flag, value);
    });
    const sets = Object.entries(cli.sets ?? {});
    const byFlag = (await Promise.all(said)).flat().filter(([, value]) => value !== undefined);
    const args = assembled([...sets, ...words.flat(), ...byFlag]);
    assertNeeded(cli, args);
    const isInWords = words.flat().every(([path]) => path !== '');
    const read = readWith(operation, isInWords ? (cli.complete?.(args) ?? args) : args);
    if ('why' in read) {
      // What a document says is named as it says it.
      const isWritten = ([path]: [string, Flag]): boolean => byFlag.some(([each]) => each === path);
      const written = isInWords ? flags : flags.filter(isWritten);
      const field = nameOf(read.field, { ...cli, flags: Object.fromEntries(written) });
      const detail = field === '' ? read.why : `${field}: ${read.why}`;
      throw new BusError(cli.refusal ?? 'USAGE', { detail });
    }
    operation.check?.(read.value);
    const canAsk = options.json !== true && process.stdin.isTTY && process.stdout.isTTY;
    const asked = deadline === undefined ? options.deadline : options[keyOf(deadline)];
    const deadlineMs = (asked as number | undefined) ?? cli.deadlineMs ?? deadlineMsDefault;
    const kept: { known?: Known | undefined } = {};
    const self = (): string => agentOfPerson(configOf(options));
    const { role, ...standing } = standingOf(cli, self, options.as);
    try {
      await within(options, cli, role, async (bus, signal) => {
        const call: Call = {
          ...{ bus, person: 'caller', charsMax: Infinity, deadlineMs, waitMs: deadlineMs },
          ...{ ...standing, signal },
          tell: cli.isFollowed === true ? followed() : () => undefined,
          keep: (known) => (kept.known = known),
        };
        const first = await operation.run(read.value, call);
        const dialogue = canAsk ? await terminal.dialogue?.() : undefined;
        const reply = dialogue ? await dialogue.goOn(first, call, read.value) : first;
        if (reply === undefined) return;
        await printReply(options, reply as Reply<object>);
        reply.settle?.();
      });
    } catch (error) {
      const { known } = kept;
      throw known === undefined ? error : new FailureWith(error, known.facts, known.hint);
    }
  });
}

/** Each step once, as a line. */
function followed(): (doing: string) => void {
  let last = '';
  return (doing) => {
    if (doing !== last) process.stderr.write(`${printable(doing)}\n`);
    last = doing;
  };
}

/** The command that others stand below: known, or new. */
function groupOf(above: Command, name: string, help = ''): Command {
  const known = above.commands.find((each) => each.name() === name);
  if (known !== undefined) return known;
  const group = above.command(name).description(help);
  return group.action(() => {
    const names = group.commands.map((each) => each.name()).join(', ');
    throw usage(`${name} needs a command: ${names}`);
  });
}

interface OperationOptions extends Omit<TreeOptions, 'deadline'> {
  /** Where it asks an index; otherwise that of the operation. */
  deadline?: number;
  as?: string;
}

/** What says where it asks, and as which agent. What stands before a subcommand holds for it, too: `queue --as bob run`. */
function withSource(command: Command, its: CommandLine): Command {
  const { asks = 'index', deadlineMs, as = 'in the name of this agent (default: operator)' } = its;
  if (asks === 'index') return withTree(command, deadlineMs);
  const common = handingOn(withCommon(command));
  return asks.endsWith('an agent') ? common.option('--as <agent>', as) : common;
}

/** One that has a default may be left out. */
function argumentIn(its: string | Argument, fields: Record<string, Field>): Argument {
  if (typeof its !== 'string') return its;
  const { description: help = '', default: usual } = fields[its] ?? {};
  return { field: its, argument: usual === undefined ? `<${its}>` : `[${its}]`, help };
}

function addArgument(command: Command, { argument, help }: Argument, field: Field): void {
  if (field.type !== 'integer' && field.items?.type !== 'integer') command.argument(argument, help);
  else
    command.argument(argument, help, (text: string, before: unknown) =>
      valueOf(field, argument, text, before, field.default),
    );
}

function fieldAt(properties: Record<string, Field>, path: string): Field {
  const [first = '', ...rest] = path.split('.');
  const field = properties[first] ?? {};
  if (rest.length === 0) return field;
  const inner = [field, ...(field.anyOf ?? [])].find((each) => each.properties !== undefined);
  return fieldAt(inner?.properties ?? {}, rest.join('.'));
}

/** The name under which commander keeps a flag: `--top-k <n>` is `topK`. */
function keyOf({ flag }: Flag): string {
  const [name = ''] = /(?<=--(?:no-)?)(?!no-)[a-z-]+/.exec(flag) ?? [];
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** An input that refuses with a code of its own also says what may be chosen. */
function addFlag(command: Command, its: Flag, field: Field, { refusal }: CommandLine): void {
  const { flag, help, no, isRequired = false, source, read } = its;
  const { type, default: usual } = field;
  const option = new Option(flag, help).makeOptionMandatory(isRequired);
  const isShown = typeof usual === 'number' || (typeof usual === 'string' && usual !== '');
  const shown = isShown && refusal === undefined ? usual : undefined;
  const reads = refusal === undefined ? field : { ...field, enum: undefined, items: {} };
  if (type !== 'boolean' && source === undefined)
    option.default(shown).argParser((text: string, before: unknown) => {
      if (read === undefined) return valueOf(reads, flag, text, before, shown);
      return [...((before ?? []) as unknown[]), read(text)];
    });
  command.addOption(option);
  if (no !== undefined) command.option(flag.replace('--', '--no-'), no);
}

/** One value. `before`: what was given earlier in the same place, or the default. */
function valueOf(
  field: Omit<Field, 'enum'> & { enum?: string[] | undefined },
  flag: string,
  text: string,
  before: unknown,
  shown: unknown,
): unknown {
  const { type, enum: choices, items = {}, maximum = Infinity } = field;
  // Seconds in an input are a duration on the command line; integers are milliseconds.
  if (type === 'number') return (maximum > 600 ? longDuration(text) : duration(text)) / 1_000;
  if (flag.endsWith('<duration>')) return longDuration(text);
  if (type === 'integer') return wholeNumber(field.minimum ?? 0, field.maximum ?? 2 ** 31)(text);
  if (items.enum !== undefined) return list(text).map((each) => oneOf(each, items.enum));
  if (flag.endsWith('<list>')) return list(text);
  if (type === 'array')
    return [
      ...(((before === shown ? undefined : before) ?? []) as unknown[]),
      valueOf(items, '', text, undefined, undefined),
    ];
  return choices === undefined ? text : oneOf(text, choices);
}

function oneOf(text: string, choices: readonly string[] = []): string {
  const chosen = choices.find((each) => each.toLowerCase() === text.toLowerCase());
  if (chosen !== undefined) return chosen;
  throw new InvalidArgumentError(`It must be ${anyOf(choices)}.`);
}

/** Of an argument or a flag: as it was given, or what the file holds that it names; '' is the whole input. Throws USAGE, TOO_LARGE. */
async function valuesIn(
  path: string,
  { source }: { source?: Source },
  given: unknown,
  refusal?: ErrorCode,
): Promise<[string, unknown][]> {
  const name = source === undefined ? undefined : await fileNamed(source, path, given);
  if (source === undefined || name === undefined) return [[path, given]];
  const { holds, bytesMax, what = name, gives = path } = source;
  if (holds === 'beginning') {
    const { text } = await beginningOf(name, bytesMax);
    return [[path, text.trim().slice(0, bytesMax / bytesPerChar)]];
  }
  if (holds === 'lines') return [[gives, linesIn(bytesOf(name), bytesMax)]];
  const bytes = await wholeOf(name, bytesMax, what);
  if (holds === 'bytes' && !isUtf8(bytes))
    return [
      [path, bytes.toString('base64')],
      ['encoding', 'base64'],
    ];
  const text = textIn(bytes, name);
  if (holds === 'document') return [['', objectIn(text, what, refusal)]];
  const isJson = holds === 'json' || (holds === 'either' && /^\s*\{/.test(text));
  return [[gives, isJson ? jsonIn(text, name, refusal) : text]];
}

/** Undefined: it is given in words, or not at all. */
async function fileNamed(
  { names }: Source,
  path: string,
  given: unknown,
): Promise<string | undefined> {
  if (names instanceof RegExp) {
    if (given === undefined && process.stdin.isTTY)
      throw usage(`no ${path} was given: name a file, - or words`);
    const name = typeof given === 'string' ? given : '-';
    if (name === '-' || (await isFileAt(name))) return name;
    if (names.test(name)) throw usage(`${name} cannot be read`);
    return undefined;
  }
  if (typeof given !== 'string') return undefined;
  if (names === '@') return given.startsWith('@') ? given.slice(1) : undefined;
  return names === undefined || given === names ? given : undefined;
}

function jsonIn(text: string, name: string, refusal: ErrorCode = 'USAGE'): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BusError(refusal, { detail: `${name} is not JSON: ${(error as Error).message}` });
  }
}

function objectIn(text: string, what: string, refusal?: ErrorCode): object {
  const value = jsonIn(text, what, refusal);
  if (isFields(value)) return value;
  throw new BusError(refusal ?? 'USAGE', { detail: `${what} must be one JSON object` });
}

/**
 * `grounding.overlay_hints` becomes a field of `grounding`; what was not given is left out. A field of what a document says in
 * words instead stays as it is: the input refuses it by name.
 */
function assembled(values: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const whole: Record<string, unknown> = {};
  for (const [path, value] of values) {
    if (value === undefined) continue;
    if (path === '') {
      Object.assign(whole, value);
      continue;
    }
    const names = path.split('.');
    const last = names.pop() ?? '';
    const inner = names.reduce<unknown>(fieldsIn, whole);
    if (isFields(inner)) inner[last] = value;
  }
  return whole;
}

function fieldsIn(whole: unknown, name: string): unknown {
  return isFields(whole) ? (whole[name] ??= {}) : whole;
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function assertNeeded(cli: CommandLine, args: object): void {
  const { needs = [] } = cli;
  const isGiven = Object.entries(args).some(
    ([name, value]) => needs.includes(name) && value !== '',
  );
  if (needs.length > 0 && !isGiven)
    throw usage(`give ${anyOf(needs.map((each) => nameOf(each, cli)))}`);
}

/** As a person wrote it: a flag, or the name of an argument, and what is wrong inside of it. */
function nameOf(path: string, { arguments: all, flags = {} }: CommandLine): string {
  const written = [
    ...Object.entries(flags).map(([field, { flag }]) => [field, flag.split(' ')[0] ?? field]),
    ...all.map((each) => (typeof each === 'string' ? [each, each] : [each.field, each.argument])),
  ] as [string, string][];
  const [field, name] = written.find(([its]) => `${path}.`.startsWith(`${its}.`)) ?? ['', ''];
  // A flag that takes a list is one word.
  const inside = name.startsWith('-') ? '' : path.slice(field.length);
  return name.replace(/[<>[\]]/g, '') + inside;
}

async function within<T>(
  options: OperationOptions,
  { asks = 'index' }: CommandLine,
  role: Standing['role'],
  work: (bus: Asking, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const config = configOf(options);
  const { repo } = options;
  // Ctrl-C ends the process where no one else works on it.
  const { signal } = new AbortController();
  if (asks === 'the critic') {
    const { Critics } = await import('./critic/critics.js');
    const critic = (): Promise<CriticPort> => Promise.resolve(new Critics(config));
    return work(
      { ...askingOver(() => Promise.reject(usage('this asks the critic'))), critic },
      signal,
    );
  }
  if (asks !== 'index' || repo === undefined)
    return withClient(
      config,
      (client, over) =>
        work(
          askingOver(() => Promise.resolve(client), config),
          over,
        ),
      role,
    );
  const { askingIndex } = await import('./local.js');
  return work(askingIndex(config, repo), signal);
}

async function printReply(options: CommonOptions, reply: Reply<object>): Promise<void> {
  const { value, document = value, failure, screen = reply.text, rows } = reply;
  if (rows !== undefined) return printRows(options, { ...reply, rows });
  const error = failure && {
    error: { code: failure.code, text: failure.text, retryable: failure.retryable },
  };
  const isPlain = !process.stdout.isTTY || (process.env.NO_COLOR ?? '') !== '';
  print(options, { ...document, ...error }, () => screen(value, isPlain));
  if (failure !== undefined) process.exitCode = 1;
}
