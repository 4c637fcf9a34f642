import { performance } from 'node:perf_hooks';
import { megabytes, seconds, table } from './figures.mjs';
import { processTree, runSigma } from './process.mjs';

const firstQuestion = 'What does dma_alloc_attrs do?';

/** From the start of `sigma up` to its `ready` line and to an answer in another process; memory of each process. */
export async function measureUp({ home, lattice, check }) {
  const running = await lattice();
  const asked = await runSigma(['ask', firstQuestion, '--json'], { home, timeoutMs: 60_000 });
  const firstAnswerMs = performance.now() - running.startedMs;
  check(
    'up: a question is answered as soon as it is ready',
    asked.code === 0 && asked.json?.sources?.length > 0,
    asked.stderr,
  );
  const figures = {
    ready_line: running.line,
    ready_ms: running.readyMs,
    first_answer_ms: firstAnswerMs,
    first_ask_cli_ms: asked.wallMs,
    first_ask_elapsed_ms: asked.json?.metadata?.elapsed_ms ?? null,
    processes: memoryRows(running.pid),
  };
  const text = [
    table([
      ['UP', 'TIME'],
      ['start to ready', seconds(figures.ready_ms)],
      ['start to first answer', seconds(figures.first_answer_ms)],
      ['the asking command itself', seconds(figures.first_ask_cli_ms)],
    ]),
    '',
    renderMemory(figures.processes),
  ].join('\n');
  return { figures, text };
}

export function memoryRows(pid) {
  return processTree(pid).map(({ pid: its, name, rssBytes, peakRssBytes }) => ({
    pid: its,
    name,
    rss_bytes: rssBytes,
    peak_rss_bytes: peakRssBytes,
  }));
}

export function renderMemory(rows) {
  const total = rows.reduce((sum, row) => sum + row.rss_bytes, 0);
  return table([
    ['PROCESS', 'RSS', 'PEAK RSS'],
    ...rows.map((row) => [row.name, megabytes(row.rss_bytes), megabytes(row.peak_rss_bytes)]),
    ['together', megabytes(total), ''],
  ]);
}
