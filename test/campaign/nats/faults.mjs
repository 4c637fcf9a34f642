import { setTimeout as wait } from 'node:timers/promises';
import { nowMs, until } from '../agent.mjs';

/** Longer than the time after which the server, the lease and the heartbeats give up. */
const cutMs = 60_000;
const stopMs = 25_000;
/** Before what was killed is started again. */
const awayMs = [500, 4_000];
const wellMsMax = 120_000;
const settleMs = 500;
const pollMs = 250;
const fencedMsMax = 30_000;

/** What happens to the machines, one after the other, each only when the one before has been overcome. */
export class Faults {
  /** `{ kind, atMs, untilMs, machine }`; `machine`: whose clients cannot do anything meanwhile. */
  happened = [];
  /** What was not overcome, in words. */
  unwell = [];
  /** Whether each leader that stood still learned that another leads. */
  fenced = [];
  #parts;

  /** `said`: what candidates say of themselves, as it grows. */
  constructor(parts) {
    this.#parts = parts;
  }

  /** One of each kind, of servers and machines one each, in an order by chance. */
  async round() {
    const { machines, chance } = this.#parts;
    const faults = [
      ...machines.map(({ server }) => [
        'server killed',
        (begun) => this.#restarted(begun, () => server),
      ]),
      ...machines.map((machine) => ['machine killed', (begun) => this.#lost(begun, machine)]),
      [
        'leading broker killed',
        (begun) => this.#restarted(begun, async () => (await this.leader('bus')).bus),
      ],
      [
        'leading manager killed',
        (begun) => this.#restarted(begun, async () => (await this.leader('manager')).manager),
      ],
      ['leader cut off', (begun) => this.#cutOff(begun)],
      ['leading broker stopped', (begun) => this.#stopped(begun)],
    ];
    for (const [kind, run] of chance.shuffled(faults)) await this.#happen(kind, run);
  }

  /** Servers have all they should have, somebody leads, each sender is served, and the manager answers. */
  async well(kind = 'the start') {
    const { machines, load, tasks } = this.#parts;
    const fromMs = nowMs();
    const before = load.senders.map((each) => load.acceptedOf(each));
    const missing = async () => {
      load.check();
      for (const each of machines)
        if (!(await each.isHealthy())) return `server ${each.at} is not healthy`;
      for (const office of ['bus', 'manager'])
        if (this.#leaderOf(office) === undefined) return `none leads as ${office}`;
      if (!((tasks.answersMs.at(-1) ?? 0) > fromMs)) return 'the manager does not answer';
      const stuck = load.senders.find((each, at) => load.acceptedOf(each) === before[at]);
      return stuck === undefined || load.isSent ? '' : `${stuck.name} gets nothing accepted`;
    };
    let why = '';
    await until(async () => (why = await missing()) === '', wellMsMax, pollMs).catch(() =>
      this.unwell.push(`${kind}: ${why}`),
    );
  }

  async leader(office) {
    return (await until(() => this.#leaderOf(office), wellMsMax)).machine;
  }

  #leaderOf(office) {
    const words = this.#parts.said.filter((each) => each.office === office);
    return words.findLast(
      ({ machine, pid, isLeading }, at) =>
        isLeading &&
        machine[office].isRunning &&
        machine[office].pid === pid &&
        !words.slice(at + 1).some((later) => later.pid === pid && !later.isLeading),
    );
  }

  async #happen(kind, run) {
    await run((what, machine) => this.#begun(what ?? kind, machine));
    await this.well(kind);
    const seconds = ((this.#over() - this.happened.at(-1).atMs) / 1_000).toFixed(1);
    this.#parts.tell(`${kind}: all is well ${seconds} s later`);
    await wait(settleMs);
  }

  #begun(kind, machine) {
    this.#over();
    this.happened.push({ kind, atMs: nowMs(), machine: machine?.at });
  }

  #over() {
    const last = this.happened.at(-1);
    if (last !== undefined) last.untilMs ??= nowMs();
    return last?.untilMs;
  }

  async #restarted(begun, pick) {
    const child = await pick();
    begun();
    await child.kill();
    await this.#away();
    child.start();
  }

  async #lost(begun, machine) {
    begun(undefined, machine);
    await machine.kill((worker) => this.#parts.load.kill(worker));
    await this.#away();
    machine.restart();
  }

  async #cutOff(begun) {
    const { network } = this.#parts;
    const machine = await this.leader('bus');
    begun(undefined, machine);
    network.cut(machine.at);
    await wait(cutMs);
    begun('cut machine joins', machine);
    network.join(machine.at);
  }

  async #stopped(begun) {
    const { bus } = await this.leader('bus');
    const { pid } = bus;
    begun();
    process.kill(pid, 'SIGSTOP');
    await wait(stopMs);
    const { length } = this.#parts.said;
    process.kill(pid, 'SIGCONT');
    const hasLearned = () =>
      this.#parts.said.slice(length).some((each) => each.pid === pid && !each.isLeading);
    this.fenced.push(
      await until(hasLearned, fencedMsMax).then(
        () => true,
        () => false,
      ),
    );
  }

  #away() {
    return wait(this.#parts.chance.between(...awayMs));
  }
}
