import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';
import { processTree } from '../kernel/process.mjs';

const pollMs = 100;

/**
 * Runs to its end, watched from outside: `{ code, signal, stdout, stderr, wallMs, peakRssBytes }`, the memory being
 * the largest sum over it and all its descendants. `onLine(line, kill)`: of standard error.
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
  let [stdout, stderr, peakRssBytes] = ['', '', 0];
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => {
    stderr = (stderr + chunk).slice(-100_000);
    for (const line of String(chunk).split(/[\r\n]+/)) onLine?.(line.trim(), kill);
  });
  const watching = setInterval(() => {
    const bytes = processTree(child.pid).reduce((sum, { rssBytes }) => sum + rssBytes, 0);
    peakRssBytes = Math.max(peakRssBytes, bytes);
  }, pollMs);
  try {
    const [code, signal] = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (...how) => resolve(how));
    });
    return { code, signal, stdout, stderr, wallMs: performance.now() - startedMs, peakRssBytes };
  } finally {
    clearInterval(watching);
    process.removeListener('exit', kill);
  }
}
