// What systemd says of units, and what stands in its journal.
import { setTimeout as wait } from 'node:timers/promises';

const pollMs = 100;
const changeMsMax = 60_000;

export class Units {
  #machine;

  constructor(machine) {
    this.#machine = machine;
  }

  /** Throws what systemctl says when it fails. */
  control(...args) {
    return this.#machine.said('systemctl', ...args);
  }

  /** By name, as texts. */
  async show(unit, ...properties) {
    const text = await this.control('show', `--property=${properties.join(',')}`, unit);
    return Object.fromEntries(
      text.split('\n').map((line) => {
        const at = line.indexOf('=');
        return [line.slice(0, at), line.slice(at + 1)];
      }),
    );
  }

  /** Of its present process: from its start to its READY=1. */
  async readyMs(unit) {
    const started = 'ExecMainStartTimestampMonotonic';
    const active = 'ActiveEnterTimestampMonotonic';
    const shown = await this.show(unit, started, active);
    return (shown[active] - shown[started]) / 1_000;
  }

  /** Sends a signal to its main process alone, and resolves once another one is ready: `{ ms, restarts }`, its restarts by then. */
  async replaced(unit, signal) {
    const before = await this.show(unit, 'MainPID');
    const startedMs = Date.now();
    await this.control('kill', '--kill-whom=main', `--signal=${signal}`, unit);
    const { NRestarts: restarts } = await this.until(
      unit,
      `another process after ${signal}`,
      (its) => its.ActiveState === 'active' && its.MainPID !== before.MainPID,
    );
    return { ms: Date.now() - startedMs, restarts: Number(restarts) };
  }

  /** Resolves with its state once that is so. Throws what was waited for, and the journal. */
  async until(unit, what, isSo) {
    const untilMs = Date.now() + changeMsMax;
    for (; ; await wait(pollMs)) {
      const its = await this.show(unit, 'ActiveState', 'MainPID', 'NRestarts', 'Result');
      if (isSo(its)) return its;
      if (Date.now() > untilMs) {
        const journal = await this.#machine.said('journalctl', '--unit', unit, '--lines=20');
        throw new Error(`${unit}: waited for ${what}; it is ${JSON.stringify(its)}\n${journal}`);
      }
    }
  }

  /** Entries of the journal, oldest first. */
  async journal(...matches) {
    const text = await this.#machine.said('journalctl', '--output=json', '--all', ...matches);
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }

  /** As `systemd-analyze security` rates it: from 0, best, to 10. */
  async exposure(unit) {
    const text = await this.#machine.said('systemd-analyze', 'security', '--no-pager', unit);
    return Number(/Overall exposure level for .*: ([\d.]+)/.exec(text)?.[1]);
  }
}
