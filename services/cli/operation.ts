import { isUtf8 } from 'node:buffer';
import { isatty } from 'node:tty';
import { InvalidArgumentError, type Command } from 'commander';
import { BusError } from '../../src/errors/bus-error.js';
import { askingOver } from '../../src/operations/asking.js';
import type {
  Asking,
  CommandLine,
  Flag,
  Known,
  Reply,
  Source,
} from '../../src/operations/operation.js';
import type { AnyOperation } from '../../src/operations/registry.js';
import { fieldsOf, readArguments, type Field } from '../../src/operations/fields.js';
import { beginningOf, isFileAt, textIn, wholeOf } from './input.js';
import { withClient } from './connect.js';
import {
  actorOf,
  configOf,
  duration,
  gathered,
  handingOn,
  list,
  longDuration,
  operatorSession,
  wholeNumber,
  withCommon,
  withTree,
  type CommonOptions,
  type TreeOptions,
} from './options.js';
import { FailureWith, print, usage } from './output.js';

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
  for (const each of cli.arguments) addArgument(command, each, fields[each] ?? {}, cli);
  const flags = Object.entries(cli.flags ?? {});
  const { deadline } = cli;
  if (deadline !== undefined) command.option(deadline.flag, deadline.help, duration);
  for (const [path, flag] of flags) addFlag(command, flag, fieldIn(cli, fields, path));
  if (cli.schema !== undefined)
    command.option('--schema', 'print the JSON Schema of what it takes; do nothing else');
  if (cli.more !== undefined) command.addHelpText('after', cli.more);
  command.action(async (...given: unknown[]) => {
    const options = command.opts<OperationOptions & Record<string, unknown>>();
    if (cli.schema !== undefined && options['schema'] === true)
      return void process.stdout.write(`${JSON.stringify(cli.schema(), null, 2)}\n`);
    const named = flags.map(([path, flag]) => [path, valueIn(options, flag)] as const);
    const { from, base, values } = await argumentsOf(cli, fields, given);
    const args = assembled(base, [...values, ...named]);
    const read = readArguments(operation, cli.complete?.(args, from) ?? args);
    if ('why' in read) throw usage(`${nameOf(read.field, cli)}: ${read.why}`);
    operation.check?.(read.value);
    const { deadlineMs = deadlineMsDefault } = cli;
    const waitMs =
      deadline === undefined ? options.deadline : (options[keyOf(deadline)] as number | undefined);
    const kept: { known?: Known | undefined } = {};
    try {
      await within(options, cli, async (bus) => {
        const reply = await operation.run(read.value, {
          bus,
          actor: cli.asks === 'as an agent' ? actorOf(configOf(options), options.as) : '',
          session: options.as === undefined ? operatorSession : '',
          deadlineMs: waitMs ?? deadlineMs,
          waitMs: waitMs ?? deadlineMs,
          charsMax: Infinity,
          signal: new AbortController().signal,
          tell: cli.tells === true ? teller() : () => undefined,
          keep: (known) => (kept.known = known),
          responses: undefined,
        });
        printReply(options, reply as Reply<object>);
        reply.settle?.();
      });
    } catch (error) {
      const { known } = kept;
      throw known === undefined ? error : new FailureWith(error, known.facts, known.hint);
    }
  });
}

/** Says on standard error what is new. */
function teller(): (doing: string) => void {
  let last = '';
  return (doing) => {
    if (doing !== last) process.stderr.write(`${doing}\n`);
    last = doing;
  };
}

function valueIn(options: Record<string, unknown>, flag: Flag): unknown {
  return options[keyOf(flag)] ?? (flag.onTerminal === true ? isatty(1) : undefined);
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
  if (asks !== 'as an agent') return withCommon(command);
  const help = 'in the name of this agent (default: operator)';
  // What stands before a subcommand holds for it, too: `queue --as bob run`.
  return handingOn(withCommon(command)).option('--as <agent>', help);
}

/** One that has a default, or can be read from standard input, may be left out. */
function addArgument(
  command: Command,
  name: string,
  field: Field,
  { source, argumentHelp }: CommandLine,
): void {
  const { default: its, type, items } = field;
  const description = argumentHelp?.[name] ?? field.description ?? '';
  const mayBeRead = source?.files !== undefined;
  const isMany = type === 'array';
  const isNumber = type === 'integer' || items?.type === 'integer';
  const shown = `${name}${isMany ? '...' : ''}`;
  const form = its === undefined && !mayBeRead ? `<${shown}>` : `[${shown}]`;
  if (!isNumber) command.argument(form, description);
  else
    command.argument(form, description, (text: string, before: unknown) => {
      if (!isMany) return valueOf(field, '', text, its, its);
      return [
        ...((before as number[] | undefined) ?? []),
        valueOf(items ?? {}, '', text, its, its),
      ];
    });
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
  const [name = ''] = /(?<=--)[a-z-]+/.exec(flag) ?? [];
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Where a document may say the same, a default would overrule it, and the operation says what is wrong. */
function fieldIn({ source }: CommandLine, fields: Record<string, Field>, path: string): Field {
  const field = fieldAt(fields, path);
  if (source?.isDocument !== true) return field;
  const { default: _default, enum: _enum, items: _items, ...rest } = field;
  return rest;
}

function addFlag(command: Command, { flag, help, no }: Flag, field: Field): void {
  const { type, default: its } = field;
  if (type === 'boolean') {
    command.option(flag, help);
    if (no !== undefined) command.option(flag.replace('--', '--no-'), no);
    return;
  }
  const isShown = typeof its === 'number' || (typeof its === 'string' && its !== '');
  const shown = isShown ? its : undefined;
  command.option(
    flag,
    help,
    (text: string, before: unknown) => valueOf(field, flag, text, before, shown),
    shown,
  );
}

/** One value of a flag. `before`: what was given earlier under the same flag, or the default. */
function valueOf(
  field: Field,
  flag: string,
  text: string,
  before: unknown,
  shown: unknown,
): unknown {
  const { type, enum: choices, items, maximum = Infinity } = field;
  // Seconds in an input are a duration on the command line; integers are milliseconds.
  if (type === 'number') return (maximum > 600 ? longDuration(text) : duration(text)) / 1_000;
  if (flag.endsWith('<duration>')) return longDuration(text);
  if (type === 'integer') return wholeNumber(field.minimum ?? 0, field.maximum ?? 2 ** 31)(text);
  if (items?.enum !== undefined) return list(text).map((each) => oneOf(each, items.enum));
  if (flag.endsWith('<list>')) return list(text);
  if (type === 'array') return gathered(text, before === shown ? [] : (before as string[]));
  return choices === undefined ? text : oneOf(text, choices);
}

function oneOf(text: string, choices: readonly string[] = []): string {
  const chosen = choices.find((each) => each.toLowerCase() === text.toLowerCase());
  if (chosen !== undefined) return chosen;
  const all = choices.join(', ').replace(/, ([^,]*)$/, ' or $1');
  throw new InvalidArgumentError(`It must be ${all}.`);
}

interface Given {
  from: 'words' | 'document';
  base: object;
  values: [string, unknown][];
}

/** What stands without a flag. */
async function argumentsOf(
  cli: CommandLine,
  fields: Record<string, Field>,
  given: readonly unknown[],
): Promise<Given> {
  const { arguments: names, readsInput = false, source } = cli;
  const at = source === undefined ? 0 : names.length - 1;
  const [name = '', text] = [names[at], given[at]];
  const values = names.map((each, place): [string, unknown] => [each, given[place]]);
  const words: Given = { from: 'words', base: {}, values };
  if (source !== undefined) {
    const bytes = await bytesGiven(source, name, text as string | undefined);
    if (bytes === undefined) return words;
    if (source.isDocument === true)
      return { from: 'document', base: documentIn(bytes, source.what), values: [] };
    values.splice(
      at,
      1,
      ...textOrBytes(name, bytes, typeof text === 'string' ? text : '-', 'encoding' in fields),
    );
  } else if (readsInput && given[0] === '-') {
    // Text beyond what an operation takes is not read.
    const charsMax = fields[name]?.maxLength ?? 0;
    const { text: read } = await beginningOf('-', bytesPerChar * charsMax);
    values[0] = [name, read.trim().slice(0, charsMax)];
  }
  return words;
}

/** Undefined: it is given in words. */
async function bytesGiven(
  { what, bytesMax, files }: Source,
  name: string,
  text: string | undefined,
): Promise<Buffer | undefined> {
  if (text === undefined && process.stdin.isTTY)
    throw usage(`no ${name} was given: name a file, - or words`);
  const place = text ?? '-';
  if (place === '-' || (files !== undefined && (await isFileAt(place))))
    return wholeOf(place, bytesMax, what);
  if (files?.test(place) === true) throw usage(`${place} cannot be read`);
  return undefined;
}

/** Bytes that are no text go as base64, where the input can say so. Throws USAGE. */
function textOrBytes(
  name: string,
  bytes: Buffer,
  place: string,
  takesBytes: boolean,
): [string, unknown][] {
  if (!takesBytes || isUtf8(bytes)) return [[name, textIn(bytes, place)]];
  return [
    [name, bytes.toString('base64')],
    ['encoding', 'base64'],
  ];
}

/** Throws TASK_INVALID. */
function documentIn(bytes: Buffer, what: string): object {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new BusError('TASK_INVALID', { detail: (error as Error).message });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new BusError('TASK_INVALID', { detail: `${what} must be one JSON object` });
}

/** `grounding.overlays` becomes a field of `grounding`; what was not given is left out. */
function assembled(
  base: object,
  values: readonly (readonly [string, unknown])[],
): Record<string, unknown> {
  const whole: Record<string, unknown> = { ...base };
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
      asks.startsWith('as ') ? 'operator' : undefined,
    );
  const { askingIndex } = await import('./local.js');
  await using index = askingIndex(config, repo);
  return await work(index);
}

function printReply(options: CommonOptions, reply: Reply<object>): void {
  const { value, document = value, failure, screen = reply.text } = reply;
  const { code, text, retryable } = failure ?? {};
  print(options, failure ? { ...document, error: { code, text, retryable } } : document, () =>
    screen(value),
  );
  if (failure !== undefined) process.exitCode = 1;
}
