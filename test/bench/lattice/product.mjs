// The product as its users have it: in one process with `--repo`, or running and asked over the bus.
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { ensureIndex } from '../lookup/sources.mjs';
import { startLattice } from '../kernel/process.mjs';

const upMsMax = 600_000;
const wholeMsMax = 900_000;
const pollMs = 500;

const dist = path.resolve(import.meta.dirname, '../../../dist');
const load = (file) => import(pathToFileURL(path.join(dist, file)).href);
const { loadConfig } = await load('src/config/config.js');
const { ownerOf } = await load('src/pgc/plan/planned-shards.js');
const { placeOf, readManifest } = await load('src/pgc/plan/manifest.js');
const { withQuestions } = await load('services/cli/connect.js');

/** Runs `work` with the questions that `--repo` answers, from an index that is built when it is missing. */
export async function inProcess({ root, home }, work) {
  await ensureIndex({ root, home });
  return withQuestions(configOf(home), root, work);
}

/** Runs `work` with a lattice that `sigma up` started, and its questions over the bus. */
export async function running({ root, home, args = [], log = 'warn' }, work) {
  await ensureIndex({ root, home });
  const lattice = await startLattice(root, { home, timeoutMs: upMsMax, args, log });
  const { shards } = await planOf({ root, home });
  try {
    return await withQuestions(configOf(home), undefined, async (questions) => {
      const wholeMs = await untilWhole(questions, lattice, shards.length);
      return work(questions, { ...lattice, wholeMs });
    });
  } finally {
    await lattice.stop();
  }
}

/** From the start until every shard is known to who answers; until then an answer may be partial. */
async function untilWhole(questions, { startedMs }, count) {
  let known = 0;
  while (performance.now() - startedMs < wholeMsMax) {
    known = await questions.topology({}, { deadlineMs: upMsMax }).then(
      ({ shards }) => shards.length,
      () => 0,
    );
    if (known === count) return performance.now() - startedMs;
    await wait(pollMs);
  }
  throw new Error(`${known} of ${count} shards are known ${wholeMsMax} ms after the start`);
}

/** The plan of a built index, and which shard owns a path. */
export async function planOf({ root, home }) {
  const { plan } = await readManifest(placeOf(root, home), root);
  const owner = ownerOf(plan.shards);
  const aliasOf = (file) => plan.shards[owner(file)]?.alias;
  return { shards: plan.shards, aliasOf };
}

export function configOf(home) {
  return loadConfig({ ...process.env, SIGMA_BUS: '' }, { home });
}
