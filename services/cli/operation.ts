import { InvalidArgumentError, type Command } from 'commander';
import { askingOver } from '../../src/operations/asking.js';
import type { Asking, CommandLine, Flag, Reply } from '../../src/operations/operation.js';
import type { AnyOperation } from '../../src/operations/registry.js';
import { fieldsOf, readArguments, type Field } from '../../src/operations/fields.js';
import { beginningOf } from './input.js';
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

/** A character takes four bytes at most. */
const bytesPerChar = 4;
const deadlineMsDefault = 30_000;

/** Adds an operation as the command that it names. Its arguments are checked by its own input. Throws USAGE when it has none. */
export function addOperation(sigma: Command, operation: AnyOperation): void {
  const { cli, name: tool } = operation;
  const fields = fieldsOf(operation);
  if (cli === undefined) throw new Error(`bug: ${tool} is no command`);
  const [name = '', ...groups] = cli.command.split(' ').reverse();
  const group = groups.reverse().reduce((above, each) => groupOf(above, each, cli.above), sigma);
  const plain = group.command(name).description(cli.help);
  const command = withSource(plain, cli);
  for (const each of cli.arguments) addArgument(command, each, fields[each] ?? {});
  const flags = Object.entries(cli.flags ?? {});
  for (const [path, flag] of flags) addFlag(command, flag, fieldAt(fields, path));
  if (cli.more !== undefined) command.addHelpText('after', cli.more);
  command.action(async (...given: unknown[]) => {
    const options = command.opts<OperationOptions & Record<string, unknown>>();
    const named = new Map(flags.map(([path, flag]) => [path, options[keyOf(flag)]]));
    const values = await argumentsOf(cli, fields, given);
    const args = assembled([...values, ...named]);
    const read = readArguments(operation, args);
    if ('why' in read) throw usage(`${nameOf(read.field, cli)}: ${read.why}`);
    operation.check?.(read.value);
    const reply = await within(options, cli, (bus) =>
      operation.run(read.value, {
        bus,
        actor: cli.asks === 'as an agent' ? actorOf(configOf(options), options.as) : '',
        deadlineMs: options.deadline ?? cli.deadlineMs ?? deadlineMsDefault,
        charsMax: Infinity,
        signal: new AbortController().signal,
        tell: () => undefined,
        responses: undefined,
      }),
    );
    printReply(options, reply as Reply<object>);
  });
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

/** What says where it asks, and as which agent. */
function withSource(command: Command, { asks = 'index', deadlineMs }: CommandLine): Command {
  if (asks === 'index') return withTree(command, deadlineMs);
  if (asks === 'bus') return withCommon(command);
  const help = 'in the name of this agent (default: operator)';
  // What stands before a subcommand holds for it, too: `queue --as bob run`.
  return handingOn(withCommon(command)).option('--as <agent>', help);
}

/** One that has a default may be left out. */
function addArgument(command: Command, name: string, field: Field): void {
  const { description = '', default: its } = field;
  const reader =
    field.type === 'integer' ? (text: string) => valueOf(field, text, its, its) : undefined;
  const shown = its === undefined ? `<${name}>` : `[${name}]`;
  if (reader === undefined) command.argument(shown, description);
  else command.argument(shown, description, reader);
}

function fieldAt(properties: Record<string, Field>, path: string): Field {
  const [first = '', ...rest] = path.split('.');
  const field = properties[first] ?? {};
  return rest.length === 0 ? field : fieldAt(field.properties ?? {}, rest.join('.'));
}

/** The name under which commander keeps a flag: `--top-k <n>` is `topK`. */
function keyOf({ flag }: Flag): string {
  const [name = ''] = /(?<=--)[a-z-]+/.exec(flag) ?? [];
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

function addFlag(command: Command, { flag, help }: Flag, field: Field): void {
  const { type, default: its } = field;
  if (type === 'boolean') {
    command.option(flag, help);
    return;
  }
  const shown =
    typeof its === 'number' || (typeof its === 'string' && its !== '') ? its : undefined;
  command.option(
    flag,
    help,
    (text: string, before: unknown) => valueOf(field, text, before, shown),
    shown,
  );
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
  const all = choices.join(', ').replace(/, ([^,]*)$/, ' or $1');
  throw new InvalidArgumentError(`It must be ${all}.`);
}

/** What stands without a flag. Text beyond what an operation takes is not read. */
async function argumentsOf(
  { arguments: names, readsInput = false }: CommandLine,
  properties: Record<string, Field>,
  given: readonly unknown[],
): Promise<[string, unknown][]> {
  return Promise.all(
    names.map(async (name, at): Promise<[string, unknown]> => {
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

/** As a person wrote it: a flag, or the name of an argument. */
function nameOf(field: string, { flags = {} }: CommandLine): string {
  return flags[field]?.flag.split(' ')[0] ?? field;
}

async function within<T>(
  options: OperationOptions,
  { asks = 'index' }: CommandLine,
  work: (bus: Asking) => Promise<T>,
): Promise<T> {
  const config = configOf(options);
  const { repo } = options;
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
  print(
    options,
    failure === undefined ? value : { ...value, error: { code, text, retryable } },
    () => screen(value),
  );
  if (failure !== undefined) process.exitCode = 1;
}
