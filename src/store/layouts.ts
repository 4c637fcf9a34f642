import { BusError } from '../errors/bus-error.js';
import { amend, decodeFrame, encodeFrame, type Frame } from '../wire/frame.js';
import { agentPrefix } from './keys.js';
import type { Layout, Migration } from './layout.js';
import type { Operation } from './port.js';

/** Records of at most 4 KiB that a migration commits at once. */
const migratedAtOnceMax = 256;

/** Mined facts of one indexed tree. */
export const factsLayout: Layout = { name: 'facts', version: 1, migrations: [] };

/** What a manager has under way. */
export const managerLayout: Layout = { name: 'manager', version: 1, migrations: [] };

/** Tasks of a manager, which are not to be lost. */
export const tasksLayout: Layout = { name: 'tasks', version: 1, migrations: [] };

/** What an executor has in its hands. */
export const executorLayout: Layout = { name: 'executor', version: 1, migrations: [] };

/** Reviews of a critic: pipelines under way with what each mode said, and the history of each artifact. */
export const criticLayout: Layout = { name: 'critic', version: 1, migrations: [] };

/**
 * Version 2 says when an agent's record was stored. An agent of version 1 was seen at some time before
 * its migration; that time is the best there is, and all of them share it.
 */
const stampAgents: Migration = {
  from: 1,
  async run(store, nowMs) {
    let stamped: Operation[] = [];
    for await (const [key, value] of store.entries({ prefix: agentPrefix })) {
      const frame = intactFrame(value);
      // Not `!== 0`: what was not sent protobufjs may hold as an object that only counts as 0.
      if (frame === undefined || frame.envelope.stored_ms > 0) continue;
      const bytes = encodeFrame(amend(frame, { stored_ms: nowMs }));
      stamped.push({ type: 'put', key, value: bytes });
      if (stamped.length < migratedAtOnceMax) continue;
      await store.commit(stamped);
      stamped = [];
    }
    if (stamped.length > 0) await store.commit(stamped);
  },
};

/** A damaged record stays as it is: the registry leaves it out and reports it. */
function intactFrame(bytes: Buffer): Frame | undefined {
  try {
    return decodeFrame(bytes);
  } catch (error) {
    if (error instanceof BusError) return undefined;
    throw error;
  }
}

/** What a broker keeps. */
export const busLayout: Layout = {
  name: 'bus',
  version: 2,
  migrations: [stampAgents],
  // Measured with messages of 1 KiB: each byte is written 2.3 times in all, not 3.4 as by default.
  writeBufferBytes: 16 * 1024 * 1024,
};
