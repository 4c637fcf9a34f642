import { digestOf } from '../../delegation/worker/insight-digest.js';
import { type Outcome, outcome } from '../../delegation/worker/runner-outcome.js';
import { BusError } from '../../errors/bus-error.js';
import { runGuarded, type ChildEnd } from '../guarded-child.js';
import { wallsIn, type Sandbox } from '../sandbox.js';
import { checkedEnvironment, environmentFor, folderBelow } from './place.js';
import type { Runner, Turn } from './runner.js';

/** Bytes that a result holds of each stream; what comes beyond is counted. */
export const outputBytesMax = { stdout: 40 * 1024, stderr: 16 * 1024 } as const;

export interface CommandSettings {
  root: string;
  /** Names of variables that programs get besides the usual ones. */
  environment: readonly string[];
  env: NodeJS.ProcessEnv;
  sandbox: Sandbox;
}

/** The program of the task, by its arguments alone: nothing of a task ever reaches a shell that it did not name itself. */
export function commandRunner({ root, environment, env, sandbox }: CommandSettings): Runner {
  return async (turn) => {
    const { task, gathered, signal, progress } = turn;
    const { action } = task;
    if (action === null) throw new BusError('ACTION_REFUSED', { detail: 'there is no action' });
    const walls = wallsIn(sandbox);
    const given = checkedEnvironment(action.env);
    const cwd = await folderBelow(root, action.cwd);
    const context = gathered === null ? '' : digestOf(gathered.insights);
    progress(`running ${action.argv[0] ?? ''}`);
    const end = await runGuarded(
      {
        argv: action.argv,
        cwd,
        env: environmentFor(env, environment, { ...given, ...toldIn(turn, context) }),
        stdin: action.stdin,
        walls,
        unchanged: turn.unchanged,
        stdoutMax: outputBytesMax.stdout,
        stderrMax: outputBytesMax.stderr,
        onOutput: (bytes) => progress(`running ${action.argv[0] ?? ''}, ${bytes} bytes of output`),
      },
      signal,
    );
    assertStarted(task.id, end);
    return { ...outcomeOf(action.argv[0] ?? '', end), contextBytes: Buffer.byteLength(context) };
  };
}

/** Throws SANDBOX_UNAVAILABLE, ACTION_CHANGED: nothing was started. */
export function assertStarted(task: string, { isUnwalled, stderr, changed }: ChildEnd): void {
  if (isUnwalled) throw new BusError('SANDBOX_UNAVAILABLE', { detail: lastLine(stderr) });
  if (changed !== '') throw new BusError('ACTION_CHANGED', { task, file: changed });
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}

/** What a program may know of its task. */
export function toldIn({ task, attempt }: Turn, context: string): Record<string, string> {
  const key = task.action?.idempotency_key ?? '';
  return {
    SIGMA_TASK_ID: task.id,
    SIGMA_ATTEMPT: String(attempt),
    ...(context === '' ? {} : { SIGMA_CONTEXT: context }),
    ...(key === '' ? {} : { SIGMA_IDEMPOTENCY_KEY: key }),
  };
}

function outcomeOf(program: string, end: ChildEnd): Outcome {
  const failed = endOf(end);
  const result = rendered(end);
  if (failed === '') return outcome('finished', { result });
  const {
    code,
    message: text,
    retryable,
  } = new BusError('ACTION_FAILED', {
    program,
    detail: failed,
  });
  return outcome('failed', { result, reason: code, errors: [{ code, text, retryable }] });
}

/** Why it failed; empty: it did not. */
export function endOf({ error, code, signal, isStopped }: ChildEnd): string {
  if (error !== '') return `${error}: it could not be started`;
  if (isStopped) return 'being stopped';
  return signal !== null ? `signal ${signal}` : code === 0 ? '' : `exit code ${code ?? 'unknown'}`;
}

function rendered({ error, code, signal, stdout, stderr, stdoutCut, stderrCut }: ChildEnd): string {
  if (error !== '') return '';
  const stream = (name: string, text: string, cut: number): string[] => {
    const dropped = cut === 0 ? [] : [`… ${cut} bytes more of ${name} were cut`];
    return text === '' ? [] : [`--- ${name}`, text.replace(/\n$/, ''), ...dropped];
  };
  const end = signal === null ? `exit code ${code ?? 'unknown'}` : `signal ${signal}`;
  return [end, ...stream('stdout', stdout, stdoutCut), ...stream('stderr', stderr, stderrCut)].join(
    '\n',
  );
}
