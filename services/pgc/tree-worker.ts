import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../src/base/assert.js';
import { systemClock } from '../../src/base/clock.js';
import { asBusError } from '../../src/errors/bus-error.js';
import {
  TreeAnalyses,
  type AnalysisName,
  type AnalysisOptions,
} from '../../src/pgc/analyse/analyses.js';
import { treeMessages, type MessageType } from '../../src/pgc/serve/messages.js';
import { openIndex, type OpenedTree } from '../../src/pgc/search/open-index.js';
import type { TreeJob, TreeReply, TreeWorkerData } from './tree-analyser.js';

assert(parentPort, 'this module runs as a thread that analyses a tree');
const port = parentPort;
const { folder, home } = workerData as TreeWorkerData;
let tree: Promise<OpenedTree> | undefined;
const analyses = new TreeAnalyses(() => (tree ??= opened()));

port.on('message', (job: TreeJob) => {
  void answerTo(job).then((reply) => port.postMessage(reply));
});

/** A failure (such as too many open files) is not cached: the next request tries again. */
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
    return { id, body: await answers[name](Buffer.from(body), { deadlineMs }) };
  } catch (error) {
    const { code, data } = asBusError(error);
    return { id, failure: { code, data } };
  }
}

const { blastRadius, securityBlastRadius, patterns, algebra } = treeMessages;
const answers: Record<AnalysisName, (body: Buffer, options: AnalysisOptions) => Promise<Buffer>> = {
  blastRadius: answering(blastRadius, (request, how) => analyses.blastRadius(request, how)),
  securityBlastRadius: answering(securityBlastRadius, (request, how) =>
    analyses.securityBlastRadius(request, how),
  ),
  patterns: answering(patterns, (request, how) => analyses.patterns(request, how)),
  algebra: answering(algebra, (request) => analyses.algebra(request)),
};

function answering<Q, A>(
  { request, answer }: MessageType<Q, A>,
  run: (request: Q, options: AnalysisOptions) => Promise<A>,
): (body: Buffer, options: AnalysisOptions) => Promise<Buffer> {
  return async (body, options) => answer.encode(await run(request.decode(body), options));
}
