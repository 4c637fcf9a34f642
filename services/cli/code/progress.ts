import { isJournal, journalLine } from '../../../src/observe/journal.js';
import type { IndexProgress } from '../../../src/pgc/build/source-mining.js';

const barWidth = 28;
const terminalEveryMs = 100;
const pipeEveryMs = 5_000;

/** Progress on stderr: one line that is drawn over on a terminal, a plain line now and then in a pipe. */
export function progressTo(stream: NodeJS.WriteStream): {
  onProgress: (progress: IndexProgress) => void;
  end: () => void;
} {
  const startedMs = performance.now();
  let lastMs = 0;
  let lastPhase = '';
  let phaseMs = startedMs;
  let isDrawn = false;
  return {
    onProgress: (progress) => {
      const nowMs = performance.now();
      const everyMs = stream.isTTY ? terminalEveryMs : pipeEveryMs;
      const isNew = progress.phase !== lastPhase;
      if (isNew) phaseMs = nowMs;
      lastPhase = progress.phase;
      const isDue = nowMs - lastMs >= everyMs || (stream.isTTY && isNew);
      // Short work in a pipe says nothing at all.
      if (!isDue || (!stream.isTTY && nowMs - startedMs < pipeEveryMs)) return;
      lastMs = nowMs;
      const text = describe(progress, (nowMs - phaseMs) / 1_000);
      if (stream.isTTY) stream.write(`\r\u001b[K${bar(progress)} ${text}`);
      else stream.write(isJournal(2) ? journalLine('info', { msg: text }) : `${text}\n`);
      isDrawn = stream.isTTY;
    },
    end: () => {
      if (isDrawn) stream.write('\r\u001b[K');
    },
  };
}

const phaseWords = {
  list: 'listing files',
  mine: 'reading',
  write: 'writing shards',
  history: 'reading the history of git',
  publish: 'publishing files',
  pull: 'pulling files',
};

/** `elapsedS`: of this phase. What is left is what the files so far took, times those to come. */
export function describe({ phase, done, total, lines }: IndexProgress, elapsedS: number): string {
  if (total === 0) return phaseWords[phase];
  const whole = `${phaseWords[phase]} ${done} of ${total}`;
  if (done === 0 || elapsedS <= 0) return whole;
  const rate = Math.round(lines / elapsedS / 1_000);
  const speed = phase === 'mine' && rate > 0 ? `, ${rate} K lines/s` : '';
  return `${whole}${speed}, ${timeOf((elapsedS / done) * (total - done))} left`;
}

/** `40 s`, `3 min`. */
function timeOf(seconds: number): string {
  return seconds < 100 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

function bar({ done, total }: IndexProgress): string {
  const filled = total === 0 ? 0 : Math.round((done / total) * barWidth);
  return `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}]`;
}
