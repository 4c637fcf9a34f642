import { setTimeout as wait } from 'node:timers/promises';
import { performance } from 'node:perf_hooks';
import { nowMs } from '../agent.mjs';
import { Boss, finals, linesOf } from '../tasks/boss.mjs';
import { chance } from '../../bench/lookup/random.mjs';

const effect = 'effect.mjs';
const pauseMs = 250;
const lookEveryMs = 3_000;
const endMsMax = 240_000;
/** Three of five have a key, so that they may be done again. */
const kinds = ['keyed', 'keyed', 'keyed', 'unkeyed', 'reading'];

/** Tasks at a pace, and a look at the manager all the time. */
export class TaskLoad {
  /** By id: `{ kind, id, ended }`. */
  tasks = new Map();
  /** When the manager answered. */
  answersMs = [];
  /** What was refused, by code. */
  refused = {};
  #parts;
  #boss;
  #isHurried = false;
  #isOver = false;
  #running;

  /** `perS`: tasks a second, `count` of them. */
  static async of(home, parts) {
    const load = new TaskLoad();
    load.#parts = parts;
    load.#boss = await Boss.of(home);
    load.#running = Promise.all([load.#feed(), load.#probe(), load.#look()]);
    return load;
  }

  /** What may be done, for the policy of the machines. */
  static allowed(folder) {
    const command = [process.execPath, effect, folder, '*', '*', '*'];
    return { allow: [{ command, why: 'it leaves a line' }] };
  }

  hurry() {
    this.#isHurried = true;
  }

  /** When all have ended, or it takes too long. */
  async end() {
    const untilMs = performance.now() + endMsMax;
    const isOpen = () => this.tasks.size < this.#parts.count || this.open.length > 0;
    while (isOpen() && performance.now() < untilMs) await wait(pauseMs);
    this.#isOver = true;
    await this.#running;
    this.stories = await this.#boss.stories(this.open.map(({ id }) => id));
    await this.#boss.client.close();
  }

  get open() {
    return [...this.tasks.values()].filter(({ ended }) => !finals.has(ended));
  }

  get deliveries() {
    return [...this.#boss.delivered.entries()];
  }

  effectsOf(id) {
    return linesOf(this.#parts.folder, id);
  }

  async #feed() {
    const { count, perS, seed, folder } = this.#parts;
    const below = chance(seed);
    const begunMs = performance.now();
    for (let number = 1; number <= count && !this.#isOver; number += 1) {
      const kind = kinds[below(kinds.length)];
      const id = `task-${number}`;
      const argv = [process.execPath, effect, folder, id, `${below(900)}`, `${below(900)}`];
      const action = {
        argv,
        ...(kind === 'keyed' && { idempotency_key: `key-${number}` }),
        ...(kind === 'reading' && { read_only: true }),
      };
      const limits = { timeout_ms: 600_000, attempts_max: 10 };
      await this.#boss.delegate({ id, criticality: 'C1', limits, task: `do ${id}`, action });
      this.tasks.set(id, { kind, id });
      const nextMs = begunMs + (number / perS) * 1_000;
      while (!this.#isHurried && performance.now() < nextMs) await wait(10);
    }
  }

  /** Asks for a task without a pause: whether it is there does not matter, but that the manager says so. */
  async #probe() {
    for (; !this.#isOver; await wait(pauseMs)) {
      const code = await this.#boss.shown('task-1').then(
        () => '',
        (error) => error.code,
      );
      if (code === '' || code === 'NO_SUCH_TASK') this.answersMs.push(nowMs());
      else this.refused[code] = (this.refused[code] ?? 0) + 1;
    }
  }

  async #look() {
    for (; !this.#isOver; await wait(pauseMs)) {
      for (const task of this.open) {
        const [told] = this.#boss.delivered.get(task.id) ?? [];
        task.ended = told;
        if (told !== undefined || performance.now() - (task.lookedMs ?? 0) < lookEveryMs) continue;
        task.lookedMs = performance.now();
        const isDone = () => this.effectsOf(task.id) > 0;
        const why = await this.#boss.resolve(task.id, isDone).catch(() => undefined);
        task.unknown ||= why === 'OUTCOME_UNKNOWN';
      }
    }
  }
}
