// The product as its command line uses it in one process; every path of it is named here.
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { runSigma } from '../bench/kernel/process.mjs';

const indexMsMax = 1_800_000;
const answerMsMax = 60_000;

const dist = path.resolve(import.meta.dirname, '../../dist');
const load = (file) => import(pathToFileURL(path.join(dist, file)).href);
const { askingIndex } = await load('services/cli/local.js');
const { loadConfig } = await load('src/config/config.js');

/** An index of the tree, and what it answers. */
export async function openProduct(root, home) {
  const startedMs = performance.now();
  const built = await runSigma(['index', root, '--json'], { home, timeoutMs: indexMsMax });
  if (built.code !== 0) throw new Error(`sigma index failed: ${built.stderr.slice(-500)}`);
  const indexMs = performance.now() - startedMs;
  const index = askingIndex(loadConfig({ SIGMA_HOME: home }, {}), root);
  const questions = await index.questions();
  const analyses = await index.analyses();
  const timed = async (ask) => {
    const askedMs = performance.now();
    const answer = await ask({ deadlineMs: answerMsMax });
    return { answer, ms: performance.now() - askedMs };
  };
  return {
    indexMs,
    lines: built.json.lines_total,
    callers: (symbol) => timed((options) => questions.callers({ symbol }, options)),
    references: (symbol) => timed((options) => questions.references({ symbol }, options)),
    callees: (symbol) => timed((options) => questions.callees({ symbol }, options)),
    implementations: (symbol) => timed((options) => questions.implementations({ symbol }, options)),
    blastRadius: (symbol, max_depth) =>
      timed((options) => analyses.blastRadius({ symbol, max_depth, direction: 'up' }, options)),
    trace: (from, to) => timed((options) => questions.trace({ from, to }, options)),
  };
}

/** A site of which only the name fits, listed as possible, is no edge. */
export function isPossible({ certainty }) {
  return certainty === 'possible';
}

/** The name by which a definition can be asked for and no other: `path#Type.method`, or `path:line` when two of a file share it. */
export function scopedName(truth, place) {
  const { name, container, file } = truth.definitions.get(place);
  const wanted = container === '' ? name : `${container}.${name}`;
  const isShared = [...truth.definitionsNamed(name)].some(
    (other) =>
      other !== place &&
      truth.definitions.get(other).file === file &&
      (container === '' || truth.definitions.get(other).container === container),
  );
  return isShared ? place : `${file}#${wanted}`;
}
