import type { Command } from 'commander';
import { isProtocol } from '../../../src/attention/session/request.js';
import {
  protocols,
  sessionLimits,
  type SessionView,
} from '../../../src/attention/session/shapes.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { walkThrough } from './attend-dialogue.js';
import { Attends, asksPerson, openGates } from '../../../src/remote/attends.js';
import { Gates } from '../../../src/remote/gates.js';
import { withClient } from '../connect.js';
import { wholeOf } from '../input.js';
import { configOf, gathered, wholeNumber, withCommon, type CommonOptions } from '../options.js';
import { print, usage } from '../output.js';
import { classifyAll, withClassify, type ClassifyOptions } from './attend-classify.js';
import { renderSession, renderSessions, sessionLine } from '../../../src/render/attend.js';

const listMax = 100;

interface SessionOptions extends CommonOptions {
  context?: string;
  tasks?: string;
  prior?: string;
  conversation?: string;
  deficit?: string[];
  team?: string;
  wait?: boolean;
}

/** `attend INTENT`, and the commands about a session. */
export function addAttendCommand(sigma: Command): void {
  const attend = sigma
    .command('attend')
    .argument('[intent]', 'what you want done; or answer, show, list, withdraw, escape')
    // Options behind `answer` and the like are theirs.
    .enablePositionalOptions();
  withClassify(withSession(attend))
    .description(
      'plan an intent with checks: what is missing, which tasks, which workers, what is risky',
    )
    .action((intent: string | undefined, options: SessionOptions & ClassifyOptions) =>
      options.classify === true
        ? classifyAll(intent ?? '-', options)
        : attendIntent(intent ?? '', options),
    );
  addSessionCommands(attend);
}

/** The options with which an intent is attended. */
function withSession(command: Command): Command {
  return withCommon(command)
    .option(
      '--context <name>',
      'name of the session; its tasks are in the list attend-NAME (default: default)',
    )
    .option('--tasks <file>', 'tasks as a JSON array; `sigma delegate --schema` describes one')
    .option('--prior <file>', 'result of a previous protocol: text or JSON')
    .option('--conversation <file>', 'further conversation to consider')
    .option(
      '--deficit <protocol:evidence>',
      `what is missing, by who resolves it: ${protocols.join(', ')}`,
      gathered,
    )
    .option('--team <file>', 'JSON {"name": …, "members": [{"name": AGENT, "type": …}]}')
    .option('--no-wait', 'print the present state and return');
}

/** `attend answer|show|list|withdraw|escape`. */
function addSessionCommands(attend: Command): void {
  withCommon(attend.command('answer').argument('<context>').argument('<choice>'))
    .description('answer the open question of a session')
    .option('--text <text>', 'text that the choice needs; @FILE reads a file', '')
    .option('--question <n>', 'only if this question is still open', wholeNumber(1, 1_000), 0)
    .option('--no-wait', 'print the present state and return')
    .action(
      async (
        context: string,
        choice: string,
        options: SessionOptions & { text: string; question: number },
      ) => {
        const { question } = options;
        const text = options.text.startsWith('@')
          ? await textOf(options.text.slice(1), sessionLimits.textChars)
          : options.text;
        await attended(options, (attends) =>
          attends.say({ context, what: 'answer', question, choice, text }),
        );
      },
    );

  withCommon(attend.command('show').argument('<context>'))
    .description('show state, open question, tasks and trace of a session')
    .option('--wait', 'follow it until it is over or asks something')
    .action(async (context: string, options: SessionOptions) => {
      if (options.wait === true) return attended(options, (attends) => attends.show(context));
      const view = await withAttends(options, (attends) => attends.show(context));
      print(options, view, () => renderSession(view));
    });

  withCommon(attend.command('list'))
    .description('list open sessions')
    .option('--all', 'also finished sessions')
    .option('--limit <n>', 'most rows', wholeNumber(1, listMax), listMax)
    .action(async (options: CommonOptions & { all?: boolean; limit: number }) => {
      const sessions = await withAttends(options, (attends) =>
        attends.list(options.all === true, options.limit),
      );
      print(options, { sessions }, () => renderSessions(sessions));
    });

  for (const [what, description] of [
    ['withdraw', 'end a session: cancel its tasks and notify its team'],
    ['escape', 'leave an upstream protocol, or deactivate a session as it is'],
  ] as const)
    withCommon(attend.command(what).argument('<context>'))
      .description(description)
      .action(async (context: string, options: CommonOptions) => {
        const view = await withAttends(options, async (attends) => {
          const said = await attends.say({ context, what });
          return what === 'withdraw' ? attends.follow(said, () => undefined) : said;
        });
        print(options, view, () => renderSession(view));
      });
}

/** Begins a session and follows it until it asks a person; on a terminal it asks here. */
async function attendIntent(intent: string, options: SessionOptions): Promise<void> {
  const document = await documentOf(intent, options);
  await attended(options, (attends) => attends.begin(document));
}

async function documentOf(intent: string, options: SessionOptions): Promise<object> {
  const { context, tasks, prior, conversation, team, deficit = [] } = options;
  // A named list of tasks is intent enough.
  if ([intent, context ?? '', tasks ?? '', prior ?? ''].every((each) => each === ''))
    throw usage('say what you want done: an intent, --context, --tasks or --prior');
  const bytes = sessionLimits.bytes;
  return {
    args: intent,
    ...(context !== undefined && { context }),
    ...(tasks !== undefined && { tasks: json(await textOf(tasks, bytes), tasks) }),
    ...(prior !== undefined && { prior: priorOf(await textOf(prior, bytes)) }),
    ...(conversation !== undefined && { conversation: await textOf(conversation, bytes) }),
    ...(team !== undefined && { team: json(await textOf(team, bytes), team) }),
    deficits: deficit.map(deficitOf),
  };
}

function deficitOf(said: string): object {
  const [protocol = '', ...rest] = said.split(':');
  const evidence = rest.join(':').trim();
  if (!isProtocol(protocol) || evidence === '')
    throw usage(`--deficit is PROTOCOL:EVIDENCE, with one of ${protocols.join(', ')}`);
  return { protocol, evidence };
}

function priorOf(text: string): unknown {
  return /^\s*\{/.test(text) ? json(text, 'prior') : text;
}

function json(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usage(`${what} is not JSON: ${error instanceof Error ? error.message : ''}`);
  }
}

async function textOf(file: string, bytesMax: number): Promise<string> {
  return (await wholeOf(file, bytesMax, file)).toString('utf8');
}

async function attended(
  options: SessionOptions,
  work: (attends: Attends) => Promise<SessionView>,
): Promise<void> {
  const canAsk = options.json !== true && process.stdin.isTTY && process.stdout.isTTY;
  const view = await withAttends(options, async (attends, gates) => {
    const first = await work(attends);
    if (options.wait === false) return first;
    if (canAsk)
      return walkThrough({ attends, gates }, first, {
        input: process.stdin,
        output: process.stdout,
      });
    let last = '';
    return attends.follow(first, (now) => {
      const line = sessionLine(now);
      if (line !== last) process.stderr.write(`${line}\n`);
      last = line;
    });
  });
  const error = failureOf(view, options.wait !== false);
  print(options, { ...view, error: error?.toFailure() ?? null }, () => renderSession(view));
  if (error !== undefined) process.exitCode = error.exit;
}

/** Exit code 1: the session asks, or ended without convergence. */
function failureOf(view: SessionView, isWaited: boolean): BusError | undefined {
  const { context, question, state, trace } = view;
  if (!view.is_over) {
    if (!isWaited && !asksPerson(view)) return undefined;
    const asks = question?.kind ?? openGates(view).join(', ');
    return new BusError('ATTEND_ASKS', { context, asks });
  }
  if (state === 'withdrawn') return new BusError('ATTEND_WITHDRAWN');
  if (state !== 'diverged') return undefined;
  const blind = trace.filter((each) => each.outcome === 'completed' && each.situated_by === '');
  const tasks = blind.map(({ entry }) => entry).join(', ');
  return new BusError('ATTEND_UNSITUATED', { context, tasks });
}

function withAttends<T>(
  options: CommonOptions,
  work: (attends: Attends, gates: Gates) => Promise<T>,
): Promise<T> {
  return withClient(configOf(options), (client) => work(new Attends(client), new Gates(client)));
}
