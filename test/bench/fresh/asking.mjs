// Whether an answer is that of the old or of the new state of a tree.
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { runSigma } from '../kernel/process.mjs';

const answerMsMax = 120_000;
const deadlineMs = 60_000;

/**
 * A change says what to ask: `{ calls, count }`: so many calls of a name are new; `{ defines }`: a definition is; `{ asks, in }`: a word
 * that stood nowhere does, in a file;
 * `{ old, fresh }`: of two functions the one is gone and the other is new.
 */
export function symbolsOf({ calls, defines, old, fresh }) {
  return [calls, defines, old, fresh].filter((each) => each !== undefined);
}

/** `old`, `new`, or `wrong`: neither. `ask(kind, text)` gives an answer. */
export async function stateOf(change, ask) {
  if (change.asks !== undefined) {
    const { evidence } = await ask('ask', change.asks);
    // A long comment is found by its words, but not quoted to its end.
    const isFound = evidence.some(({ file_path }) => change.in.endsWith(file_path));
    return isFound ? 'new' : 'old';
  }
  const answers = [];
  for (const symbol of symbolsOf(change)) answers.push(await ask('callers', symbol));
  const [first, second] = answers;
  const isDefined = ({ definitions }) => definitions.length > 0;
  if (change.old !== undefined) {
    if (isDefined(first) === isDefined(second)) return 'wrong';
    return isDefined(second) ? 'new' : 'old';
  }
  if (change.defines !== undefined) return isDefined(first) ? 'new' : 'old';
  const found = first.callers.length + first.possible_total;
  if (found === 0) return 'old';
  return found === change.count ? 'new' : 'wrong';
}

/** Of a name that is nowhere, yet. */
const nothing = { definitions: [], callers: [], possible_total: 0, evidence: [] };
const isUnknown = (error) => /^(?:NO_SUCH_SYMBOL|NOT_FOUND)$/.test(error?.code ?? '');

/** As a person asks: a process for each question. */
export function askOnce({ root, home }) {
  return async (kind, text) => {
    const { code, json, stderr } = await runSigma([kind, text, '--repo', root, '--json'], {
      home,
      timeoutMs: answerMsMax,
    });
    if (isUnknown(json?.error)) return nothing;
    if (json?.error !== undefined || json === undefined || code > 1)
      throw new Error(json?.error?.code ?? (stderr.slice(-200) || `exit ${code}`));
    return json;
  };
}

/** Of a running bus. */
export function askRunning(questions) {
  const options = { deadlineMs };
  return (kind, text) =>
    kind === 'ask'
      ? questions.ask({ question: text, overlays: [], top_k: 10 }, options)
      : questions.callers({ symbol: text }, options).catch((error) => {
          if (isUnknown(error)) return nothing;
          throw error;
        });
}

/** Asks again and again until `isOver`: how often it was which state, and what failed how. */
export async function askMeanwhile(change, ask, { isOver, pauseMs }) {
  const told = { old: 0, new: 0, wrong: 0, failed: {} };
  let newMs;
  for (;;) {
    try {
      const state = await stateOf(change, ask);
      told[state] += 1;
      if (state === 'new') newMs ??= performance.now();
      // Once new, it stays.
      else if (state === 'old' && newMs !== undefined) told.wrong += 1;
    } catch (error) {
      const code = error.code ?? error.message;
      told.failed[code] = (told.failed[code] ?? 0) + 1;
    }
    if (isOver(newMs)) return { told, newMs };
    await wait(pauseMs);
  }
}

export function toldText({ old, new: fresh, wrong, failed }) {
  const failures = Object.entries(failed).map(([code, count]) => `, ${count} ${code}`);
  return `${old} old, ${fresh} new, ${wrong} wrong${failures.join('')}`;
}
