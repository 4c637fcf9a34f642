import { partsMax } from '../../../src/pgc/serve/shard-partition.js';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import type { Config } from '../../../src/config/config.js';
import { criticService } from '../../../src/critic/review/messages.js';
import { asBusError, BusError } from '../../../src/errors/bus-error.js';
import { latticeMessages, latticeService } from '../../../src/pgc/serve/messages.js';
import { realRoot } from '../../../src/pgc/source/source-tree.js';
import { isNats } from '../../../src/transport/address.js';
import { isListening } from '../../../src/transport/probe.js';
import { memoryBytesMin } from '../../../src/pgc/serve/shard-memory.js';
import { agentIdOf } from '../../../src/pgc/serve/hosted-shard.js';
import { servedAmong } from '../../../src/pgc/serve/take-over.js';
import { untilStopped } from '../../process.js';
import { reportReady } from '../../systemd.js';
import { withClient, withQuestions } from '../connect.js';
import { detach } from './detach.js';
import { index, type Report } from '../index-process.js';
import { argumentsOf, pageFolder } from '../../program.js';
import { configOf, size, wholeNumber, withCommon, type CommonOptions } from '../options.js';
import { printable, printableText, shellWord } from '../../../src/render/terminal.js';
import { printFailure, usage } from '../output.js';
import { renderAnswer } from '../../../src/render/answer.js';
import { Supervisor } from './supervisor.js';

/** Opening and registering many large shards takes its time on a slow disk. */
const readyMsMax = 120_000;
const readyPollMs = 50;
const leavingMsMax = 6_000;
const firstAnswerMsMax = 30_000;

/** Fewer shards than this are not worth another process, nor are more processes than processors. */
const shardsPerHostMin = 16;
const hostsMaxDefault = 4;
const executorRole = 'executor';
/** Of all hosts together; a kernel of 123 shards takes .9 GiB when all of it is open. */
const memoryBytesDefault = 2 * 1024 ** 3;

interface UpOptions extends CommonOptions {
  shards?: string;
  hosts?: number;
  memory?: number;
  watch?: boolean;
  detach?: boolean;
  firstQuestion?: string;
  console?: boolean;
}

export function addUpCommand(sigma: Command): void {
  withCommon(sigma.command('up').argument('[repo]', 'root of the source tree', '.'))
    .description('index the tree if needed, then start everything in the foreground')
    .option(
      '--shards <plan>',
      'how to split the tree: auto, a number, maintainers, codeowners, or a JSON file (default: as before)',
    )
    .option(
      '--hosts <n>',
      'number of processes that serve shards (default: by shards and processors)',
      wholeNumber(1, partsMax),
    )
    .option(
      '--memory <size>',
      'memory limit for open shards, all processes together (default: 2g)',
      size,
    )
    .option('--watch', 'refresh the index when files change')
    .option('--no-console', 'do not serve the page for browsers')
    .option('--detach', 'run in the background; return once questions can be answered')
    .option(
      '--first-question <question>',
      'ask this question when ready; `auto` asks the first suggestion',
    )
    .action(async (repo: string, options: UpOptions) => {
      if (options.json === true)
        throw usage('up prints text only; ask `sigma status --json` instead');
      const config = configOf({ log: 'warn', ...options });
      if (options.detach === true) {
        if (options.firstQuestion !== undefined)
          throw usage('--first-question does not work with --detach');
        return detach(repo, config, startArgumentsOf(options));
      }
      await up(repo, config, options);
    });
}

async function up(repo: string, config: Config, options: UpOptions): Promise<void> {
  const stopped = untilStopped();
  const say = (text: string): void => void process.stderr.write(`sigma: ${text}\n`);
  await using supervisor = new Supervisor({
    onRestart: (name, code, waitMs) => {
      say(`${name} ended (${code ?? 'signal'}), starting it again in ${waitMs} ms`);
    },
    onLeft: (name) => say(`${name} has left`),
  });
  const refused = supervisor.failed();
  const over = new AbortController();
  const startUp = async (): Promise<Report> => {
    // On NATS another machine may lead just now, and not tomorrow.
    const isOurs = isNats(config.bus) || !(await isListening(config.bus));
    if (isOurs) supervisor.start('broker', ['bus', ...argumentsOf(config)]);
    const report = await index(repo, config, options.shards, over.signal, { suggests: true });
    const root = await realRoot(repo);
    await whenListening(config, over.signal);
    await whenUnserved(config, root, report, over.signal);
    for (const [name, args] of hostsOf(repo, report.shards.length, options))
      supervisor.start(name, [...args, ...argumentsOf(config)]);
    if (isNats(config.bus) || !(await hasManager(config))) {
      supervisor.start('manager', ['agent', 'manager', ...argumentsOf(config)]);
    }
    await whenAnswering(config, root, report, over.signal);
    if (!(await hasExecutor(config)))
      supervisor.start('executor', [
        ...['agent', 'executor', '--reads', config.executor.reads ?? config.executor.root ?? root],
        ...argumentsOf(config),
      ]);
    if (!(await hasCritic(config)))
      supervisor.start('critic', ['agent', 'critic', ...argumentsOf(config)]);
    // Last: it looks at everything once more, and need not keep the first question waiting.
    if (options.watch === true)
      supervisor.start('watch', ['index', repo, '--watch', ...argumentsOf(config)]);
    return report;
  };

  const starting = startUp();
  // Its failure is looked at below; when a child fails first, nothing else looks at it.
  starting.catch(() => undefined);
  const outcome = await Promise.race([starting, refused, stopped]).finally(() => over.abort());
  // What was under way hears of it before the children are stopped.
  await starting.catch(() => undefined);
  if (outcome instanceof BusError) throw outcome;
  if (typeof outcome === 'string') throw new BusError('INTERRUPTED');
  announce(config, outcome);
  const noConsole = options.console === false ? '' : whyNoConsole();
  if (noConsole !== '') say(noConsole);
  else if (options.console !== false)
    supervisor.start('console', ['console', repo, ...argumentsOf(config)], { isAside: true });
  await reportReady();
  if (options.firstQuestion !== undefined) {
    await Promise.race([askFirst(config, outcome, options.firstQuestion), refused, stopped]);
  }
  const end = await Promise.race([refused, stopped]);
  if (end instanceof BusError) throw end;
}

/** Empty: it can be started. */
function whyNoConsole(): string {
  if (!process.stdout.isTTY) return 'no console without a terminal: `sigma console` starts it';
  return existsSync(pageFolder) ? '' : 'no console: its page was not built (`npm run build`)';
}

/** What `--detach` hands on. */
function startArgumentsOf({ shards, hosts, memory, watch }: UpOptions): string[] {
  return [
    ...(shards === undefined ? [] : ['--shards', shards]),
    ...(hosts === undefined ? [] : ['--hosts', String(hosts)]),
    ...(memory === undefined ? [] : ['--memory', `${memory / 1024}k`]),
    ...(watch === true ? ['--watch'] : []),
  ];
}

/** Names and arguments of the processes that serve the shards. */
function hostsOf(
  repo: string,
  shards: number,
  { hosts, memory = memoryBytesDefault }: UpOptions,
): [name: string, args: string[]][] {
  const byShards = Math.ceil(shards / shardsPerHostMin);
  const of = hosts ?? Math.min(hostsMaxDefault, availableParallelism(), byShards);
  const each = Math.max(memoryBytesMin, Math.floor(memory / of));
  // No other host serves it: that was checked before. But the sessions of a killed child linger.
  const args = ['agent', 'pgc', repo, '--take-over', '--memory', `${Math.floor(each / 1024)}k`];
  if (of === 1) return [['pgc', args]];
  return Array.from({ length: of }, (_, at) => [
    `pgc ${at + 1}/${of}`,
    [...args, '--part', `${at + 1}/${of}`],
  ]);
}

async function whenListening(config: Config, signal: AbortSignal): Promise<void> {
  await eventually(
    () => isListening(config.bus),
    () => new BusError('NO_BROKER', { address: config.bus }),
    signal,
  );
}

async function hasManager(config: Config): Promise<boolean> {
  const { services } = await withClient(config, (client) => client.status());
  return services.some((service) => service.name === latticeService);
}

async function hasCritic(config: Config): Promise<boolean> {
  const { services } = await withClient(config, (client) => client.status());
  return services.some((service) => service.name === criticService);
}

async function hasExecutor(config: Config): Promise<boolean> {
  const agents = await withClient(config, (client) => client.agents({ role: executorRole }));
  return agents.some(({ state }) => state === 'online');
}

/** The agents of this tree, as the bus knows them. */
function agentsOf(root: string, report: Report): string[] {
  const { project } = report;
  return report.shards.map(({ alias }) => agentIdOf({ root, project, alias }));
}

/** A second host would take the agents away from the first, and leave none when it ends. */
async function whenUnserved(
  config: Config,
  root: string,
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  const ids = agentsOf(root, report);
  await withClient(config, (client) =>
    eventually(
      async () => (await servedAmong(client, ids)).length === 0,
      () => new BusError('ALREADY_SERVED', { path: root }),
      signal,
      // One that was killed counts as there until its silence is noticed.
      leavingMsMax,
    ),
  );
}

/** Every shard online, the manager there, and its cards fetched: from here on a question is answered at full speed. */
async function whenAnswering(
  config: Config,
  root: string,
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  const ids = agentsOf(root, report);
  await withClient(config, (client) =>
    eventually(
      async () => {
        const { services } = await client.status();
        const hasLattice = services.some((service) => service.name === latticeService);
        return hasLattice && (await servedAmong(client, ids)).length === ids.length;
      },
      () => new BusError('NO_SHARDS'),
      signal,
    ),
  );
  await withClient(config, (client) =>
    eventually(
      async () => {
        const { type, request, answer } = latticeMessages.shards;
        const reply = await client
          .request(`service:${latticeService}`, type, request.encode({}), { isIdempotent: true })
          .catch((error: unknown) => {
            if (asBusError(error).retryable) return undefined;
            throw error;
          });
        const known = new Set(reply === undefined ? [] : answer.decode(reply.body).known);
        return report.shards.every(({ alias }) => known.has(alias));
      },
      () => new BusError('NO_SHARDS'),
      signal,
    ),
  );
}

async function eventually(
  claim: () => Promise<boolean>,
  otherwise: () => BusError,
  signal: AbortSignal,
  withinMs = readyMsMax,
): Promise<void> {
  const until = performance.now() + withinMs;
  while (!(await claim())) {
    if (signal.aborted) throw new BusError('INTERRUPTED');
    if (performance.now() > until) throw otherwise();
    await new Promise((resolve) => setTimeout(resolve, readyPollMs));
  }
}

function announce(config: Config, report: Report): void {
  const shards = report.shards.length;
  process.stdout.write(
    `ready ${report.project}: ${shards} shard${shards === 1 ? '' : 's'}, ${report.files_total} files, ${report.lines_total} lines, at ${config.bus}\n`,
  );
  if (report.questions.length === 0) {
    process.stdout.write('Ask with: sigma ask "How does … work?"\n');
    return;
  }
  process.stdout.write('Questions worth asking:\n');
  for (const question of report.questions)
    process.stdout.write(`  sigma lattice query ${shellWord(question)}\n`);
}

async function askFirst(config: Config, report: Report, wanted: string): Promise<void> {
  const question = wanted === 'auto' ? report.questions[0] : wanted;
  if (question !== undefined) await askOne(config, question);
  process.stdout.write('\nAsk in another terminal; Ctrl-C here stops everything.\n');
}

async function askOne(config: Config, question: string): Promise<void> {
  process.stdout.write(`\n> ${printable(question)}\n\n`);
  const request = { question, from: '', max_hops: 0, top_k: 3 };
  try {
    const answer = await withQuestions(config, undefined, (questions) =>
      questions.query(request, { deadlineMs: firstAnswerMsMax }),
    );
    process.stdout.write(`${printableText(renderAnswer(answer))}\n`);
  } catch (error) {
    // Everything else works; this one question is no reason to stop it.
    printFailure({ json: false }, asBusError(error));
  }
}
