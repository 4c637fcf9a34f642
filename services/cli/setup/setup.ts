import { InvalidArgumentError, type Command } from 'commander';
import { constants, existsSync } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { printableText, table } from '../../../src/render/terminal.js';
import { program } from '../../program.js';
import { configOf, list, withCommon, type CommonOptions } from '../options.js';
import { print, usage } from '../output.js';
import {
  clientNames,
  partsOf,
  signsOf,
  type ClientName,
  type Part,
  type Places,
} from './clients.js';
import { Refusal } from './edits.js';
import { Changes, textOf } from './files.js';
import { diffOf } from './splice.js';

interface SetupOptions extends CommonOptions {
  client?: ClientName[];
  user?: boolean;
  remove?: boolean;
  yes?: boolean;
  dryRun?: boolean;
}

type State = 'there' | 'absent' | 'to write' | 'to remove' | 'written' | 'removed' | 'refused';

interface Step extends Part {
  state: State;
  /** Of a refusal, in words. */
  detail: string;
  diff: string;
  apply?: () => Promise<void>;
}

export function addSetupCommand(sigma: Command): void {
  withCommon(sigma.command('setup').argument('[folder]', 'of the project (default: this folder)'))
    .description('connect AI coding agents: their MCP settings, AGENTS.md and a skill')
    .option(
      '--client <names>',
      `${clientNames.join(', ')} or all (default: those found)`,
      clientList,
    )
    .option('--user', 'write the settings of the user, for all projects, not those of the folder')
    .option('--remove', 'take out what was written')
    .option('--dry-run', 'only show what would change')
    .option('--yes', 'change it without a question')
    .action(async (folder: string | undefined, options: SetupOptions) => {
      const places = await placesOf(folder, options);
      const changes = await Changes.open(configOf(options).home);
      const steps: Step[] = [];
      for (const part of partsOf(chosen(options, places), places))
        steps.push(await step(part, changes, options.remove === true));
      if (options.json !== true)
        for (const { diff } of steps) if (diff !== '') say(printableText(`${diff}\n`));
      if (await isWanted(steps, options)) {
        // Folders that were made for several files are empty once the first of them is gone.
        for (const each of options.remove === true ? steps.toReversed() : steps) await take(each);
      }
      const rows = steps.map(({ client, what, file, state, detail, diff }) => ({
        ...{ client, what, file, state, detail, diff },
      }));
      print(options, { changes: rows }, () => render(steps, options, places));
      if (steps.some(({ state }) => state === 'refused')) process.exitCode = 1;
    });
}

function clientList(text: string): ClientName[] {
  const names = list(text);
  if (names.includes('all')) return [...clientNames];
  const unknown = names.find((each) => !clientNames.some((name) => name === each));
  if (unknown !== undefined || names.length === 0)
    throw new InvalidArgumentError(`It must be of ${clientNames.join(', ')}, or all.`);
  return names as ClientName[];
}

async function placesOf(folder: string | undefined, { user }: SetupOptions): Promise<Places> {
  if (folder !== undefined && user === true) throw usage('--user concerns no folder');
  const root = path.resolve(folder ?? '.');
  if (!(await stat(root).catch(() => undefined))?.isDirectory())
    throw usage(`there is no folder ${root}`);
  return {
    folder: user === true ? undefined : root,
    ...{ env: process.env, platform: process.platform, command: await commandOf(process.env) },
  };
}

/** By its name where that leads to this program: settings of a project are shared. */
async function commandOf(env: NodeJS.ProcessEnv): Promise<Places['command']> {
  for (const folder of (env.PATH ?? '').split(path.delimiter)) {
    const file = path.join(folder, 'sigma');
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (!isThere) continue;
    if ((await realpath(file)) === (await realpath(program))) return ['sigma'];
    break;
  }
  return [process.execPath, program];
}

/** To take out, look everywhere; else where there are signs of a client. The text for all of them costs nothing. */
function chosen({ client, remove }: SetupOptions, places: Places): readonly ClientName[] {
  if (client !== undefined) return client;
  if (remove === true) return clientNames;
  return clientNames.filter((name) => name === 'agents' || signsOf(name, places).some(existsSync));
}

/** What is to be done with one file. */
async function step(part: Part, changes: Changes, isRemoval: boolean): Promise<Step> {
  const { file, edit } = part;
  try {
    const old = await textOf(file);
    if (isRemoval) {
      if (old === undefined) return { ...part, state: 'absent', detail: '', diff: '' };
      const text = changes.isWhollyOurs(file, old) ? undefined : without(part, changes, old);
      if (text === old) return { ...part, state: 'absent', detail: '', diff: '' };
      const apply = (): Promise<void> => changes.remove(file, old, text);
      return { ...part, state: 'to remove', detail: '', diff: diffOf(file, old, text), apply };
    }
    const text = edit.into(old ?? '');
    if (text === old) return { ...part, state: 'there', detail: '', diff: '' };
    const apply = (): Promise<void> => changes.write(file, old, text);
    return { ...part, state: 'to write', detail: '', diff: diffOf(file, old, text), apply };
  } catch (error) {
    return { ...part, ...refused(error), diff: '' };
  }
}

/** As it was before, where that is known and holds nothing of ours; else by the form of what is ours. */
function without({ file, edit }: Part, changes: Changes, text: string): string {
  const before = changes.before(file, text);
  const byForm = (): string => edit.outOf(text, changes.knows(file));
  if (before === undefined) return byForm();
  try {
    return edit.outOf(before, false) === before ? before : byForm();
  } catch (error) {
    if (error instanceof Refusal) return byForm();
    throw error;
  }
}

function refused(error: unknown): Pick<Step, 'state' | 'detail'> {
  if (error instanceof Refusal) return { state: 'refused', detail: error.message };
  throw error;
}

async function isWanted(steps: readonly Step[], options: SetupOptions): Promise<boolean> {
  const files = steps.filter(({ apply }) => apply !== undefined).length;
  if (files === 0 || options.dryRun === true) return false;
  if (options.yes === true) return true;
  if (!process.stdin.isTTY || !process.stdout.isTTY || options.json === true)
    throw usage(
      'without a terminal say --yes to change the files, or --dry-run to see the changes',
    );
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-C and Ctrl-D are a no.
  const gone = new AbortController();
  lines.once('SIGINT', () => gone.abort()).once('close', () => gone.abort());
  try {
    const words = files === 1 ? 'this file' : `these ${files} files`;
    const answer = await lines.question(`Change ${words}? [y/N] `, { signal: gone.signal });
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    if (!gone.signal.aborted) throw error;
    say('');
    return false;
  } finally {
    lines.close();
  }
}

async function take(step: Step): Promise<void> {
  if (step.apply === undefined) return;
  try {
    await step.apply();
    step.state = step.state === 'to write' ? 'written' : 'removed';
  } catch (error) {
    Object.assign(step, refused(error));
  }
}

const stateWords: Record<State, string> = {
  there: 'is there',
  absent: 'nothing of ours',
  'to write': 'not written',
  'to remove': 'not removed',
  written: 'written',
  removed: 'removed',
  refused: 'left as it is',
};

function render(
  steps: readonly Step[],
  { remove, client }: SetupOptions,
  { command }: Places,
): string {
  const shown = remove === true ? steps.filter(({ state }) => state !== 'absent') : steps;
  if (shown.length === 0) return 'There is nothing of Sigma Bus to take out.';
  const rows = shown.map(({ client: name, what, file, state, detail }) => [
    ...[name, what, file, detail === '' ? stateWords[state] : `${stateWords[state]}: ${detail}`],
  ]);
  const isDone = steps.some(({ state }) => state === 'written');
  return [
    table([['CLIENT', 'WHAT', 'FILE', 'STATE'], ...rows]),
    ...(isDone ? ['', 'Start `sigma up .` in the project, and the clients again.'] : []),
    ...(command.length > 1 && steps.some(({ state }) => state === 'written' || state === 'to write')
      ? ['', '`sigma` is not on your path: the settings name this program by its place.']
      : []),
    ...(client === undefined && remove !== true && steps.every((each) => each.client === 'agents')
      ? ['', 'No client was found on this machine; --client all writes for each.']
      : []),
  ].join('\n');
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
