// The product as its users have it: in one process with `--repo`, or running and asked over the bus.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureIndex } from '../lookup/sources.mjs';
import { startLattice } from '../kernel/process.mjs';

const upMsMax = 600_000;

const dist = path.resolve(import.meta.dirname, '../../../dist');
const load = (file) => import(pathToFileURL(path.join(dist, file)).href);
const { loadConfig } = await load('src/config/config.js');
const { ownerOf } = await load('src/pgc/shard-plan.js');
const { placeOf, readManifest } = await load('src/pgc/manifest.js');
const { withQuestions } = await load('services/cli/connect.js');

/** Runs `work` with the questions that `--repo` answers, from an index that is built when it is missing. */
export async function inProcess({ root, home }, work) {
  await ensureIndex({ root, home });
  return withQuestions(configOf(home), root, work, 'meaning');
}

/** Runs `work` with a lattice that `sigma up` started, and its questions over the bus. */
export async function running({ root, home, args = [], log = 'warn' }, work) {
  await ensureIndex({ root, home });
  const lattice = await startLattice(root, { home, timeoutMs: upMsMax, args, log });
  try {
    return await withQuestions(configOf(home), undefined, (questions) => work(questions, lattice));
  } finally {
    await lattice.stop();
  }
}

/** The plan of a built index, and which shard owns a path. */
export async function planOf({ root, home }) {
  const { plan } = await readManifest(placeOf(root, home));
  const owner = ownerOf(plan.shards);
  const aliasOf = (file) => plan.shards[owner(file)]?.alias;
  return { shards: plan.shards, aliasOf };
}

export function configOf(home) {
  return loadConfig({ ...process.env, SIGMA_BUS: '' }, { home });
}
