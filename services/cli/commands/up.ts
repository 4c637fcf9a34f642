import { execFile, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import type { Config } from '../../../src/config/config.js';
import { BusError, RemoteError, type Failure } from '../../../src/errors/bus-error.js';
import { latticeService } from '../../../src/pgc/messages.js';
import { isListening } from '../../../src/transport/zeromq.js';
import { notifySystemd, untilStopped } from '../../process.js';
import { withClient, withQuestions } from '../connect.js';
import { argumentsOf, configOf, withCommon, type CommonOptions } from '../options.js';
import { usage } from '../output.js';
import { renderQuery } from '../render.js';
import { Supervisor } from '../supervisor.js';

const program = fileURLToPath(new URL('../../../../services/cli/sigma.mjs', import.meta.url));
/** Opening and registering many large shards takes its time on a slow disk. */
const readyMsMax = 120_000;
const readyPollMs = 50;
const reportBytesMax = 64 * 1024 * 1024;
const firstAnswerMsMax = 30_000;

interface UpOptions extends CommonOptions {
  shards?: string;
  detach?: boolean;
  firstQuestion?: string;
}

interface Report {
  project: string;
  shards: { alias: string }[];
  files_total: number;
  lines_total: number;
  questions: string[];
}

export function addUpCommand(sigma: Command): void {
  withCommon(sigma.command('up').argument('[repo]', 'root of the source tree', '.'))
    .description('index what is missing and start everything, in the foreground')
    .option('--shards <plan>', 'auto, a number, or a JSON file; without it the last plan is kept')
    .option('--detach', 'return once questions can be answered; it goes on in the background')
    .option(
      '--first-question <question>',
      'ask this when ready; `auto` asks the first suggested one',
    )
    .action(async (repo: string, options: UpOptions) => {
      if (options.json === true)
        throw usage('up prints text only; ask `sigma status --json` instead');
      const config = configOf({ log: 'warn', ...options });
      if (options.detach === true) return detach(repo, config, options);
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
    if (!(await isListening(config.bus)))
      supervisor.start('broker', ['bus', ...argumentsOf(config)]);
    const report = await index(repo, config, options.shards, over.signal);
    supervisor.start('pgc', ['agent', 'pgc', repo, ...argumentsOf(config)]);
    await whenListening(config, over.signal);
    if (!(await hasManager(config)))
      supervisor.start('manager', ['agent', 'manager', ...argumentsOf(config)]);
    await whenAnswering(config, report, over.signal);
    return report;
  };

  const starting = startUp();
  // Its failure is looked at below; when a child fails first, nobody is left to look.
  starting.catch(() => undefined);
  const outcome = await Promise.race([starting, refused, stopped]).finally(() => over.abort());
  if (outcome instanceof BusError) throw outcome;
  if (typeof outcome === 'string') throw new BusError('INTERRUPTED');
  announce(config, outcome);
  await notifySystemd('READY=1');
  if (options.firstQuestion !== undefined) await askFirst(config, outcome, options.firstQuestion);
  const end = await Promise.race([refused, stopped]);
  void notifySystemd('STOPPING=1');
  if (end instanceof BusError) throw end;
}

/** In a process of its own, whose memory is given back when it ends. */
function index(
  repo: string,
  config: Config,
  shards: string | undefined,
  signal: AbortSignal,
): Promise<Report> {
  const args = [
    program,
    'index',
    repo,
    '--json',
    ...argumentsOf(config),
    ...(shards === undefined ? [] : ['--shards', shards]),
  ];
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      args,
      { maxBuffer: reportBytesMax, signal },
      (error, stdout) => {
        const printed = parsed(stdout);
        if (error === null && printed !== undefined) return resolve(printed as Report);
        const failure = (printed as { error?: Failure } | undefined)?.error;
        reject(
          failure === undefined
            ? new BusError('CHILD_FAILED', { name: 'index', code: String(error?.code ?? '') })
            : new RemoteError(failure),
        );
      },
    );
    // Its progress; what failed is told once, by us.
    child.stderr?.on('data', (text: Buffer) => {
      if (!text.toString().startsWith('sigma: ')) process.stderr.write(text);
    });
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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

/** Every shard online, the manager there, and its cards fetched: from here on a question is answered at full speed. */
async function whenAnswering(config: Config, report: Report, signal: AbortSignal): Promise<void> {
  const wanted = new Set(report.shards.map((shard) => shard.alias));
  await withClient(config, async (client) => {
    await eventually(
      async () => {
        const agents = await client.agents({ role: 'pgc', project: report.project });
        const online = new Set(
          agents.filter((agent) => agent.state !== 'offline').map((agent) => agent.record.alias),
        );
        const { services } = await client.status();
        return (
          [...wanted].every((alias) => online.has(alias)) &&
          services.some((service) => service.name === latticeService)
        );
      },
      () => new BusError('NO_SHARDS'),
      signal,
    );
  });
  await withQuestions(config, undefined, (questions) =>
    questions.topology({ deadlineMs: readyMsMax }),
  );
}

async function eventually(
  claim: () => Promise<boolean>,
  otherwise: () => BusError,
  signal?: AbortSignal,
): Promise<void> {
  const until = performance.now() + readyMsMax;
  while (!(await claim())) {
    if (signal?.aborted === true) throw new BusError('INTERRUPTED');
    if (performance.now() > until) throw otherwise();
    await new Promise((resolve) => setTimeout(resolve, readyPollMs));
  }
}

function announce(config: Config, report: Report): void {
  const shards = report.shards.length;
  process.stdout.write(
    `ready ${report.project}: ${shards} shard${shards === 1 ? '' : 's'}, ${report.files_total} files, ${report.lines_total} lines, at ${config.bus}\n`,
  );
  if (report.questions.length === 0) return;
  process.stdout.write('Questions worth asking:\n');
  for (const question of report.questions)
    process.stdout.write(`  sigma lattice query "${question}"\n`);
}

async function askFirst(config: Config, report: Report, wanted: string): Promise<void> {
  const question = wanted === 'auto' ? report.questions[0] : wanted;
  if (question === undefined) return;
  process.stdout.write(`\n> ${question}\n\n`);
  const request = { question, from: '', max_hops: 0, top_k: 3 };
  const answer = await withQuestions(config, undefined, (questions) =>
    questions.query(request, { deadlineMs: firstAnswerMsMax }),
  );
  process.stdout.write(
    `${renderQuery(answer)}\n\nAsk in another terminal; Ctrl-C here stops everything.\n`,
  );
}

/** Starts the same command in the background and waits for its `ready` line. */
async function detach(repo: string, config: Config, options: UpOptions): Promise<void> {
  const folder = path.join(config.home, 'logs');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, 'up.log');
  const log = openSync(file, 'w', 0o600);
  const args = [
    program,
    'up',
    repo,
    ...argumentsOf(config),
    ...(options.shards === undefined ? [] : ['--shards', options.shards]),
  ];
  const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  const ended = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  let code: number | undefined;
  void ended.then((its) => (code = its));
  await eventually(
    () => Promise.resolve(code !== undefined || /^ready /m.test(readFileSync(file, 'utf8'))),
    () => new BusError('DEADLINE_EXCEEDED', { ms: readyMsMax }),
  );
  if (code !== undefined) {
    process.stderr.write(readFileSync(file, 'utf8'));
    process.exitCode = code;
    return;
  }
  child.unref();
  process.stdout.write(
    `${readFileSync(file, 'utf8').trimEnd()}\nrunning in the background as process ${child.pid ?? 0}; its log is ${file}; stop it with: kill ${child.pid ?? 0}\n`,
  );
}
