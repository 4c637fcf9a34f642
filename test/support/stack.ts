import { expect } from 'vitest';
import { eventually } from './eventually.js';
import { sigma, startProcess, startSigma, type Running } from './sigma.js';

const startMsMax = 50_000;

/** A tree to serve, and the file of its plan of shards. */
export interface Served {
  root: string;
  plan: string;
}

/** The services of one home, inside this process unless asked otherwise. */
export class Stack implements AsyncDisposable {
  readonly #running: Running[] = [];
  #bus: Running | undefined;

  private constructor(
    readonly home: string,
    readonly log: string,
    readonly areProcesses: boolean,
  ) {}

  /**
   * Indexes `tree`, then starts a broker, the host of the tree and `agents` (manager, executor, critic). Resolves when
   * all of them serve and the manager knows every shard. `areProcesses`: each is a process of its own.
   */
  static async open(
    home: string,
    agents: string[],
    tree?: Served,
    { log = 'info', areProcesses = false } = {},
  ): Promise<Stack> {
    const stack = new Stack(home, log, areProcesses);
    if (tree !== undefined) {
      const { code, stderr } = await sigma(home, ['index', tree.root, '--shards', tree.plan]);
      expect(code, stderr).toBe(0);
    }
    await stack.startBus();
    if (tree !== undefined) await stack.start(['agent', 'pgc', tree.root]);
    for (const agent of agents) await stack.start(['agent', agent]);
    if (tree !== undefined && agents.includes('manager')) await stack.#knowsShards();
    return stack;
  }

  /** Starts a service; resolves when it serves. `env`: beside what the others have. */
  start(args: string[], env: Record<string, string> = {}): Promise<Running> {
    const begin = this.areProcesses ? startProcess : startSigma;
    return this.#serving(args, begin(this.home, [...args, '--log', this.log], env));
  }

  /** The same in a child process, which can be killed. */
  startProcess(args: string[]): Promise<Running> {
    return this.#serving(args, startProcess(this.home, [...args, '--log', this.log]));
  }

  async stop(running: Running, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    running.process.kill(signal);
    await running.ended;
  }

  async stopBus(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.#bus !== undefined) await this.stop(this.#bus, signal);
  }

  async startBus(): Promise<void> {
    this.#bus = await this.start(['bus']);
  }

  async restartBus(): Promise<void> {
    await this.stopBus();
    await this.startBus();
  }

  /** What each service printed. */
  outputs(): string[] {
    return this.#running.map((running) => running.output());
  }

  async #serving(args: string[], running: Running): Promise<Running> {
    this.#running.push(running);
    // A manager serves questions before it takes tasks.
    const says = args.at(-1) === 'manager' ? '"tasks are taken"' : '"serving';
    await eventually(() => expect(running.output()).toContain(says), startMsMax);
    return running;
  }

  async #knowsShards(): Promise<void> {
    await eventually(async () => {
      const { json } = await sigma(this.home, ['agents', '--json']);
      const shards = json.agents.filter(({ role }: { role: string }) => role === 'pgc');
      const topology = await sigma(this.home, ['lattice', 'topology', '--json']);
      expect(shards.length).toBeGreaterThan(0);
      expect(topology.json.shards).toHaveLength(shards.length);
    }, startMsMax);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const running of this.#running.reverse()) await this.stop(running);
  }
}
