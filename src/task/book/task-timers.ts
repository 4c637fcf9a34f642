import type { Clock } from '../../base/clock.js';
import { pause } from '../../base/pause.js';
import type { TaskRecord } from '../life/record.js';
import type { TimerName } from '../life/task.machine.js';

/** A timer whose event could not be written is tried again after this. */
const retryMs = 1_000;

export interface TaskTimersParts {
  clock: Clock;
  /** Called when a timer of a task is due. When it throws, it is called again. */
  due: (id: string, timer: TimerName) => Promise<void>;
  onTrouble: (id: string, error: unknown) => void;
  /** The record as it is now; undefined: the task is over. */
  current: (id: string) => TaskRecord | undefined;
  closing: AbortSignal;
}

/** One timer of the clock for each task: the earliest timer in its record. */
export class TaskTimers {
  readonly #parts: TaskTimersParts;
  readonly #set = new Map<string, Disposable>();

  constructor(parts: TaskTimersParts) {
    this.#parts = parts;
    parts.closing.addEventListener('abort', () => {
      for (const alarm of this.#set.values()) alarm[Symbol.dispose]();
      this.#set.clear();
    });
  }

  arm({ id, timers }: Pick<TaskRecord, 'id' | 'timers'>): void {
    this.#set.get(id)?.[Symbol.dispose]();
    this.#set.delete(id);
    const { clock, closing } = this.#parts;
    const [first] = Object.entries(timers).sort(([, a], [, b]) => a - b);
    if (first === undefined || closing.aborted) return;
    const [name, atMs] = first as [TimerName, number];
    this.#set.set(
      id,
      clock.after(atMs - clock.nowMs(), () => void this.fire(id, name)),
    );
  }

  async fire(id: string, timer: TimerName): Promise<void> {
    const { due, onTrouble, clock, closing, current } = this.#parts;
    try {
      await due(id, timer);
    } catch (error) {
      onTrouble(id, error);
      // No other event would wake the task.
      await pause(clock, retryMs, closing);
      const record = current(id);
      if (record !== undefined) this.arm(record);
    }
  }
}
