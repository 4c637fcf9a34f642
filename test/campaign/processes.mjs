// Processes that stay and can be killed and started again. None of them outlives this one.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const sigma = path.resolve(import.meta.dirname, '../../services/cli/sigma.mjs');
const outputCharsMax = 64 * 1024;
const stopMsMax = 15_000;

const running = new Set();

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
]) {
  process.on(signal, () => process.exit(code));
}

/** One place in the arrangement: a program that runs, is killed, and is started again under the same name. */
export class Child {
  #start;
  #onMessage;
  #process;
  #output = '';
  #ended = Promise.resolve();
  #isEndWanted = true;

  /** `onMessage` gets what it sends, and `{ type: 'died' }` when it ends unasked. */
  constructor(name, start, onMessage = () => undefined) {
    this.name = name;
    this.#start = start;
    this.#onMessage = onMessage;
  }

  get pid() {
    return this.#process?.pid;
  }

  get isRunning() {
    return running.has(this.#process);
  }

  /** What it said last, on stdout and stderr. */
  get output() {
    return this.#output;
  }

  start() {
    const child = this.#start();
    this.#process = child;
    this.#isEndWanted = false;
    running.add(child);
    const keep = (chunk) => {
      this.#output = (this.#output + chunk).slice(-outputCharsMax);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('message', (message) => this.#onMessage(message, this));
    this.#ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        running.delete(child);
        resolve(code ?? signal);
        if (!this.#isEndWanted) this.#onMessage({ type: 'died', how: code ?? signal }, this);
      });
    });
  }

  send(message) {
    if (this.#process?.connected) this.#process.send(message, () => undefined);
  }

  /** As the machine does when it runs out of memory: nothing is said, flushed or closed. */
  async kill() {
    this.#isEndWanted = true;
    this.#process?.kill('SIGKILL');
    await this.#ended;
  }

  /** In order; killed when it takes too long. Resolves with its exit code. */
  async stop() {
    this.#isEndWanted = true;
    if (this.isRunning) this.#process.kill('SIGTERM');
    const code = await Promise.race([this.#ended, wait(stopMsMax, 'late', { ref: false })]);
    if (code === 'late') await this.kill();
    return code;
  }
}

/** `sigma bus` on a home of its own. */
export function brokerAt(home, onMessage) {
  return new Child(
    'broker',
    () =>
      spawn(process.execPath, [sigma, 'bus', '--log', 'warn'], {
        env: { ...process.env, SIGMA_HOME: home, SIGMA_BUS: '' },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    onMessage,
  );
}

/** `sigma agent …` on a home; `env`: what it is told besides. */
export function agentAt(home, name, args, env = {}) {
  return new Child(name, () =>
    spawn(process.execPath, [sigma, 'agent', ...args, '--log', 'info'], {
      env: { ...process.env, ...env, SIGMA_HOME: home, SIGMA_BUS: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}

/** By name: `count` executors whose programs start below `root`. */
export function executorsAt(home, root, count, slots) {
  const names = Array.from({ length: count }, (_, at) => `executor-${at}`);
  const started = (name) => ['executor', '--name', name, '--slots', `${slots}`, '--root', root];
  return Object.fromEntries(names.map((name) => [name, agentAt(home, name, started(name))]));
}

/** A script of this folder, given its settings as one argument. */
export function worker(name, script, settings, onMessage) {
  const file = path.join(import.meta.dirname, script);
  return new Child(
    name,
    () =>
      spawn(process.execPath, [file, JSON.stringify(settings)], {
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      }),
    onMessage,
  );
}
