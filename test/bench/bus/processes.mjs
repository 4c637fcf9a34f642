// Child processes that end with this one, and what they cost.
import { fork, spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as startTimer, clearTimeout } from 'node:timers';

const startMsMax = 30_000;
/** On its way out a process may write a profile of some hundred megabytes. */
const endMsMax = 60_000;
/** `utime` and `stime` count these; the kernel's USER_HZ is 100 wherever Node runs. */
const tickMs = 10;
const logCharsMax = 64 * 1024;

const children = new Set();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
]) {
  process.on(signal, () => process.exit(code));
}

/** A script of this folder. Resolves once it says that it is ready, unless it never does. */
export async function forkScript(script, args, { execArgv = [], env = {}, saysReady = true } = {}) {
  const child = fork(path.resolve(import.meta.dirname, script), args, {
    execArgv,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  keep(child);
  if (saysReady) await nextMessage(child, script, startMsMax);
  return child;
}

/** A server that says on stderr when it serves: `{ child, captured }`, what `pattern` found in that. */
export async function startServer(command, args, pattern) {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  keep(child);
  let text = '';
  const captured = await new Promise((resolve, reject) => {
    const fail = (why) => reject(new Error(`${command} ${why}: ${text}`));
    const timer = startTimer(() => fail('did not start'), startMsMax);
    child.once('error', reject);
    child.once('exit', (code) => fail(`ended with ${code}`));
    // Read to its end, or its pipe fills.
    child.stderr.on('data', (chunk) => {
      if (text.length < logCharsMax) text += chunk.toString();
      const found = pattern.exec(text);
      if (found === null) return;
      clearTimeout(timer);
      resolve(found[1]);
    });
  });
  return { child, captured };
}

/** One run of a load generator: its figures. */
export async function runLoad(child, load) {
  return (await ask(child, load, load.ms + startMsMax)).figures;
}

/** Sends a message; resolves with the next one that comes back. */
export function ask(child, message, withinMs = startMsMax) {
  child.send(message);
  return nextMessage(child, JSON.stringify(message), withinMs);
}

/** One after the other, each in its orderly way. */
export async function endAll(all) {
  for (const child of all) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.connected) child.disconnect();
    else child.kill('SIGTERM');
    const timer = startTimer(() => child.kill('SIGKILL'), endMsMax);
    await ended;
    clearTimeout(timer);
  }
}

/** CPU time of a process so far, in milliseconds: of its main thread and of all others. */
export function cpuOf(pid) {
  const cpu = { mainMs: 0, othersMs: 0 };
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
    // The name may hold spaces and brackets; what follows its last bracket does not.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ms = (Number(fields[11]) + Number(fields[12])) * tickMs;
    if (Number(thread) === pid) cpu.mainMs += ms;
    else cpu.othersMs += ms;
  }
  return cpu;
}

/** Resident memory in bytes. */
export function residentBytes(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)[1]) * 1_024;
}

function keep(child) {
  children.add(child);
  child.once('exit', () => children.delete(child));
}

function nextMessage(child, what, withinMs) {
  return new Promise((resolve, reject) => {
    const settle = (how) => {
      clearTimeout(timer);
      child.off('message', onMessage);
      child.off('exit', onExit);
      how();
    };
    const onMessage = (message) => settle(() => resolve(message));
    const onExit = (code) => settle(() => reject(new Error(`${what} ended with ${code}`)));
    const timer = startTimer(
      () => settle(() => reject(new Error(`${what} said nothing for ${withinMs} ms`))),
      withinMs,
    );
    child.on('message', onMessage);
    child.on('exit', onExit);
  });
}
