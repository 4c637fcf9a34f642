import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../base/assert.js';
import { systemClock } from '../../base/clock.js';
import { asBusError } from '../../errors/bus-error.js';
import { TreeAnalyses, type AnalysisOptions } from '../analyse/analyses.js';
import { treeMessages, type MessageType } from './messages.js';
import { openIndex, type OpenedTree } from '../search/open-index.js';
import type { TreeJob, TreeReply, TreeWorkerData } from './tree-analyst.js';

assert(parentPort, 'this module runs as a thread that analyses a tree');
const port = parentPort;
const { folder, home } = workerData as TreeWorkerData;
type Analyse = (request: object, options: AnalysisOptions) => Promise<object>;

let tree: Promise<OpenedTree> | undefined;
const analyses = new TreeAnalyses(() => (tree ??= opened()));

port.on('message', (job: TreeJob) => {
  void answerTo(job).then((reply) => port.postMessage(reply));
});

/** What fails now (too many open files) may be there for the next question. */
async function opened(): Promise<OpenedTree> {
  try {
    return await openIndex(folder, home);
  } catch (error) {
    tree = undefined;
    throw error;
  }
}

async function answerTo({ id, name, body, untilMs }: TreeJob): Promise<TreeReply> {
  const deadlineMs = untilMs === 0 ? 0 : Math.max(1, untilMs - systemClock.nowMs());
  try {
    const { request, answer } = treeMessages[name] as MessageType<object, object>;
    const analyse = analyses[name].bind(analyses) as Analyse;
    const found = await analyse(request.decode(Buffer.from(body)), { deadlineMs });
    return { id, body: answer.encode(found) };
  } catch (error) {
    const { code, data } = asBusError(error);
    return { id, failure: { code, data } };
  }
}
