import { asBusError, BusError } from '../../src/errors/bus-error.js';
import { Client } from '../../src/client/client.js';
import type { Ledger } from './ledger.js';
import type { SimulatedLink, SimulatedNetwork } from './network.js';
import { SeededRandom } from './random.js';
import { Process, type SimulatedTime } from './time.js';

export interface NodeParts {
  time: SimulatedTime;
  network: SimulatedNetwork;
  ledger: Ledger;
  seed: number;
  note: (who: string, what: string) => void;
  fail: (error: unknown) => void;
  /** Everybody is known to the broker. */
  isOpen: () => boolean;
  /** No more faults, and no more new messages. */
  isHealing: () => boolean;
  /** The broker has made it a dead letter, or is not there to tell. */
  isDead: (seq: number) => boolean;
  /** A client of the agent no longer waits for the outcome of this message. */
  givenUp: (agent: string, id: string) => void;
}

export const operatorSecret = Buffer.from('the secret of a simulated operator');

/** Clients ask for life this often; a broker that is silent for four of these is left. */
const heartbeatMs = 500;

/**
 * One agent over all its processes. What it must not forget (its ledger) outlives them; its client, and
 * everything that waits in it, does not.
 */
export abstract class Node {
  protected process!: Process;
  protected client!: Client;
  protected link!: SimulatedLink;
  protected random!: SeededRandom;
  #processes = 0;
  #isClosing = false;
  /** Calls of the client that have not ended, by process. */
  #calls = new Map<Process, number>();

  constructor(
    readonly agent: string,
    readonly role: string,
    protected readonly parts: NodeParts,
  ) {}

  get isUp(): boolean {
    return this.process.isAlive;
  }

  get processName(): string {
    return this.process.name;
  }

  get connection(): SimulatedLink {
    return this.link;
  }

  /** Calls of the living process that have not ended. */
  get openCalls(): number {
    return this.#calls.get(this.process) ?? 0;
  }

  start(): void {
    const { time, network, seed, note } = this.parts;
    this.#processes += 1;
    const name = `${this.agent}#${this.#processes}`;
    this.random = new SeededRandom(`${seed}/${name}`);
    this.process = new Process(time, name, this.random.fork('process'));
    this.link = network.link(this.process, this.agent);
    note(this.agent, 'starts');
    this.client = Client.connect({
      link: this.link,
      identity: { agent: this.agent, role: this.role, isEphemeral: false },
      clock: this.process.clock,
      random: this.random.next,
      secretOf: () => operatorSecret,
      heartbeatMs,
      trace: (level, message, fields) => {
        if (level === 'error' && message !== 'a handler failed')
          this.parts.fail(new Error(`${name}: ${message} ${JSON.stringify(fields)}`));
        if (level !== 'debug') note(name, `${message} ${JSON.stringify(fields)}`);
      },
    });
    const { process, client } = this;
    this.background(this.#live(process));
    client.onState((state) => {
      note(name, state);
      // Superseded by an earlier process of its own whose clock was ahead: a supervisor starts it again.
      if (state === 'closed' && process.isAlive && !this.#isClosing) {
        this.crash();
        time.schedule(1_000, () => {
          if (!this.isUp) this.start();
        });
      }
    });
  }

  crash(): void {
    this.parts.note(this.agent, 'is killed');
    this.process.kill();
    this.link.lost();
  }

  block(ms: number): void {
    this.parts.note(this.agent, `hangs for ${Math.round(ms)} ms`);
    this.process.block(ms);
  }

  async close(): Promise<void> {
    const { process } = this;
    this.#isClosing = true;
    await this.client.close();
    process.kill();
  }

  /** What this agent does, until its process ends. */
  protected abstract work(): Promise<void>;

  async #live(process: Process): Promise<void> {
    await this.persist('ready', () => this.client.ready({ withinMs: 5_000 }));
    await this.persist('register', () => this.client.register(recordOf(this.agent)));
    if (process.isAlive) await this.work();
  }

  /** Nothing that a living process begins may end in an error that nobody expected. */
  protected background(work: Promise<void>): void {
    const { process } = this;
    work.catch((error: unknown) => {
      if (process.isAlive) this.parts.fail(error);
    });
  }

  /** Again and again until it works. Every failure must be one that trying again may cure. */
  protected async persist<T>(what: string, call: () => Promise<T>): Promise<T> {
    const { process } = this;
    for (;;) {
      try {
        return await this.counted(call());
      } catch (error) {
        const { code, retryable } = asBusError(error);
        this.parts.note(process.name, `${what}: ${code}`);
        if (!retryable) throw error;
        await process.pause(this.random.between(20, 400));
      }
    }
  }

  protected async counted<T>(call: Promise<T>): Promise<T> {
    const { process } = this;
    const count = (by: number): void =>
      void this.#calls.set(process, (this.#calls.get(process) ?? 0) + by);
    count(1);
    const ended = (): void => count(-1);
    call.then(ended, ended);
    try {
      return await call;
    } finally {
      // Code of a dead process must not go on, whatever it was waiting for.
      if (!process.isAlive) await new Promise(() => undefined);
    }
  }

  /** A code that says that the call is over, and no more than that. */
  protected isPassing(error: unknown): boolean {
    if (!(error instanceof BusError)) return false;
    // What arrives corrupt each time is given up, and may be tried anew.
    return error.retryable || error.code === 'MALFORMED_PAYLOAD';
  }
}

function recordOf(alias: string) {
  return {
    ...{ alias: '', model: '', project: alias, scope: [], overlays: {}, capabilities: [] },
    protocol_versions: ['1'],
  };
}
