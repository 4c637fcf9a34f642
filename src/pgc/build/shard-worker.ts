import { parentPort } from 'node:worker_threads';
import { assert } from '../../base/assert.js';
import { asBusError } from '../../errors/bus-error.js';
import { LocalMaker, type MakerAnswer, type MakerRequest } from './shard-builders.js';

assert(parentPort, 'this module runs as a thread that writes shards');
const port = parentPort;
const maker = new LocalMaker();

port.on('message', (request: MakerRequest) => {
  void answerTo(request).then((answer) => port.postMessage(answer));
});

async function answerTo(request: MakerRequest): Promise<MakerAnswer> {
  try {
    if (request.what === 'add') return { broken: await maker.add(request.batch) };
    if (request.what === 'finish') return { broken: [], shard: await maker.finish() };
    if (request.what === 'card') await maker.card(request.order);
    else await maker.begin(request.order);
    return { broken: [] };
  } catch (error) {
    const { code, data, message } = asBusError(error);
    return { failure: { code, data, message } };
  }
}
