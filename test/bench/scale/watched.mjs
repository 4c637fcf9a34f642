import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';
import { processTree } from '../kernel/process.mjs';

const pollMs = 100;
/** Of the clock in which Linux tells processor time. */
const tickMs = 10;

/**
 * Runs to its end, watched from outside: `{ code, signal, stdout, stderr, wallMs, cpuMs, peakRssBytes }`, the memory being
 * the largest sum over it and all its descendants, and the processor time that of it alone, as it was told last. `onLine(line, kill)`: of standard error.
 */
export async function watched(command, args, { cwd, env, onLine } = {}) {
  const startedMs = performance.now();
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  let [stdout, stderr, peakRssBytes, cpuMs] = ['', '', 0, 0];
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => {
    stderr = (stderr + chunk).slice(-100_000);
    for (const line of String(chunk).split(/[\r\n]+/)) onLine?.(line.trim(), kill);
  });
  const watching = setInterval(() => {
    const bytes = processTree(child.pid).reduce((sum, { rssBytes }) => sum + rssBytes, 0);
    peakRssBytes = Math.max(peakRssBytes, bytes);
    cpuMs = Math.max(cpuMs, processorMs(child.pid));
  }, pollMs);
  try {
    const [code, signal] = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (...how) => resolve(how));
    });
    const wallMs = performance.now() - startedMs;
    return { code, signal, stdout, stderr, wallMs, cpuMs, peakRssBytes };
  } finally {
    clearInterval(watching);
    process.removeListener('exit', kill);
  }
}

function processorMs(pid) {
  try {
    const [, after] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
    const [user, system] = after.split(' ').slice(11, 13).map(Number);
    return (user + system) * tickMs;
  } catch {
    return 0;
  }
}
