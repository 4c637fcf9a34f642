import type { SideEffect } from '../../src/task/life/advance.js';
import type { Clock } from '../../src/base/clock.js';
import { tasksLayout } from '../../src/store/layouts.js';
import type { LevelStore } from '../../src/store/level-store.js';
import type { Operation, Store } from '../../src/store/port.js';
import { TaskBook, type BookParts } from '../../src/task/book/book.js';
import type { TaskRecord } from '../../src/task/life/record.js';
import { openTestStore } from './store.js';
import { VirtualClock } from './virtual-clock.js';

/** A book on a real store, with a record of its actions and errors. */
export interface OpenBook extends AsyncDisposable {
  book: TaskBook;
  performed: { id: string; effect: SideEffect }[];
  troubles: unknown[];
  /** Ends as a crash does: only the files are closed. */
  drop: () => Promise<void>;
}

export interface BookOptions extends Partial<Pick<BookParts, 'limits' | 'random'>> {
  clock?: Clock;
  /** Performs an action; it counts as performed when this resolves. */
  perform?: (record: TaskRecord, effect: SideEffect, book: Promise<TaskBook>) => Promise<void>;
  wrap?: (store: LevelStore) => Store;
}

export async function openBook(folder: string, options: BookOptions = {}): Promise<OpenBook> {
  const { clock = new VirtualClock(), random = () => 0.5, perform, wrap, limits } = options;
  const store = await openTestStore(folder, tasksLayout);
  const performed: OpenBook['performed'] = [];
  const troubles: unknown[] = [];
  let ready = (_: TaskBook): void => undefined;
  const book = new Promise<TaskBook>((resolve) => (ready = resolve));
  const opened = await TaskBook.open({
    store: wrap?.(store) ?? store,
    clock,
    random,
    ...(limits && { limits }),
    perform: async (record, effect) => {
      await perform?.(record, effect, book);
      performed.push({ id: record.id, effect });
    },
    onChanged: () => undefined,
    onTrouble: (_, error) => void troubles.push(error),
  });
  ready(opened);
  opened.resume();
  return {
    book: opened,
    performed,
    troubles,
    drop: () => store[Symbol.asyncDispose](),
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

/** A store whose writes go another way: what `divert` does instead. */
export function divertedStore(
  store: LevelStore,
  divert: (operations: Operation[], write: () => Promise<void>) => Promise<void>,
): Store {
  return {
    get: (key) => store.get(key),
    getMany: (keys) => store.getMany(keys),
    entries: (range) => store.entries(range),
    keys: (range) => store.keys(range),
    hasRoom: (bytes) => store.hasRoom(bytes),
    commit: (operations) => divert(operations, () => store.commit(operations)),
    write: (operations) => divert(operations, () => store.write(operations)),
    get state() {
      return store.state;
    },
    onReopened: (listener) => store.onReopened(listener),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

/** A store that stops for good at its `at`-th write, before or after that write. */
export function crashingStore(
  store: LevelStore,
  at: number,
  when: 'before' | 'after',
): { store: Store; crashed: Promise<void> } {
  let crash = (): void => undefined;
  const crashed = new Promise<void>((resolve) => (crash = resolve));
  let writes = 0;
  const diverted = divertedStore(store, async (_, write) => {
    writes += 1;
    if (writes < at) return write();
    if (writes === at && when === 'after') await write();
    crash();
    return new Promise(() => undefined);
  });
  return { store: diverted, crashed };
}
