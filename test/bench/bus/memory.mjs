// What a request allocates, what collecting that costs, and whether the processes grow with the requests served.
import { megabytes, table } from '../kernel/figures.mjs';
import { residentBytes } from './processes.mjs';
import { sigmaRequests } from './sides.mjs';

const milestones = [0, 1, 2, 5, 10].map((millions) => millions * 1_000_000);
const growthWindow = 512;
/** Of one run; latencies of more are not kept. */
const callsPerRun = 500_000;
const runMsMax = 300_000;

/** Two tables: garbage by window, and resident memory after so many requests. */
export async function memoryTables(folder, { bytes, windows, effort, requests }) {
  const garbage = await garbageTable(folder, { bytes, windows, effort });
  const growth = await growthTable(folder, { bytes, requests });
  return `${garbage}\n\n${growth}`;
}

async function garbageTable(folder, { bytes, windows, effort }) {
  const side = await sigmaRequests(folder, { bytes, name: 'watched', probe: 'probe-memory.mjs' });
  const lines = [];
  for (const window of windows) {
    process.stderr.write(`memory, window ${window}\n`);
    await side.run({ window, ms: effort.warmMs });
    const { count, cpu, probed } = await side.probe({ window, ms: effort.profileMs });
    for (const { role, mainUs } of cpu) {
      const { heapBytes, bufferBytes, gcShare, minor, major } = probed[role];
      const share = `${(100 * gcShare).toFixed(1)} %`;
      const perCall = [heapBytes, bufferBytes].map((each) => Math.round(each / count));
      lines.push([window, role, ...perCall, (mainUs * gcShare).toFixed(2), share, minor, major]);
    }
  }
  await side.close();
  const head = ['window', 'process', 'heap bytes', 'buffer bytes', 'GC µs', 'of CPU'];
  return `${table([[...head, 'minor', 'major'], ...lines])}\n\nPer request, main threads; minor and major: collections in all. Buffers: contents made in JavaScript, not what libzmq receives.`;
}

async function growthTable(folder, { bytes, requests }) {
  const side = await sigmaRequests(folder, { bytes, name: 'growing' });
  const roles = Object.keys(side.pids);
  const lines = [];
  let done = 0;
  for (const milestone of milestones.filter((each) => each <= requests)) {
    while (done < milestone) {
      process.stderr.write(`memory, ${done} of ${requests} requests\n`);
      const callsMax = Math.min(callsPerRun, milestone - done + growthWindow);
      done += (await side.run({ window: growthWindow, ms: runMsMax, callsMax })).count;
    }
    const resident = roles.map((role) => megabytes(residentBytes(side.pids[role])));
    lines.push([milestone, ...resident]);
  }
  await side.close();
  return table([['requests', ...roles.map((role) => `${role}, resident`)], ...lines]);
}
