import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setInterval } from 'node:timers';
import { setTimeout as wait } from 'node:timers/promises';
import { connectTo } from './agent.mjs';
import { judge } from './claims.mjs';
import { brokerAt, worker } from './processes.mjs';
import { codes } from './report.mjs';

const startMsMax = 60_000;
/** A mailbox that nobody empties for so long is stuck. */
const drainMsMax = 180_000;

/**
 * A broker, senders and receivers, each a process, and one observer in this one. `folder` holds the journals; `home` and
 * `config` are the broker's. `parts`: another bus in place of the broker, and where its workers run.
 */
export class MailLoad {
  #settings;
  #workerOf;
  #progress = new Map();
  /** Refusals of sender incarnations that are over. */
  #refusedBefore = {};
  #waiting = new Map();
  resumptions = [];
  failures = [];

  constructor(settings, parts = {}) {
    const { home, folder, senders, receivers, config = {} } = settings;
    this.#settings = settings;
    this.#workerOf = parts.worker ?? worker;
    mkdirSync(home, { recursive: true, mode: 0o700 });
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(home, 'config.json'), JSON.stringify(config));
    this.broker = parts.broker ?? brokerAt(home, (message, child) => this.#on(message, child));
    const names = (kind, count) => Array.from({ length: count }, (_, at) => `${kind}-${at}`);
    this.receivers = names('receiver', receivers).map((name) => this.#worker(name, 'receiver.mjs'));
    this.senders = names('sender', senders).map((name) => this.#worker(name, 'sender.mjs'));
  }

  /** Returns when the load has begun. */
  async start() {
    await this.serve();
    await this.startReceivers();
    for (const each of this.senders) each.start();
  }

  /** The broker and the observer alone. */
  async serve() {
    this.broker.start();
    this.observer = connectTo(this.home, 'observer', { role: 'client', isEphemeral: true });
    await this.observer.ready({ withinMs: startMsMax });
  }

  async startReceivers() {
    const ready = this.receivers.map((each) => this.#told(each, 'ready'));
    for (const each of this.receivers) each.start();
    await Promise.all(ready);
  }

  get accepted() {
    return this.#sum('accepted');
  }

  get processed() {
    return this.#sum('processed');
  }

  /** Of one sender, over all its incarnations. */
  acceptedOf({ name }) {
    return this.#progress.get(name)?.accepted ?? 0;
  }

  get isSent() {
    return this.senders.every((each) => this.#progress.get(each.name)?.isDone === true);
  }

  /** What senders were refused with, by code. */
  get refused() {
    const all = { ...this.#refusedBefore };
    for (const { refused = {} } of this.#progress.values()) add(all, refused);
    return all;
  }

  /** When the first message was processed by anybody after this moment; undefined: none yet. */
  processedSince(ms) {
    const times = this.receivers
      .map((each) => this.#progress.get(each.name)?.lastMs ?? 0)
      .filter((each) => each > ms);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  async kill(child) {
    await child.kill();
    const { refused } = this.#progress.get(child.name) ?? {};
    if (refused !== undefined) add(this.#refusedBefore, refused);
    if (refused !== undefined) this.#progress.get(child.name).refused = {};
  }

  /** Resolves with the broker's last status when all is accepted and every mailbox is empty. */
  async drained() {
    let moved = -1;
    let movedMs = performance.now();
    while (true) {
      this.check();
      const sum = this.accepted + this.processed;
      if (sum !== moved) movedMs = performance.now();
      moved = sum;
      if (performance.now() - movedMs > drainMsMax)
        throw new Error(`nothing moves any more: ${JSON.stringify(await this.status())}`);
      const status = this.isSent && (await this.status());
      if (status && status.messages === 0) return status;
      await wait(50);
    }
  }

  /** Undefined while there is no broker. */
  status() {
    return this.observer.status().catch(() => undefined);
  }

  /** Throws when a process ended that nobody killed, or a sender had to give up. */
  check() {
    if (this.failures.length > 0) throw new Error(this.failures.join('\n'));
  }

  /** One line on stderr now and then, so that a long campaign can be followed. */
  follow(everyMs = 5_000) {
    return setInterval(() => {
      const { accepted, processed } = this;
      process.stderr.write(
        `accepted ${accepted}, processed ${processed}, ${codes(this.refused)}\n`,
      );
    }, everyMs).unref();
  }

  /** Senders first, so that the others see the end of all of it. */
  async stop() {
    for (const each of [...this.senders, ...this.receivers]) await this.kill(each);
    await this.observer?.close();
    await this.broker.stop();
  }

  judge() {
    return judge({ senders: this.senderJournals, receivers: this.receiverJournals });
  }

  get home() {
    return this.#settings.home;
  }

  /** By agent id. */
  get senderJournals() {
    return this.senders.map(({ name }) => [name, this.#journal(name)]);
  }

  get receiverJournals() {
    return this.receivers.map(({ name }) => [name, this.#journal(name)]);
  }

  #worker(name, script) {
    const { home, senders, receivers, messages, ...others } = this.#settings;
    const settings = {
      ...others,
      ...{ home, agent: name, journal: this.#journal(name) },
      messages: Math.ceil(messages / senders),
      recipients: Array.from({ length: receivers }, (_, at) => `receiver-${at}`),
    };
    return this.#workerOf(name, script, settings, (message, child) => this.#on(message, child));
  }

  #journal(name) {
    return path.join(this.#settings.folder, `${name}.log`);
  }

  #on(message, child) {
    const { type, ...fields } = message;
    const known = this.#progress.get(child.name) ?? {};
    if (type === 'progress') this.#progress.set(child.name, { ...known, ...fields });
    else if (type === 'done') this.#progress.set(child.name, { ...known, isDone: true });
    else if (type === 'resumed') this.resumptions.push(fields.atMs);
    else if (type === 'died')
      this.failures.push(`${child.name} ended (${fields.how}): ${child.output.trim()}`);
    else if (type === 'failed') this.failures.push(`${child.name}: ${fields.detail}`);
    this.#waiting.get(`${child.name} ${type}`)?.();
  }

  #told(child, type) {
    return new Promise((resolve) => this.#waiting.set(`${child.name} ${type}`, resolve));
  }

  #sum(field) {
    let sum = 0;
    for (const progress of this.#progress.values()) sum += progress[field] ?? 0;
    return sum;
  }
}

function add(into, counts) {
  for (const [code, count] of Object.entries(counts)) into[code] = (into[code] ?? 0) + count;
}
