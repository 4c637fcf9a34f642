import { InvalidArgumentError, Option, type Command } from 'commander';
import { BusError } from '../../src/errors/bus-error.js';
import { askingOver } from '../../src/operations/asking.js';
import type {
  Argument,
  Asking,
  Call,
  CommandLine,
  Flag,
  Reply,
} from '../../src/operations/operation.js';
import type { AnyOperation } from '../../src/operations/registry.js';
import { anyOf, fieldsOf, readWith, type Field } from '../../src/operations/fields.js';
import type { CriticPort } from '../../src/remote/critic.js';
import { printable } from '../../src/render/terminal.js';
import { beginningOf, wholeOf } from './input.js';
import { withClient } from './connect.js';
import {
  actorOf,
  configOf,
  gathered,
  handingOn,
  list,
  longDuration,
  wholeNumber,
  withCommon,
  withTree,
  type CommonOptions,
  type TreeOptions,
} from './options.js';
import { print, usage } from './output.js';
import { classifying } from './tasks/attend.js';
import type { Dialogue, Terminal } from './terminal.js';

/** A character takes four bytes at most. */
const bytesPerChar = 4;
const deadlineMsDefault = 30_000;

const attending = (): Promise<Dialogue> => import('./tasks/attend-dialogue.js');

/** By command. */
const terminals: Readonly<Record<string, Terminal>> = {
  gate: { dialogue: () => import('./tasks/gate-dialogue.js') },
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
  for (const each of cli.arguments) addArgument(command, each, fields);
  const flags = Object.entries(cli.flags ?? {});
  for (const [path, flag] of flags) addFlag(command, flag, fieldAt(fields, path));
  terminal.adds?.(command);
  if (cli.more !== undefined) command.addHelpText('after', cli.more);
  command.action(async (...given: unknown[]) => {
    const options = command.opts<OperationOptions & Record<string, unknown>>();
    if ((await terminal.instead?.(given, options)) === true) return;
    // What was not given has its default in the input, too.
    const isGiven = ([, flag]: [string, Flag]): boolean =>
      command.getOptionValueSource(keyOf(flag)) !== 'default';
    const named = flags
      .filter(isGiven)
      .map(([path, flag]) => valueIn(path, flag, options[keyOf(flag)]));
    const values = await argumentsOf(cli, fields, given);
    const args = assembled([
      ...Object.entries(cli.sets ?? {}),
      ...values,
      ...(await Promise.all(named)),
    ]);
    assertNeeded(cli, args);
    const read = readWith(operation, args);
    if ('why' in read) {
      const detail = `${nameOf(read.field, cli)}: ${read.why}`;
      throw new BusError(cli.refusal ?? 'USAGE', { detail });
    }
    operation.check?.(read.value);
    const canAsk = options.json !== true && process.stdin.isTTY && process.stdout.isTTY;
    const reply = await within(options, cli, async (bus) => {
      const call: Call = {
        ...{ bus, person: 'caller', charsMax: Infinity },
        actor: cli.asks === 'as an agent' ? actorOf(configOf(options), options.as) : '',
        deadlineMs: options.deadline ?? cli.deadlineMs ?? deadlineMsDefault,
        signal: new AbortController().signal,
        tell: cli.isFollowed === true ? followed() : () => undefined,
      };
      const first = await operation.run(read.value, call);
      if (!canAsk || terminal.dialogue === undefined) return first;
      return (await terminal.dialogue()).goOn(first, call, read.value);
    });
    if (reply !== undefined) printReply(options, reply as Reply<object>);
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
function withSource(command: Command, { asks = 'index', deadlineMs }: CommandLine): Command {
  if (asks === 'index') return withTree(command, deadlineMs);
  const common = handingOn(withCommon(command));
  if (asks !== 'as an agent') return common;
  return common.option('--as <agent>', 'in the name of this agent (default: operator)');
}

/** One that has a default may be left out. */
function addArgument(
  command: Command,
  its: string | Argument,
  fields: Record<string, Field>,
): void {
  const field = fields[typeof its === 'string' ? its : its.field] ?? {};
  const { description = '', default: usual, type } = field;
  const { argument, help } =
    typeof its !== 'string'
      ? its
      : { argument: usual === undefined ? `<${its}>` : `[${its}]`, help: description };
  if (type !== 'integer') command.argument(argument, help);
  else command.argument(argument, help, (text: string) => valueOf(field, text, usual, usual));
}

function fieldAt(properties: Record<string, Field>, path: string): Field {
  const [first = '', ...rest] = path.split('.');
  const field = properties[first] ?? {};
  return rest.length === 0 ? field : fieldAt(field.properties ?? {}, rest.join('.'));
}

/** The name under which commander keeps a flag: `--top-k <n>` is `topK`. */
function keyOf({ flag }: Flag): string {
  const [name = ''] = /(?<=--(?:no-)?)(?!no-)[a-z-]+/.exec(flag) ?? [];
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

function addFlag(command: Command, its: Flag, field: Field): void {
  const { flag, help, isRequired = false, file, read } = its;
  const { type, default: usual } = field;
  const option = new Option(flag, help).makeOptionMandatory(isRequired);
  const shown =
    typeof usual === 'number' || (typeof usual === 'string' && usual !== '') ? usual : undefined;
  if (type !== 'boolean' && file === undefined)
    option.default(shown).argParser((text: string, before: unknown) => {
      const value = read === undefined ? valueOf(field, text, before, shown) : read(text);
      return read !== undefined && type === 'array'
        ? [...((before ?? []) as unknown[]), value]
        : value;
    });
  command.addOption(option);
}

/** A flag with its value; where it names a file, with what that holds. Throws USAGE, TOO_LARGE. */
async function valueIn(path: string, { file }: Flag, given: unknown): Promise<[string, unknown]> {
  if (file === undefined || typeof given !== 'string') return [path, given];
  const isText = file.holds === 'marked' && !given.startsWith('@');
  if (isText) return [path, given];
  const name = file.holds === 'marked' ? given.slice(1) : given;
  const text = (await wholeOf(name, file.bytesMax, name)).toString('utf8');
  const isJson = file.holds === 'json' || (file.holds === 'either' && /^\s*\{/.test(text));
  return [path, isJson ? jsonIn(text, name) : text];
}

function jsonIn(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usage(`${name} is not JSON: ${error instanceof Error ? error.message : ''}`);
  }
}

/** One value of a flag. `before`: what was given earlier under the same flag, or the default. */
function valueOf(field: Field, text: string, before: unknown, shown: unknown): unknown {
  const { type, enum: choices, items } = field;
  // Seconds in an input are a duration on the command line.
  if (type === 'number') return longDuration(text) / 1_000;
  if (type === 'integer') return wholeNumber(field.minimum ?? 0, field.maximum ?? 2 ** 31)(text);
  if (items?.enum !== undefined)
    return list(text).map((each) => oneOf(each.toUpperCase(), items.enum));
  if (type === 'array') return gathered(text, before === shown ? [] : (before as string[]));
  return choices === undefined ? text : oneOf(text, choices);
}

function oneOf(text: string, choices: readonly string[] = []): string {
  if (choices.includes(text)) return text;
  throw new InvalidArgumentError(`It must be ${anyOf(choices)}.`);
}

/** What stands without a flag. Text beyond what an operation takes is not read. */
async function argumentsOf(
  { arguments: names, readsInput = false }: CommandLine,
  properties: Record<string, Field>,
  given: readonly unknown[],
): Promise<[string, unknown][]> {
  return Promise.all(
    names.map(async (its, at): Promise<[string, unknown]> => {
      const name = typeof its === 'string' ? its : its.field;
      const text = given[at];
      const charsMax = properties[name]?.maxLength ?? 0;
      if (!readsInput || at > 0 || text !== '-') return [name, text];
      return [
        name,
        (await beginningOf('-', bytesPerChar * charsMax)).text.trim().slice(0, charsMax),
      ];
    }),
  );
}

/** `grounding.overlays` becomes a field of `grounding`; what was not given is left out. */
function assembled(values: readonly (readonly [string, unknown])[]): object {
  const whole: Record<string, unknown> = {};
  for (const [path, value] of values) {
    if (value === undefined) continue;
    const names = path.split('.');
    const last = names.pop() ?? '';
    let inner = whole;
    for (const name of names) inner = (inner[name] ??= {}) as Record<string, unknown>;
    inner[last] = value;
  }
  return whole;
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
  return name.replace(/[<>[\]]/g, '') + path.slice(field.length);
}

async function within<T>(
  options: OperationOptions,
  { asks = 'index' }: CommandLine,
  work: (bus: Asking) => Promise<T>,
): Promise<T> {
  const config = configOf(options);
  const { repo } = options;
  if (asks === 'the critic') {
    const { Critics } = await import('./critic/critics.js');
    const critic = (): Promise<CriticPort> => Promise.resolve(new Critics(config));
    return work({ ...askingOver(() => Promise.reject(usage('this asks the critic'))), critic });
  }
  if (asks !== 'index' || repo === undefined)
    return withClient(
      config,
      (client) => work(askingOver(() => Promise.resolve(client))),
      asks === 'as an agent' ? 'operator' : undefined,
    );
  const { askingIndex } = await import('./local.js');
  await using index = askingIndex(config, repo);
  return await work(index);
}

function printReply(options: CommonOptions, reply: Reply<object>): void {
  const { value, failure, screen = reply.text } = reply;
  const { code, text, retryable } = failure ?? {};
  const isPlain = !process.stdout.isTTY || (process.env.NO_COLOR ?? '') !== '';
  print(
    options,
    failure === undefined ? value : { ...value, error: { code, text, retryable } },
    () => screen(value, isPlain),
  );
  if (failure !== undefined) process.exitCode = 1;
}
