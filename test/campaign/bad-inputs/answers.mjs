// One question or report, however bad: it ends in an answer or with a code, in both forms, and soon.
import { runSigma } from '../../bench/kernel/process.mjs';

/** The longest that anybody should wait for the answer to nonsense. */
const answerMsMax = 20_000;
const commandMsMax = 3 * answerMsMax;
const memoryBytesMax = 1024 * 1024 * 1024;
/** Those of the catalogue. */
const exits = new Set([0, 1, 2, 3]);
const stackTrace = /^\s+at .+:\d+:\d+\)?$/m;

/**
 * Runs it for people and for scripts, notes a row and claims what must hold of every input. `expected`: how it ends,
 * see `endOf`; where it may end in two ways, with ` or ` between. Resolves with what was printed for scripts.
 */
export async function tried(at, { input, words, stdin = '', expected }) {
  const running = { home: at.home, timeoutMs: commandMsMax, input: stdin };
  const told = await endedOf(words, running);
  const json = await endedOf([...words, '--json'], running);
  const ms = Math.round(Math.max(told.wallMs, json.wallMs));
  const peakRssBytes = Math.max(told.peakRssBytes, json.peakRssBytes);
  const end = endOf(json.stdout);
  at.rows.push({ input, exit: json.code, end, ms, peakRssBytes });
  const faults = [...faultsOf(told), ...faultsOf(json)];
  const ends = expected.split(' or ');
  if (told.code !== json.code && ends.length === 1)
    faults.push(`exit ${told.code} for people, ${json.code} otherwise`);
  if (told.stderr !== '' && !ends.some((each) => told.stderr.includes(`(${each})`)))
    faults.push(told.stderr);
  if (!ends.includes(end)) faults.push(`${end}: ${json.stdout.slice(0, 400)}`);
  if (ms > answerMsMax) faults.push(`${ms} ms`);
  if (peakRssBytes > memoryBytesMax) faults.push(`${peakRssBytes} bytes of memory`);
  at.claim(claimOf(input, expected), faults.length === 0, faults.join('; '));
  return json;
}

/** That of a row. */
const claimOf = (input, end) => `${input}: ${end}`;

/** One that had to be killed has no exit code. */
function endedOf(words, running) {
  return runSigma(words, running).catch((error) => ({
    ...{ code: 'killed', stdout: '', stderr: error.message, peakRssBytes: 0 },
    wallMs: running.timeoutMs,
  }));
}

function faultsOf({ code, stderr }) {
  const faults = [];
  if (!exits.has(code)) faults.push(`exit ${code}: ${stderr.slice(0, 400)}`);
  if (stackTrace.test(stderr)) faults.push(stderr);
  return faults;
}

/**
 * What a script reads of it: a code; `an answer`, with the codes of what was missed on the way; `files` or `no files`.
 * Of a batch all of that line by line, each kind once.
 */
export function endOf(stdout) {
  const lines = stdout.trimEnd() === '' ? [] : stdout.trimEnd().split('\n');
  return [...new Set(lines.map(endOfLine))].join(', ') || 'nothing';
}

function endOfLine(line) {
  let value;
  try {
    value = JSON.parse(line);
  } catch {
    return 'no JSON';
  }
  if (value.error !== undefined) return value.error.code;
  if (value.files !== undefined) return value.files.length === 0 ? 'no files' : 'files';
  const codes = [...new Set(value.errors.map(({ code }) => code))];
  return ['an answer', ...codes].join(' but ');
}
