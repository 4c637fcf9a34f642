import { notifySystemd } from './process.js';

/** A late sign of life costs a restart, so three are given in the time of one. */
const signsPerPeriod = 3;

/**
 * Shows systemd that the event loop turns, where the unit has WatchdogSec: a process that hangs without
 * ending is killed and started again. Does nothing elsewhere.
 */
export function startWatchdog(env = process.env): Disposable {
  const periodMs = Number(env.WATCHDOG_USEC ?? 0) / 1_000;
  // Meant for another process, when this one is its child.
  const isOurs = env.WATCHDOG_PID === undefined || Number(env.WATCHDOG_PID) === process.pid;
  const timer =
    periodMs > 0 && isOurs
      ? setInterval(() => void notifySystemd('WATCHDOG=1'), periodMs / signsPerPeriod).unref()
      : undefined;
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
