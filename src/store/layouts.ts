import type { Layout } from './layout.js';

/** Mined facts of one indexed tree. */
export const factsLayout: Layout = { name: 'facts', version: 1 };

/** What a manager has under way. */
export const managerLayout: Layout = { name: 'manager', version: 1 };

/** Tasks of a manager, which are not to be lost. */
export const tasksLayout: Layout = { name: 'tasks', version: 1 };

/** What an executor has in its hands. */
export const executorLayout: Layout = { name: 'executor', version: 1 };

/** Reviews of a critic: pipelines under way with what each mode said, and the history of each artifact. */
export const criticLayout: Layout = { name: 'critic', version: 1 };

/** What a broker keeps. */
export const busLayout: Layout = {
  name: 'bus',
  version: 2,
  // Measured with messages of 1 KiB: each byte is written 2.3 times in all, not 3.4 as by default.
  writeBufferBytes: 16 * 1024 * 1024,
};
