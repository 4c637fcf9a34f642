import path from 'node:path';
import { documentedQuestions } from './documented.mjs';
import { milliseconds, mean, percentile, table } from './figures.mjs';
import { questions } from './measure-questions.mjs';
import { memoryRows, renderMemory } from './measure-up.mjs';
import { run } from './process.mjs';

/** For `lattice.ask`, for one shard, and for the shard that holds the answer. */
const setsCount = 3;
const askedCount = 100;
const queryRuns = 50;
const oneShard = 'mm';
const driverMsMax = 900_000;
/** Asked before anything is timed; none of them is measured. */
const warmUps = [
  'What is a page?',
  'Who frees an skb?',
  'How does swiotlb bounce a buffer?',
  'What is a napi context?',
  'How are interrupts throttled?',
].map((question) => ({ question }));

/** Warm, one request after the other, through the bus with one client. */
export async function measureLatency({ root, home, source, check, lattice }) {
  const running = await lattice();
  const sets = documentedQuestions(root, source, { sets: setsCount, count: askedCount });
  check(
    `latency: ${setsCount} times ${askedCount} documented functions`,
    sets.every((set) => set.length === askedCount),
    sets.map((set) => set.length).join(', '),
  );
  const driver = path.join(import.meta.dirname, 'driver.mjs');
  const input = JSON.stringify({ sets, queries: questions, oneShard, runs: queryRuns, warmUps });
  const result = await run(process.execPath, [driver, '--home', home], {
    timeoutMs: driverMsMax,
    input,
  });
  if (result.code !== 0) throw new Error(`the driver failed: ${result.stderr.slice(-500)}`);
  const rows = JSON.parse(result.stdout).rows.map((row) => {
    check(
      `latency ${row.name}: every request is answered`,
      row.errors.length === 0,
      [...new Set(row.errors)].join(', '),
    );
    const ranks = row.judged.map(({ rank }) => rank);
    return {
      name: row.name,
      requests: row.times.length,
      p50_ms: percentile(row.times, 50),
      p99_ms: percentile(row.times, 99),
      max_ms: Math.max(...row.times),
      mean_ms: mean(row.times),
      first_ms: row.times[0],
      cached: row.cached,
      not_found: row.notFound,
      errors: row.errors.length,
      ...(ranks.length === 0 ? {} : knownItems(row.judged)),
    };
  });
  const figures = { rows, questions: sets, processes: memoryRows(running.pid) };
  return { figures, text: render(figures) };
}

/** How often the documented function is first, or among the sources at all. */
function knownItems(judged) {
  const share = (items, at) =>
    items.filter(({ rank }) => rank >= 1 && rank <= at).length / items.length;
  const phrasings = [...new Set(judged.map(({ phrasing }) => phrasing))].sort();
  return {
    known_item_at_1: share(judged, 1),
    known_item_at_5: share(judged, 5),
    known_item_at_5_by_phrasing: phrasings.map((each) =>
      share(
        judged.filter(({ phrasing }) => phrasing === each),
        5,
      ),
    ),
  };
}

function render({ rows, processes }) {
  const share = (value) => (value === undefined ? '' : value.toFixed(2));
  return [
    table([
      [
        'LATENCY',
        'REQUESTS',
        'P50 MS',
        'P99 MS',
        'MAX MS',
        'FIRST MS',
        'CACHED',
        'NOTHING',
        'FOUND @1',
        'FOUND @5',
      ],
      ...rows.map((row) => [
        row.name,
        row.requests,
        milliseconds(row.p50_ms),
        milliseconds(row.p99_ms),
        milliseconds(row.max_ms),
        milliseconds(row.first_ms),
        row.cached,
        row.not_found,
        share(row.known_item_at_1),
        share(row.known_item_at_5),
      ]),
    ]),
    '',
    'Memory after all of that:',
    renderMemory(processes),
  ].join('\n');
}
