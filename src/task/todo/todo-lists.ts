import { BusError } from '../../errors/bus-error.js';
import { isName } from '../../base/ids.js';
import { KeyedMutex } from '../../base/keyed-mutex.js';
import { todoKey, todoListPrefix, todoPrefix } from '../../store/keys.js';
import { del, put } from '../../store/operations.js';
import type { Operation, Store } from '../../store/port.js';
import type { Todo } from './sigma-task-update.js';

/** Limit of lists. Beyond it the list that was changed longest ago, without a delegated entry, is dropped. */
export const todoListsMax = 1_000;

/** One entry on disk; `at` is its place in the list. */
interface Kept {
  version: 1;
  at: number;
  changed_ms: number;
  todo: Todo;
}

/** The lists of agents, durable. Changes of one list are made one after the other. */
export class TodoLists {
  readonly #store: Store;
  readonly #nowMs: () => number;
  readonly #listsMax: number;
  readonly #turns = new KeyedMutex();

  constructor(parts: { store: Store; nowMs: () => number; listsMax?: number }) {
    this.#store = parts.store;
    this.#nowMs = parts.nowMs;
    this.#listsMax = parts.listsMax ?? todoListsMax;
  }

  /** The entries in the order in which they were added; an unknown list is empty. Throws STORE_UNAVAILABLE. */
  async read(list: string): Promise<Todo[]> {
    return (await this.#kept(list)).map(({ todo }) => todo);
  }

  /**
   * The list after `change`, on disk when this resolves; what `change` throws leaves it as it was. Throws INVALID_NAME of
   * the list, LIST_FULL, STORE_UNAVAILABLE.
   */
  change(list: string, change: (before: Todo[]) => Todo[] | Promise<Todo[]>): Promise<Todo[]> {
    if (!isName(list))
      return Promise.reject(
        new BusError('INVALID_NAME', { name: list.slice(0, 96), what: 'list' }),
      );
    return this.#turns.run(list, async () => {
      const before = await this.#kept(list);
      const after = await change(before.map(({ todo }) => todo));
      const operations = this.#difference(list, before, after);
      if (operations.length === 0) return after;
      // Lists that begin at the same time must count each other.
      if (before.length > 0) await this.#store.commit(operations);
      else
        await this.#turns.run('', async () =>
          this.#store.commit([...(await this.#roomForOne()), ...operations]),
        );
      return after;
    });
  }

  #difference(list: string, before: readonly Kept[], after: readonly Todo[]): Operation[] {
    const earlier = new Map(before.map((each) => [each.todo.id, each]));
    const ids = new Set(after.map(({ id }) => id));
    let next = Math.max(0, ...before.map(({ at }) => at + 1));
    const gone = before.filter(({ todo }) => !ids.has(todo.id));
    const changed = after.filter(
      (todo) => JSON.stringify(earlier.get(todo.id)?.todo) !== JSON.stringify(todo),
    );
    return [
      ...gone.map(({ todo }) => del(todoKey(list, todo.id))),
      ...changed.map((todo) => {
        const at = earlier.get(todo.id)?.at ?? next++;
        const kept: Kept = { version: 1, at, changed_ms: this.#nowMs(), todo };
        return put(todoKey(list, todo.id), kept);
      }),
    ];
  }

  async #kept(list: string): Promise<Kept[]> {
    const kept: Kept[] = [];
    for await (const [, value] of this.#store.entries({ prefix: todoListPrefix(list) }))
      kept.push(JSON.parse(value.toString()) as Kept);
    return kept.sort((one, other) => one.at - other.at);
  }

  /** Operations that make room for another list. Throws LIST_FULL. */
  async #roomForOne(): Promise<Operation[]> {
    const lists = await this.#lists();
    if (lists.length < this.#listsMax) return [];
    const whole = await Promise.all(
      lists.map(async (list) => ({ list, kept: await this.#kept(list) })),
    );
    const changedMs = ({ kept }: { kept: Kept[] }): number =>
      Math.max(...kept.map(({ changed_ms }) => changed_ms));
    const [oldest] = whole
      .filter(({ kept }) => kept.every(({ todo }) => todo.status !== 'delegated'))
      .sort((one, other) => changedMs(one) - changedMs(other));
    if (oldest === undefined)
      throw new BusError('LIST_FULL', { what: 'the manager', limit: `${this.#listsMax} lists` });
    const { list, kept } = oldest;
    return kept.map(({ todo }) => del(todoKey(list, todo.id)));
  }

  /** Names of all lists; reads one key of each. */
  async #lists(): Promise<string[]> {
    const lists: string[] = [];
    let after = '';
    while (lists.length < this.#listsMax) {
      const range = { prefix: todoPrefix, limit: 1, ...(after !== '' && { after }) };
      let first: string | undefined;
      for await (const key of this.#store.keys(range)) first = key;
      if (first === undefined) break;
      const list = first.slice(todoPrefix.length, first.indexOf('/', todoPrefix.length));
      lists.push(list);
      after = `${todoListPrefix(list)}\uffff`;
    }
    return lists;
  }
}
