// What the preloaded probes share: a process watches itself from `start` to `end`, as its parent says.
import { isMainThread } from 'node:worker_threads';

/** `end` resolves with what is told to the parent. */
export function serveProbe({ start, end }) {
  // A preload runs in every thread.
  if (!isMainThread) return;
  process.on('message', ({ probe }) => {
    if (probe === 'start') void Promise.resolve(start()).then(() => process.send({ probed: {} }));
    if (probe === 'end') void Promise.resolve(end()).then((probed) => process.send({ probed }));
  });
}
