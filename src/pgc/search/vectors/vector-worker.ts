import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../../base/assert.js';
import { asBusError, BusError } from '../../../errors/bus-error.js';
import { codesByTable, writeVectors, type VectorOrder } from './shard-vectors.js';
import { readTable } from './table-file.js';
import type { VectorAnswer } from './vector-threads.js';

assert(parentPort, 'this module runs as a thread that makes vectors');
const port = parentPort;
const { home } = workerData as { home: string };
const reading = readTable(home);
// The answer to an order reports it.
reading.catch(() => undefined);

port.on('message', (order: VectorOrder) => {
  void answerTo(order).then((answer) => port.postMessage(answer));
});

async function answerTo(order: VectorOrder): Promise<VectorAnswer> {
  try {
    const table = await reading;
    if (table === undefined) throw new BusError('INTERNAL', { detail: 'there is no table' });
    // This thread has nothing else to do.
    const codesOf = codesByTable(table, () => Promise.resolve());
    return { vectors: await writeVectors(order, table.fingerprint, codesOf) };
  } catch (error) {
    const { code, data, message } = asBusError(error);
    return { failure: { code, data, message } };
  }
}
