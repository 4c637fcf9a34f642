// Child processes and folders that cannot outlive this one: each child leads a group of its own, which is killed as
// a whole.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as startTimer, clearTimeout, setInterval, clearInterval } from 'node:timers';
import { setTimeout as wait } from 'node:timers/promises';

const sigma = path.resolve(import.meta.dirname, '../../../services/cli/sigma.mjs');
const outputBytesMax = 256 * 1024 * 1024;
const memoryPollMs = 50;
/** `up` drains its broker and stops its children one after the other, 8 s each at most. */
const stopMsMax = 30_000;

const groups = new Set();
const folders = [];

/** A new folder that is removed at the end of the run, however it ends. */
export function temporaryFolder(name, parent = tmpdir()) {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(path.join(parent, `${name}-`));
  folders.push(folder);
  return folder;
}

function killGroups() {
  for (const pid of groups) {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // Gone already.
    }
  }
  groups.clear();
}

process.on('exit', () => {
  killGroups();
  // A process that was killed just now may still be leaving a file behind.
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
]) {
  process.on(signal, () => process.exit(code));
}

/** Runs to its end: `{ code, stdout, stderr, wallMs, peakRssBytes }`. Throws when it exceeds `timeoutMs`. */
export async function run(command, args, { timeoutMs, cwd, env, input } = {}) {
  const startedMs = performance.now();
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    detached: true,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  groups.add(child.pid);
  const out = collect(child, child.stdout);
  const err = collect(child, child.stderr);
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input);
  let peakRssBytes = 0;
  const watching = setInterval(() => {
    peakRssBytes = Math.max(peakRssBytes, memoryOf(child.pid).peakRssBytes);
  }, memoryPollMs);
  let isLate = false;
  const timer = startTimer(() => {
    isLate = true;
    killGroup(child.pid);
  }, timeoutMs);
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve(status));
  }).finally(() => {
    clearTimeout(timer);
    clearInterval(watching);
    killGroup(child.pid);
  });
  if (isLate)
    throw new Error(`${path.basename(command)} ${args.join(' ')} took longer than ${timeoutMs} ms`);
  return {
    code,
    stdout: out.text(),
    stderr: err.text(),
    wallMs: performance.now() - startedMs,
    peakRssBytes,
  };
}

/** One call of the command line as a user makes it; `json` is what it printed. */
export async function runSigma(args, { home, timeoutMs = 120_000, input } = {}) {
  const result = await run(process.execPath, [sigma, ...args], {
    timeoutMs,
    input,
    env: { SIGMA_HOME: home, SIGMA_BUS: '', SIGMA_LOG: 'error' },
  });
  let json;
  try {
    json = JSON.parse(result.stdout);
  } catch {
    json = undefined;
  }
  return { ...result, json };
}

/** `sigma up` in the foreground of a group of its own; resolves at its `ready` line. `log`: its level. */
export async function startLattice(repo, { home, timeoutMs, args = [], log = 'warn' }) {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [sigma, 'up', repo, '--log', log, ...args], {
    env: { ...process.env, SIGMA_HOME: home, SIGMA_BUS: '' },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  groups.add(child.pid);
  const err = collect(child, child.stderr);
  const ended = new Promise((resolve) => child.once('close', resolve));
  let text = '';
  const ready = new Promise((resolve, reject) => {
    const timer = startTimer(
      () => reject(new Error(`sigma up was not ready after ${timeoutMs} ms`)),
      timeoutMs,
    );
    const settle = (how) => {
      clearTimeout(timer);
      how();
    };
    child.once('error', (error) => settle(() => reject(error)));
    child.once('close', (code) =>
      settle(() => reject(new Error(`sigma up ended with ${code}: ${err.text()}`))),
    );
    child.stdout.on('data', (chunk) => {
      if (/^ready .*\n/m.test(text)) return;
      text += chunk.toString();
      const line = /^ready .*\n/m.exec(text)?.[0];
      if (line !== undefined)
        settle(() => resolve({ line: line.trim(), readyMs: performance.now() - startedMs }));
    });
  });
  try {
    return {
      ...(await ready),
      startedMs,
      pid: child.pid,
      log: () => err.text(),
      stop: async () => {
        child.kill('SIGTERM');
        await Promise.race([ended, wait(stopMsMax, undefined, { ref: false })]);
        killGroup(child.pid);
      },
    };
  } catch (error) {
    killGroup(child.pid);
    throw error;
  }
}

/** Every process of the tree below `pid`, itself first, with its resident memory from /proc. */
export function processTree(pid) {
  const parents = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = /^PPid:\s+(\d+)/m.exec(textOf(`/proc/${name}/status`))?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const tree = [pid];
  for (const at of tree) for (const [child, parent] of parents) if (parent === at) tree.push(child);
  return tree.map((each) => ({ pid: each, name: nameOf(each), ...memoryOf(each) }));
}

/** What follows `sigma.mjs`: `up`, `bus`, `agent pgc`, `agent manager`. */
function nameOf(pid) {
  const args = textOf(`/proc/${pid}/cmdline`).split('\0').filter(Boolean);
  const at = args.findIndex((arg) => arg.endsWith('sigma.mjs'));
  if (at < 0) return path.basename(args[0] ?? '?');
  const count = args[at + 1] === 'agent' ? 2 : 1;
  return args.slice(at + 1, at + 1 + count).join(' ');
}

function memoryOf(pid) {
  const status = textOf(`/proc/${pid}/status`);
  const kilobytes = (field) => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  return {
    rssBytes: (kilobytes('VmRSS') || 0) * 1024,
    peakRssBytes: (kilobytes('VmHWM') || 0) * 1024,
  };
}

/** Its share of what it holds together with others counted once, in bytes. */
export function pssOf(pid) {
  return (Number(/^Pss:\s+(\d+)/m.exec(textOf(`/proc/${pid}/smaps_rollup`))?.[1]) || 0) * 1024;
}

function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function collect(child, stream) {
  const chunks = [];
  let bytes = 0;
  stream.on('data', (chunk) => {
    bytes += chunk.length;
    if (bytes > outputBytesMax) return killGroup(child.pid);
    chunks.push(chunk);
  });
  return { text: () => Buffer.concat(chunks).toString('utf8') };
}

function killGroup(pid) {
  if (!groups.delete(pid)) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}
