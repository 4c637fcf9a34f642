import { spawn } from 'node:child_process';
import type { Config } from '../../src/config/config.js';
import { BusError, RemoteError, type Failure } from '../../src/errors/bus-error.js';
import { argumentsOf, program } from '../program.js';

const reportBytesMax = 64 * 1024 * 1024;

/** What `up` needs of the report of `sigma index`. */
export interface Report {
  project: string;
  shards: { alias: string }[];
  files_total: number;
  files_mined: number;
  lines_total: number;
  questions: string[];
}

interface IndexWishes {
  /** What may have changed since the last run, where the watcher knows. */
  changed?: ReadonlySet<string> | undefined;
  /** Questions, too. */
  suggests?: true;
  /** While another process builds it. */
  waits?: true;
}

/**
 * Indexes in a process of its own, whose memory is given back when it ends. Its progress goes to our stderr.
 */
export async function index(
  repo: string,
  config: Config,
  shards: string | undefined,
  signal: AbortSignal,
  { changed, suggests, waits }: IndexWishes = {},
): Promise<Report> {
  const plan = shards === undefined ? [] : ['--shards', shards];
  const told = changed === undefined ? [] : ['--changed'];
  const more = [...(suggests ? ['--questions'] : []), ...(waits ? ['--wait'] : [])];
  const its = [...plan, ...told, ...more];
  const args = [program, 'index', repo, '--json', ...argumentsOf(config), ...its];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], signal });
  // A child that has ended reads no more; its exit code is handled below.
  child.stdin.on('error', () => undefined);
  child.stdin.end([...(changed ?? [])].join('\0'));
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', resolve);
    // Also after an abort; without a process `exit` may never come.
    child.once('error', () => resolve(null));
  });
  let printed = '';
  // Whole characters, wherever the pipe cuts.
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    printed += String(chunk);
    if (printed.length > reportBytesMax) child.kill();
  }
  const code = await ended;
  if (signal.aborted) throw new BusError('INTERRUPTED');
  const report = parsed(printed) as (Report & { error?: Failure }) | undefined;
  if (report?.error !== undefined) throw new RemoteError(report.error);
  if (code !== 0 || report === undefined) {
    throw new BusError('CHILD_FAILED', { name: 'index', code: code ?? 'signal' });
  }
  return report;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
