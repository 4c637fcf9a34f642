import { fork, type ChildProcess } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { backoffMs, type BackoffPolicy } from '../../../src/base/backoff.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { program } from '../../program.js';

/** A child that ends is started again after a jittered wait that doubles up to the cap. */
const restartBackoff: BackoffPolicy = { baseMs: 400, capMs: 10_000 };
/** After this long a child counts as well; its next failure is its first. */
const healthyAfterMs = 30_000;
/** It waits while the others compute. */
const asidePriority = constants.priority.PRIORITY_BELOW_NORMAL;
/** Longest wait for an orderly end before SIGKILL; longer than the longest drain that can be set. */
const stopMsMax = 70_000;

interface Child {
  name: string;
  args: string[];
  process: ChildProcess | undefined;
  startedMs: number;
  attempt: number;
  restart: NodeJS.Timeout | undefined;
  isAside: boolean;
}

/**
 * Keeps child processes running until it is closed. A child holds a channel to this process and ends when
 * it breaks, so that nothing outlives a supervisor that was killed.
 */
export class Supervisor implements AsyncDisposable {
  readonly #children: Child[] = [];
  readonly #onRestart: (name: string, code: number | null, waitMs: number) => void;
  readonly #onLeft: (name: string) => void;
  #isClosing = false;
  #settle: (() => void) | undefined;
  #fatal: BusError | undefined;

  constructor(told: {
    onRestart: (name: string, code: number | null, waitMs: number) => void;
    /** Ended in order and is left alone. */
    onLeft: (name: string) => void;
  }) {
    this.#onRestart = told.onRestart;
    this.#onLeft = told.onLeft;
  }

  /**
   * Children are stopped in the reverse order of their start. `isAside`: the others go first, and go on where this one is
   * refused its start.
   */
  start(name: string, args: string[], { isAside = false } = {}): void {
    if (this.#isClosing) return;
    const child: Child = {
      name,
      args,
      process: undefined,
      startedMs: 0,
      attempt: 0,
      restart: undefined,
      isAside,
    };
    this.#children.push(child);
    this.#spawn(child);
  }

  /** Resolves with the failure of a child that cannot work at all: it was refused its first start. */
  async failed(): Promise<BusError> {
    if (this.#fatal === undefined) await new Promise<void>((resolve) => (this.#settle = resolve));
    return this.#fatal ?? new BusError('INTERNAL', { detail: 'a child failed' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    for (const child of this.#children) clearTimeout(child.restart);
    for (const child of this.#children.reverse()) await stop(child.process);
  }

  #spawn(child: Child): void {
    child.startedMs = performance.now();
    const started = fork(program, child.args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    child.process = started;
    if (child.isAside && started.pid !== undefined) setPriority(started.pid, asidePriority);
    started.once('exit', (code) => this.#onExit(child, code));
    // A process that could not even be made ends like one that failed. Failing to signal one is no end.
    started.once('error', () => {
      if (started.pid === undefined) this.#onExit(child, null);
    });
  }

  #onExit(child: Child, code: number | null): void {
    if (this.#isClosing || child.process === undefined) return;
    child.process = undefined;
    // A signal stopped it, or a newer process took over its work: neither is undone.
    if (code === 0) return this.#onLeft(child.name);
    const wasHealthy = performance.now() - child.startedMs > healthyAfterMs;
    if (wasHealthy) child.attempt = 0;
    // Refused at its very first start, with a message of its own: trying again would only repeat it.
    if (code !== null && code > 0 && child.attempt === 0 && !wasHealthy) {
      if (child.isAside) return this.#onLeft(child.name);
      this.#fatal = new BusError('CHILD_FAILED', { name: child.name, code });
      return this.#settle?.();
    }
    const waitMs = 100 + backoffMs(restartBackoff, child.attempt, Math.random());
    child.attempt += 1;
    this.#onRestart(child.name, code, waitMs);
    child.restart = setTimeout(() => this.#spawn(child), waitMs);
  }
}

async function stop(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), stopMsMax);
  await ended;
  clearTimeout(timer);
}
