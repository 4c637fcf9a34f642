// The load, the same for every side: a window of calls under way, a new one for each that ends.
import { performance } from 'node:perf_hooks';

/** Made once: what a run keeps would otherwise be garbage to collect during the next. */
const latenciesMs = new Float64Array(1 << 20);

/**
 * Keeps `window` calls of `once` under way for `ms`, at most `callsMax` or as many as latencies are kept.
 * Returns `{ count, perSecond, p50Ms, p99Ms }`. A call that fails ends the process: a bench that loses
 * calls measures nothing.
 */
export async function drive(once, { window, ms, callsMax = latenciesMs.length }) {
  let count = 0;
  const startedMs = performance.now();
  const untilMs = startedMs + ms;
  const lane = async () => {
    for (let nowMs = startedMs; nowMs < untilMs && count + window <= callsMax;) {
      const beganMs = nowMs;
      await once();
      nowMs = performance.now();
      latenciesMs[count] = nowMs - beganMs;
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: window }, lane));
  return figuresOf(latenciesMs.slice(0, count), performance.now() - startedMs);
}

/** Sorts them. */
export function figuresOf(latencies, elapsedMs) {
  const count = latencies.length;
  const sorted = latencies.sort();
  const at = (percent) => sorted[Math.max(0, Math.ceil((percent / 100) * count) - 1)];
  return { count, perSecond: (count / elapsedMs) * 1_000, p50Ms: at(50), p99Ms: at(99) };
}

/** Makes this process a load generator: one run per message of its parent. */
export function serveRuns(run) {
  process.on('message', (load) => {
    if ('probe' in load) return;
    void run(load).then((figures) => process.send({ figures }));
  });
  endWithParent();
}

/** Makes this process a disturbance that its parent switches on and off; `off` resolves with its figures. */
export function serveSwitch({ on, off }) {
  process.on('message', ({ isOn }) => {
    void Promise.resolve(isOn ? on() : off()).then((figures) => process.send({ figures }));
  });
  endWithParent();
}

/** Says that this process is ready, and ends it with its parent. */
export function endWithParent() {
  process.once('disconnect', () => process.exit());
  process.send({ ready: true });
}
