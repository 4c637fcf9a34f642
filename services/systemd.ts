import { execFile } from 'node:child_process';

/** What a process tells a systemd that started it; elsewhere nothing happens. */

/** A late sign of life costs a restart, so three are given in the time of one. */
const signsPerPeriod = 3;

let signs: NodeJS.Timeout | undefined;

type Env = Readonly<Record<string, string | undefined>>;

/**
 * It can be asked: units that wait for it start. From now on, where the unit has WatchdogSec, it shows that its event loop
 * turns: a process that hangs without ending is killed and started again.
 */
export async function reportReady(): Promise<void> {
  const periodMs = watchdogMs(process.env, process.pid);
  if (periodMs !== undefined)
    signs ??= setInterval(() => void notify('WATCHDOG=1'), periodMs / signsPerPeriod).unref();
  await notify('READY=1');
}

/** Not waited for: an orderly end has less time than it may take. */
export function reportStopping(): void {
  void notify('STOPPING=1');
}

/** After so long without a sign, systemd kills this process; undefined: nothing looks at it. */
export function watchdogMs(env: Env, pid: number): number | undefined {
  const periodMs = Number(env.WATCHDOG_USEC ?? 0) / 1_000;
  // Meant for another process, when this one is its child.
  const isOurs = env.WATCHDOG_PID === undefined || Number(env.WATCHDOG_PID) === pid;
  return isOurs && periodMs > 0 ? periodMs : undefined;
}

/** Node has no Unix datagrams, hence the helper. */
function notify(state: string): Promise<void> {
  if (process.env.NOTIFY_SOCKET === undefined) return Promise.resolve();
  return new Promise((resolve) => {
    execFile('systemd-notify', [`--pid=${process.pid}`, state], () => resolve());
  });
}
