import type { IndexProgress } from '../../src/pgc/source-mining.js';

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
  let isDrawn = false;
  return {
    onProgress: (progress) => {
      const nowMs = performance.now();
      const everyMs = stream.isTTY ? terminalEveryMs : pipeEveryMs;
      const isDue = nowMs - lastMs >= everyMs || (stream.isTTY && progress.phase !== lastPhase);
      // Short work in a pipe says nothing at all.
      if (!isDue || (!stream.isTTY && nowMs - startedMs < pipeEveryMs)) return;
      lastMs = nowMs;
      lastPhase = progress.phase;
      const text = describe(progress, (nowMs - startedMs) / 1_000);
      stream.write(stream.isTTY ? `\r\u001b[K${bar(progress)} ${text}` : `${text}\n`);
      isDrawn = stream.isTTY;
    },
    end: () => {
      if (isDrawn) stream.write('\r\u001b[K');
    },
  };
}

const phaseWords = { list: 'listing files', mine: 'reading', write: 'writing shards' };

function describe({ phase, done, total, lines }: IndexProgress, elapsedS: number): string {
  if (total === 0) return phaseWords[phase];
  const rate = elapsedS > 0 ? Math.round(lines / elapsedS / 1_000) : 0;
  const leftS = done > 0 ? Math.round((elapsedS / done) * (total - done)) : 0;
  const speed = phase === 'mine' && rate > 0 ? `, ${rate} K lines/s, ${leftS} s left` : '';
  return `${phaseWords[phase]} ${done} of ${total}${speed}`;
}

function bar({ done, total }: IndexProgress): string {
  const filled = total === 0 ? 0 : Math.round((done / total) * barWidth);
  return `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}]`;
}
