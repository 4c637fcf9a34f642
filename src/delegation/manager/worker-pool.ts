import { attendCapability } from '../../attention/shapes.js';
import { BusError } from '../../errors/bus-error.js';
import type { AgentView } from '../../wire/messages.js';
import { delegationCapability, runnerCapability, type RunnerName } from '../task/shapes.js';

/** Concurrent tasks of a worker that does not state a number. */
const slotsDefault = 1;
const slotsMax = 64;
const slotsPrefix = 'slots:';
export const slotsCapability = (slots: number): string => `${slotsPrefix}${slots}`;
/** Concurrent prompts of each depth, for a worker that does not state a number. */
export const promptSlotsDefault = 16;
const promptSlotsPrefix = 'slots:prompt=';
export const promptSlotsCapability = (slots: number): string => `${promptSlotsPrefix}${slots}`;

/** Tasks of one class compete for the same slots of a worker: `work`, or `prompt/<depth>`. */
export type WorkClass = 'work' | `prompt/${number}`;

/** A prompt waits for the prompts that it pushed: each depth has slots of its own, so that no parent starves its children. */
export function workClassOf(runner: RunnerName, depth: number): WorkClass {
  return runner === 'prompt' ? `prompt/${depth}` : 'work';
}

export interface Worker {
  id: string;
  alias: string;
  /** It speaks the protocol: grounding, claims and leases. */
  isCapable: boolean;
  capabilities: ReadonlySet<string>;
  /** It has a language model for the prompts that it runs. */
  hasModel?: boolean;
  slots: number;
  /** Slots for prompts, for each depth. */
  promptSlots: number;
}

/** The worker that a task needs. */
export interface WorkerRequest {
  task: string;
  runner: RunnerName;
  /** Tasks above it. */
  depth?: number;
  /** Agent or alias; empty: any suitable worker. */
  to: string;
  /** Workers that failed at it: chosen only when there is no other, and never by name. */
  failed: readonly string[];
  /** It has a grant for a risky action: only workers that enforce grants may have it. */
  hasGrant?: boolean;
}

interface Waiting {
  wish: WorkerRequest;
  take: (worker: Worker) => void;
}

/** The workers among the agents that are online. */
export function workersOf(views: readonly AgentView[]): Worker[] {
  return views
    .filter(({ state }) => state === 'online')
    .map(({ record: { id, alias, model, capabilities } }) => {
      const all = new Set(capabilities);
      return {
        id,
        alias,
        isCapable: all.has(delegationCapability),
        capabilities: all,
        hasModel: model !== '',
        slots: stated(capabilities, /^slots:(\d+)$/) ?? slotsDefault,
        promptSlots: stated(capabilities, /^slots:prompt=(\d+)$/) ?? promptSlotsDefault,
      };
    });
}

/** How long a worker that is gone is waited for: a restart takes that long. */
const returnMsMax = 60_000;

/** Whether workers that have what a runner needs, a model or an agent, come and go: one that was here a moment ago may be back soon. */
export class ReturnWatch {
  readonly #runner: RunnerName;
  #seenMs = 0;

  constructor(runner: 'prompt' | 'agent') {
    this.#runner = runner;
  }

  /** After a restart the broker does not know when it saw an agent. */
  isAwaited(views: readonly AgentView[], nowMs: number): boolean {
    const able = views.filter(
      ({ record: { model, capabilities } }) =>
        (this.#runner === 'agent' || model !== '') &&
        capabilities.includes(runnerCapability(this.#runner)),
    );
    if (able.some(({ state }) => state === 'online')) this.#seenMs = nowMs;
    return able.some(
      ({ last_seen_ms }) => nowMs - Math.max(last_seen_ms, this.#seenMs) < returnMsMax,
    );
  }
}

function stated(capabilities: readonly string[], form: RegExp): number | undefined {
  const [number] = capabilities.flatMap((each) => form.exec(each)?.[1] ?? []);
  return number === undefined ? undefined : Math.min(slotsMax, Math.max(1, Number(number)));
}

/**
 * The free slots of all workers. A task keeps a slot until it is released. Waiting tasks are served in order, as far as a suitable worker is free.
 */
export class WorkerPool {
  #workers: Worker[] = [];
  #awaited: ReadonlySet<RunnerName> = new Set();
  /** Worker and class by task. */
  readonly #taken = new Map<string, { worker: string; work: WorkClass }>();
  readonly #waiting = new Set<Waiting>();

  get waiting(): number {
    return this.#waiting.size;
  }

  /** `awaited`: runners for which one that has what they need may be back soon. */
  update(workers: readonly Worker[], awaited: ReadonlySet<RunnerName> = new Set()): void {
    this.#workers = [...workers];
    this.#awaited = awaited;
    this.#serve();
  }

  /** Takes a slot that an earlier process had assigned. */
  restore(task: string, worker: string, work: WorkClass = 'work'): void {
    this.#taken.set(task, { worker, work });
  }

  release(task: string): void {
    if (this.#taken.delete(task)) this.#serve();
  }

  /** Takes a slot for a task, or returns the worker that has one; undefined: no suitable worker is free. */
  tryTake(wish: WorkerRequest): Worker | undefined {
    const before = this.#taken.get(wish.task)?.worker;
    const current = this.#workers.find(({ id }) => id === before);
    if (
      current !== undefined &&
      this.#suited(wish).includes(current) &&
      !wish.failed.includes(current.id)
    )
      return current;
    const isFreed = this.#taken.delete(wish.task);
    const free = this.#best(wish);
    if (free !== undefined) this.#taken.set(wish.task, { worker: free.id, work: workOf(wish) });
    // Another task may wait for the slot that it gave up.
    if (isFreed && free?.id !== before) this.#serve();
    return free;
  }

  /** Waits for a slot and takes it. Throws CANCELLED when the signal aborts. */
  async take(wish: WorkerRequest, signal: AbortSignal): Promise<Worker> {
    if (signal.aborted) throw new BusError('CANCELLED');
    const free = this.tryTake(wish);
    if (free !== undefined) return free;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#waiting.delete(mine);
        signal.removeEventListener('abort', give);
      };
      const give = (): void => {
        end();
        reject(new BusError('CANCELLED'));
      };
      const mine: Waiting = {
        wish,
        take: (worker) => {
          end();
          resolve(worker);
        },
      };
      signal.addEventListener('abort', give, { once: true });
      this.#waiting.add(mine);
    });
  }

  /** Whether any connected worker is suitable, busy or not. */
  isPossible(wish: WorkerRequest): boolean {
    return this.#suited(wish).length > 0;
  }

  /** Whether any suitable worker has not failed at it. */
  hasUntried(wish: WorkerRequest): boolean {
    return this.#suited(wish).some(({ id }) => !wish.failed.includes(id));
  }

  #serve(): void {
    const full = new Set<WorkClass>();
    for (const waiting of [...this.#waiting]) {
      const work = workOf(waiting.wish);
      if (full.has(work)) continue;
      if (!this.#workers.some((each) => this.#free(each, work) > 0)) {
        full.add(work);
        continue;
      }
      const free = this.tryTake(waiting.wish);
      if (free !== undefined) waiting.take(free);
    }
  }

  #best(wish: WorkerRequest): Worker | undefined {
    const suited = this.#suited(wish);
    const fresh = suited.filter(({ id }) => !wish.failed.includes(id));
    // A worker that failed gets it again only when no other is suitable, busy ones included.
    return (fresh.length > 0 ? fresh : suited)
      .map((worker) => ({ worker, free: this.#free(worker, workOf(wish)) }))
      .filter(({ free }) => free > 0)
      .sort((a, b) => b.free - a.free || (a.worker.id < b.worker.id ? -1 : 1))[0]?.worker;
  }

  /**
   * A prompt needs a model, a change an agent: while there is a worker that has one, or was a moment ago, it waits for that. Where
   * there is none, it is told by another that it cannot be done.
   */
  #suited(wish: WorkerRequest): Worker[] {
    const all = this.#workers.filter((each) => this.#suits(each, wish));
    if (all.length === 0 && wish.runner === 'agent' && !this.#awaited.has('agent'))
      return this.#workers.filter((each) => this.#suits(each, { ...wish, runner: 'answer' }));
    if (wish.runner !== 'prompt' || wish.to !== '') return all;
    const able = all.filter(({ hasModel }) => hasModel === true);
    return able.length > 0 || this.#awaited.has('prompt') ? able : all;
  }

  #suits({ id, alias, isCapable, capabilities }: Worker, wish: WorkerRequest): boolean {
    const { to, failed, runner, hasGrant } = wish;
    if (hasGrant === true && !capabilities.has(attendCapability)) return false;
    const isNamed =
      to !== '' &&
      !failed.includes(to) &&
      !this.#workers.some((each) => isCalled(each, to) && failed.includes(each.id));
    // A task may name a legacy worker.
    if (isNamed) return id === to || alias === to;
    return isCapable && capabilities.has(runnerCapability(runner));
  }

  #free({ id, slots, promptSlots }: Worker, work: WorkClass): number {
    let taken = 0;
    for (const each of this.#taken.values())
      if (each.worker === id && each.work === work) taken += 1;
    return (work === 'work' ? slots : promptSlots) - taken;
  }
}

function workOf({ runner, depth = 0 }: WorkerRequest): WorkClass {
  return workClassOf(runner, depth);
}

function isCalled({ id, alias }: Worker, name: string): boolean {
  return id === name || alias === name;
}
