// A review of ten modes (C4) whose critic is killed after each of them: a real process, a real broker, a real store. The review
// goes on where it was; no mode that had ended is begun again, and the whole is one critique, in one order.
//
//   npm run campaign:critic-killed -- [--kills N] [--json]
//
// Exits with 1 when a claim does not hold.
import { rmSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { criticMessages, critiqueProgress } from '../../dist/src/critic/review/messages.js';
import { modeNames } from '../../dist/src/critic/strategies.js';
import { milliseconds } from '../bench/kernel/figures.mjs';
import { temporaryFolder } from '../bench/kernel/process.mjs';
import { connectTo, until } from './agent.mjs';
import { agentAt, brokerAt } from './processes.mjs';
import { numbersFrom, told } from './report.mjs';

const readyMsMax = 60_000;
const reviewMsMax = 120_000;
const { json, kills } = numbersFrom('campaign:critic-killed', { kills: modeNames.length });

const home = temporaryFolder('sigma-critic-killed');
const broker = brokerAt(home);
const startedMs = performance.now();
const rows = [];

broker.start();
const client = connectTo(home, 'author');
await client.ready({ withinMs: readyMsMax });
try {
  for (let after = 1; after <= kills; after += 1) rows.push(await killedAfter(after));
  rows.push({ after: 'each', ...(await killedAfterEach()) });
} finally {
  await client.close();
  await broker.stop();
  rmSync(home, { recursive: true, force: true });
}
for (const row of rows) if (!json) process.stdout.write(`${lineOf(row)}\n`);
const repeated = rows.flatMap((row) => row.repeated.map((mode) => `${mode} after ${row.after}`));
const unlike = rows.filter(({ order }) => order !== rows[0].order);
process.exitCode = told('reviews whose critic is killed', {
  json,
  figures: {
    reviews: rows.length,
    kills: rows.reduce((sum, row) => sum + row.kills, 0),
    'modes ended': rows.length * modeNames.length,
    'modes begun': rows.reduce((sum, row) => sum + sumOf(row.begun), 0),
    took: milliseconds(performance.now() - startedMs),
  },
  claims: [
    ['a mode that has ended is never begun again', repeated.length === 0, repeated.join(', ')],
    [
      'every review has ten reports, in one order',
      unlike.length === 0 && rows[0].order.split(' ').length === modeNames.length,
      unlike.map(({ order }) => order).join('; '),
    ],
    [
      // On a busy machine a kill comes after two modes.
      'every review was killed, and one at least half as often as it has modes',
      rows.every((row) => row.kills >= (row.after === 'each' ? modeNames.length / 2 : 1)),
      rows.map((row) => row.kills).join(' '),
    ],
  ].map(([name, holds, detail]) => ({ name, holds, detail })),
});

/** One review, whose critic is killed when this many modes are over. */
function killedAfter(after) {
  return reviewed(`after-${after}`, (done, times) => times === 0 && done >= after, after);
}

/** One review, whose critic is killed after every mode but the last. */
function killedAfterEach() {
  return reviewed('each', (done, times) => done > times && done < modeNames.length, 'each');
}

/**
 * `isTime`: whether it is killed now, when so many modes are over, after so many kills. Begins are read from what the critic
 * logs when it stands on disk that a mode is next.
 */
async function reviewed(id, isTime, after) {
  const seen = { begun: {}, ended: new Set(), repeated: [], kills: 0 };
  while (true) {
    // Anew each time: what it says is of this process alone.
    const critic = agentAt(home, 'critic', ['critic']);
    critic.start();
    await until(() => /"msg":"serving"/.test(critic.output), readyMsMax);
    const killing = { done: undefined };
    const kill = () => (killing.done ??= critic.kill());
    const critique = await asked(id, (progress) => {
      if (isTime(progress.done, seen.kills)) kill();
    });
    const isKilled = killing.done !== undefined;
    await (isKilled ? killing.done : critic.stop());
    count(id, seen, critic.output);
    if (isKilled) seen.kills += 1;
    if (critique === undefined) continue;
    const order = critique.reports.map(({ mode }) => mode).join(' ');
    return { after, ...seen, order };
  }
}

/** Undefined: whoever reviewed is gone. */
async function asked(id, onProgress) {
  const { type, request, answer } = criticMessages.critique;
  try {
    const reply = await client.request('service:critic', type, request.encode(wishes(id)), {
      deadlineMs: reviewMsMax,
      onPartial: (part) => onProgress(critiqueProgress.decode(part)),
    });
    return answer.decode(reply.body);
  } catch (error) {
    if (error.retryable !== true) throw error;
    return undefined;
  }
}

function wishes(id) {
  const text = '# A decision\n\nThe cache MUST be bounded. It is read by every request.\n'.repeat(
    20,
  );
  return {
    ...{ id, artifact: { path: 'decision.md', text }, root: '', modes: [] },
    ...{ strict_order: false, is_adversarial: true, is_revision: false, iteration: 2, tokens: 0 },
    context: { criticality: 'C4', phase: 'PH-DESIGN', team: 'TEAM-HIL', token_budget: 'TOK-FULL' },
    ...{ rules: [], criteria: '', ps_id: '', entry_id: '', generator: '' },
  };
}

/** What this process did, from its log: first what was over, then what it began. */
function count(id, seen, output) {
  const lines = output.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
  for (const { mode, next } of lines.filter((each) => each.review === id)) {
    if (mode) seen.ended.add(mode);
    if (!next) continue;
    if (seen.ended.has(next)) seen.repeated.push(next);
    seen.begun[next] = (seen.begun[next] ?? 0) + 1;
  }
}

function lineOf({ after, begun, kills: times }) {
  const often = Object.entries(begun).map(([mode, n]) => `${mode} ${n}`);
  return `killed after ${after} (${times} kills): ${often.join(' · ')}`;
}

function sumOf(begun) {
  return Object.values(begun).reduce((sum, n) => sum + n, 0);
}
