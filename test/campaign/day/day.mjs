import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { runSigma, temporaryFolder } from '../../bench/kernel/process.mjs';
import { until } from '../agent.mjs';
import { judgeRules } from '../critic-tasks/judge.mjs';
import { agentAt, brokerAt, Child } from '../processes.mjs';
import { modelServer } from '../queues/model.mjs';
import { calls, prompt, receive } from '../queues/prompts.mjs';
import { Chance } from '../random.mjs';
import { linesOf } from '../tasks/boss.mjs';
import { git, shopIn } from './tree.mjs';

const sigma = path.resolve(import.meta.dirname, '../../../services/cli/sigma.mjs');
const tailor = path.join(import.meta.dirname, 'tailor.mjs');
const readyMsMax = 60_000;
const stationMsMax = 180_000;
const lookMs = 300;
/** By one task, within a day. */
const askedMax = 3;
/** Until a process that was killed is started again. */
const downMsMax = 1_500;
/** Words of both results of the agent: what a judge points at. */
const shown = ['takes a tenth off', 'Who gets the new price', '`receiptOf`'];
export const plan = 'From BULK_FROM on priceOf must take a tenth off; who calls it stays as it is.';
const advice = 'Ten counts as bulk, too.';
export const person = 'Ann';

/** One day: its processes, what a person does, and who is killed when. */
export class Day {
  /** What was killed, at which station, after how many milliseconds of it. */
  kills = [];
  story = '';
  asked = [];

  static async of(seed) {
    const day = new Day();
    day.seed = seed;
    day.chance = new Chance(seed);
    day.folder = temporaryFolder('sigma-day');
    day.home = path.join(day.folder, 'home');
    mkdirSync(day.home);
    Object.assign(day, shopIn(day.folder));
    day.ledger = path.join(day.folder, 'ledger');
    writeFileSync(day.ledger, '');
    const agent = [process.execPath, tailor, day.ledger];
    writeFileSync(
      path.join(day.home, 'config.json'),
      JSON.stringify({ person, executor: { agent } }),
    );
    const likes = [
      ['Above that quantity', 0.8],
      ['', 0.95],
    ];
    day.model = await modelServer(judgeRules(shown, likes));
    const { url, model } = day.model.config;
    const env = { SIGMA_MODEL_BASE_URL: url, SIGMA_MODEL: model };
    const executor = (name, ...more) => ['executor', '--name', name, ...more];
    day.children = {
      broker: brokerAt(day.home),
      manager: agentAt(day.home, 'manager', ['manager']),
      pgc: agentAt(day.home, 'pgc', ['pgc', day.root]),
      // Works in the folder, and has no language model.
      executor: agentAt(day.home, 'executor', executor('workshop', '--root', day.root)),
      // Has a model, and runs no programs.
      scribe: agentAt(day.home, 'scribe', executor('scribe', '--reads', day.root), env),
      critic: agentAt(day.home, 'critic', ['critic'], env),
    };
    return day;
  }

  async pass() {
    await this.said('index', this.root);
    for (const child of Object.values(this.children)) child.start();
    for (const child of Object.values(this.children))
      if (child.name !== 'broker')
        await until(() => child.output.includes('"serving"'), readyMsMax);
    await this.#morning();
    await this.#attended();
    await this.#delivered();
    this.sessions = await this.json('attend', 'show', 'release');
    this.views = (await this.json('task', 'list')).tasks;
    this.history = await this.json('critic', 'history', `task/${this.taskOf('change')}`);
    this.gates = (await this.json('gate', 'list', '--all')).gates;
    this.dead = (await this.json('dead', 'list')).messages;
    this.story = (await this.said('task', 'story', this.taskOf('change'))).stdout.trimEnd();
    this.effects = readFileSync(this.ledger, 'utf8').trim().split('\n');
    this.pushed = git(this.origin, 'rev-parse', 'main') !== git(this.root, 'rev-parse', 'HEAD');
  }

  /** Prompt and queue; the broker and the scribe die, and the command line that waits for the result. */
  async #morning() {
    const file = path.join(this.folder, 'day.md');
    writeFileSync(file, promptText());
    await this.said('push', file, '--name', 'day', '--id', 'day-of-the-shop');
    this.dayId = 'day-of-the-shop';
    await Promise.all([
      this.#kill('broker', 'queue', 1_500),
      this.#patiently('queue', 'run', '1', '--key', 'morning'),
    ]);
    const [answer] = await Promise.all([this.#received(), this.#kill('scribe', 'prompt', 1_500)]);
    this.answer = answer;
  }

  /** `sigma receive`, killed while it waits, and called again. */
  async #received() {
    const args = ['receive', '--from', 'day', '--wait', '3m', '--json'];
    const waiting = new Child('command line', () =>
      spawn(process.execPath, [sigma, ...args], {
        env: { ...process.env, SIGMA_HOME: this.home, SIGMA_BUS: '' },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
    const ms = this.chance.between(300, 2_500);
    waiting.start();
    await wait(ms);
    await waiting.kill();
    const first = messageIn(waiting.output);
    this.kills.push(`command line, which ${first ? 'had the result' : 'waited'}, after ${ms} ms`);
    return first ?? messageIn((await this.#patiently(...args.slice(0, -1))).stdout);
  }

  /** The rest; the manager dies at the gates, the pgc and the executor while the agent works, the critic in a review. */
  async #attended() {
    const tasks = path.join(this.folder, 'tasks.json');
    writeFileSync(tasks, JSON.stringify(tasksAfter(this.dayId)));
    const intent = ['attend', 'Bring the discount to the customers', '--context', 'release'];
    const asked = [...intent, '--tasks', tasks, '--as', 'operator', '--no-wait'];
    await this.#patiently(...asked);
    await this.#until('attend show', async () => (await this.#session())?.question !== null);
    await this.#patiently('attend', 'answer', 'release', 'delegate', '--no-wait');
    const killing = [];
    const once = (name, station, msMax) => {
      if (!killing.some((each) => each.name === name))
        killing.push({ name, done: this.#kill(name, station, msMax) });
    };
    await this.#until('the session', async () => {
      const session = await this.#session();
      if (session === undefined) return false;
      if (session.is_over) return true;
      await this.#judge(
        () => once('manager', 'gate', 800),
        // What follows the first gate is grounded at once.
        () => once('pgc', 'grounding', 2_500),
      );
      const change = await this.json('task', 'show', this.taskOf('change', session));
      if (change?.state === 'assigned' || change?.state === 'running') {
        once('executor', 'sandbox', 2_500);
      }
      if (change?.state === 'critiquing') once('critic', 'review', 1_200);
      await this.#answer(change);
      return this.stuck !== undefined;
    });
    if (this.stuck !== undefined) throw new Error(this.stuck);
    await Promise.all(killing.map(({ done }) => done));
  }

  /** One is approved, what leaves the house is refused. */
  async #judge(onGate, onApproval) {
    const { gates = [] } = (await this.json('gate', 'list')) ?? {};
    for (const { id, task } of gates) {
      onGate();
      await this.said('gate', 'show', id);
      const judgement = task.includes('publish') ? 'halt' : 'approve';
      const { code } = await this.said('gate', judgement, id);
      if (code === 0 && judgement === 'approve') onApproval();
    }
  }

  /** What a person says to a task that asks. What was done with an unknown end is looked at, and done again. */
  async #answer(view) {
    if (view === undefined || !['deciding', 'blocked', 'clarifying'].includes(view.state)) return;
    this.asked.push(`${view.state}: ${view.asks}`);
    if (this.asked.length > askedMax) {
      this.stuck = `it asks too often: ${this.asked.join(' | ')}`;
      return;
    }
    await this.said('task', 'review', view.id, '--repo', this.root);
    const how = view.state === 'blocked' ? ['--reassign'] : ['--revise', advice];
    const { code } = await this.said('task', 'update', view.id, ...how);
    if (code === 0) this.answers = [...(this.answers ?? []), how[0]];
  }

  /** The results, out of the inbox of who asked; each is taken once. */
  async #delivered() {
    this.inbox = [];
    for (;;) {
      const ran = await this.#patiently('receive', '--wait', '2s');
      const message = messageIn(ran.stdout);
      if (message === undefined) return;
      this.inbox.push(message);
    }
  }

  async #kill(name, station, msMax) {
    const ms = this.chance.between(0, msMax);
    const downMs = this.chance.between(0, downMsMax);
    await wait(ms);
    const child = this.children[name];
    await child.kill();
    this.kills.push(`${name} (${station}) after ${ms} ms, away for ${downMs} ms`);
    await wait(downMs);
    child.start();
  }

  killed() {
    return this.kills.join('; ');
  }

  lastWords() {
    const words = Object.values(this.children).map(
      ({ name, output }) => `${name}: ${output.slice(-1_200)}`,
    );
    return [...words, ...(this.log ?? []).slice(-20), ...this.asked].join('\n');
  }

  async end() {
    for (const child of Object.values(this.children).reverse()) await child.stop();
    this.model.end();
  }

  async #session() {
    return this.json('attend', 'show', 'release');
  }

  taskOf(entry, session = this.sessions) {
    return session.trace.find((each) => each.entry === entry)?.task ?? '';
  }

  lines(word) {
    return linesOf(this.folder, word);
  }

  async said(...args) {
    const ran = await runSigma(args, { home: this.home });
    const line = `$ sigma ${args.join(' ')} (${ran.code})`;
    this.log = [...(this.log ?? []), `${line}\n${(ran.stdout + ran.stderr).slice(0, 400)}`].slice(
      -40,
    );
    return ran;
  }

  /** Undefined: it is refused, or there is no answer for now. */
  async json(...args) {
    const { code, stdout } = await this.said(...args, '--json');
    return code === 0 ? JSON.parse(stdout) : undefined;
  }

  /** Again, as a person would, while the bus is away. */
  async #patiently(...args) {
    return until(
      async () => {
        const ran = await this.said(...args, '--json');
        const { error } = JSON.parse(ran.stdout || '{}');
        return (error ?? null) === null || error.retryable !== true ? ran : undefined;
      },
      stationMsMax,
      lookMs,
    );
  }

  #until(what, claimed) {
    return until(claimed, stationMsMax, lookMs).catch((error) => {
      throw new Error(`${what}: ${error.message}`, { cause: error });
    });
  }
}

function messageIn(output) {
  try {
    const { message } = JSON.parse(output);
    return message && { ...message, body: JSON.parse(message.body) };
  } catch {
    return undefined;
  }
}

function promptText() {
  const asks = (question) => prompt(question, [calls(['ask', { question }]), { text: '$last' }]);
  const push = (name, text) => `/push name=${name} ${JSON.stringify(text)}`;
  return [
    '/read NOTES.md',
    push('callers', asks('Who calls priceOf?')),
    push('bulk', asks('Where is BULK_FROM used?')),
    '/run concurrency=2',
    prompt('Say what is to be done about the price of bulk orders.', [
      calls(receive(), receive()),
      { text: plan },
    ]),
    push('tomorrow', 'Ask the customers whether they noticed.'),
  ].join('\n');
}

function tasksAfter(day) {
  const program = (...argv) => ({ argv });
  return [
    {
      ...{ id: 'tidy', task: 'Remove the old build.', depends_on: [day] },
      action: program('rm', '-rf', 'build/old'),
    },
    {
      ...{ id: 'change', task: `Make ten or more of one thing a tenth cheaper. ${plan}` },
      ...{ kind: 'feature', runner: 'agent', critique: true, depends_on: ['tidy'] },
      grounding: { strategy: 'pgc_first', query_hints: ['Who calls priceOf?'] },
      acceptance_criteria: [
        { text: 'the changed function is cited', check: { cites_symbol: 'priceOf' } },
      ],
    },
    {
      ...{ id: 'publish', task: 'Publish it.', depends_on: ['change'] },
      action: program('git', 'push', '--force', 'origin', 'main'),
    },
  ];
}
