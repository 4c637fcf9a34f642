import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

const ticksPerS = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** What a process uses now, from /proc: resident bytes, open descriptors, seconds of processor time so far. */
export function usageOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // Behind the name, which may hold blanks: the state is field 3, utime and stime are 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    rssBytes: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    cpuS: (Number(fields[11]) + Number(fields[12])) / ticksPerS,
  };
}

/** Seconds of processor time so far of a process and of all below it that are there. */
export function treeCpuS(pid) {
  const children = new Map();
  for (const each of readdirSync('/proc')) {
    const stat = /^\d+$/.test(each) ? readIfThere(`/proc/${each}/stat`) : undefined;
    if (stat === undefined) continue;
    const [, parent, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const cpuS = (Number(fields[9]) + Number(fields[10])) / ticksPerS;
    const its = { pid: Number(each), cpuS };
    children.set(Number(parent), [...(children.get(Number(parent)) ?? []), its]);
  }
  const below = (of) =>
    (children.get(of) ?? []).reduce((sum, each) => sum + each.cpuS + below(each.pid), 0);
  return below(pid) + usageOf(pid).cpuS;
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Seconds that all processors together were not idle, since the machine started. */
export function machineCpuS() {
  const [, user, nice, system, , , irq, softIrq] = readFileSync('/proc/stat', 'utf8').split(/\s+/);
  return (
    [user, nice, system, irq, softIrq].reduce((sum, each) => sum + Number(each), 0) / ticksPerS
  );
}

/** Slope of y over x by least squares. */
export function slopeOf(points) {
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  const over = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  const under = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  return under === 0 ? 0 : over / under;
}
