// Queues of prompts with real processes: the seven workflows without and with a language model (a server of our own, which
// says what the prompts tell it), while executors, the manager and the broker are killed; a fork bomb; a kill that cascades.
//
//   npm run campaign:queues -- [--kills N] [--rounds N] [--seed N] [--json]
//
// Without kills one round is run of each. Exits with 1 when a claim does not hold.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { temporaryFolder } from '../bench/kernel/process.mjs';
import { table } from '../bench/kernel/figures.mjs';
import { chance } from '../bench/lookup/random.mjs';
import { until } from './agent.mjs';
import { claim } from './claims.mjs';
import { agentAt, brokerAt, executorsAt, worker } from './processes.mjs';
import { workflowsByHand } from './queues/by-hand.mjs';
import { modelServer } from './queues/model.mjs';
import { Parent } from './queues/parent.mjs';
import { calls, prompt, push, receive, run, workflows, wrongWith } from './queues/prompts.mjs';
import { numbersFrom, told } from './report.mjs';
import { Boss, finals } from './tasks/boss.mjs';
import { harm } from './tasks/harm.mjs';
import { treeIn } from './tasks/tree.mjs';

const sigma = path.resolve(import.meta.dirname, '../../services/cli/sigma.mjs');
const executors = 2;
const endMsMax = 240_000;
const bombDepth = 8;
const bombTasks = 60;
const scriptedName = 'scripted';

const { json, ...options } = numbersFrom('campaign:queues', { kills: 0, rounds: 1, seed: 1 });
const below = chance(options.seed);
const startedMs = performance.now();
const claims = [];
const rows = [];
const killedAll = {};
/** Where processes are killed, what takes longer may come later. */
const isCalm = options.kills === 0;

await withoutModel();
await withModel();
await forkBomb();
process.exitCode = report();
process.exit();

/** A whole bus on a home of its own. */
async function stack(name, config, { isTree = false } = {}) {
  const home = temporaryFolder(`sigma-queues-${name}`);
  const folder = temporaryFolder(`sigma-queues-${name}-work`);
  mkdirSync(home, { recursive: true });
  writeFileSync(path.join(home, 'config.json'), JSON.stringify(config));
  const children = {
    broker: brokerAt(home),
    manager: agentAt(home, 'manager', ['manager']),
    ...executorsAt(home, folder, executors, 8),
  };
  if (isTree) {
    const tree = treeIn(path.join(home, 'tree'));
    const env = { ...process.env, SIGMA_HOME: home, SIGMA_BUS: '' };
    const { status, stderr } = spawnSync(process.execPath, [sigma, 'index', tree, '--json'], {
      env,
    });
    if (status !== 0) throw new Error(`index: ${stderr}`);
    children.pgc = agentAt(home, 'pgc', ['pgc', tree]);
  }
  for (const child of Object.values(children)) child.start();
  const boss = await Boss.of(home, { role: 'client' });
  await until(async () => {
    const online = (await boss.client.agents({ role: 'executor' })).length >= executors;
    const asked = !isTree || (await boss.client.agents({ role: 'pgc' })).length > 0;
    return online && asked;
  }, 60_000);
  const end = async () => {
    await boss.client.close();
    for (const child of Object.values(children).reverse()) await child.kill();
  };
  return { home, children, boss, end };
}

async function withoutModel() {
  const { home, children, end } = await stack('plain', {}, { isTree: true });
  // It keeps nothing on disk, and is not killed.
  const scripted = worker(scriptedName, 'queues/scripted.mjs', { home, name: scriptedName });
  scripted.start();
  const probe = await Parent.of(home, 'probe');
  await until(async () => {
    const views = await probe.client.agents({ role: 'executor' });
    return views.some(({ record }) => record.id === scriptedName);
  }, 60_000);
  await everyRound('without a model', children, async (round) => {
    const tag = `n${options.seed}-${round}`;
    const all = workflowsByHand(tag, scriptedName, isCalm);
    return Object.fromEntries(
      await Promise.all(
        Object.entries(all).map(async ([name, work]) => {
          const parent = await Parent.of(home, `p-${tag}-${name.replaceAll(' ', '-')}`);
          const wrong = await within(work(parent));
          const extra = await parent.receive({ waitMs: 0 });
          const isOver = /^(INBOX_EMPTY|NOBODY_LEFT)/.test(extra);
          await parent.close();
          return [name, [...wrong, ...(isOver ? [] : [`told once more: ${extra}`])]];
        }),
      ),
    );
  });
  await probe.close();
  await scripted.kill();
  await end();
}

async function withModel() {
  const server = await modelServer();
  const { children, boss, end } = await stack('model', { model: server.config });
  await everyRound('with a model', children, async (round) => {
    const tag = `m${options.seed}-${round}`;
    const all = workflows(tag, isCalm);
    return Object.fromEntries(
      await Promise.all(
        Object.entries(all).map(async ([name, workflow]) => {
          const id = `main-${tag}-${name.replaceAll(' ', '-')}`;
          return [name, await within(wrongOf(boss, id, workflow))];
        }),
      ),
    );
  });
  const twice = [...boss.delivered].filter(([, ends]) => ends.length !== 1);
  add(
    'each end was told once',
    twice.map(([id, ends]) => `${id}: ${ends.join(' ')}`),
  );
  await cascade(boss);
  server.end();
  await end();
}

async function wrongOf(boss, id, workflow) {
  await boss.delegate({ id, name: id, task: workflow.text, runner: 'prompt', criticality: 'C1' });
  await until(() => boss.delivered.has(id), endMsMax);
  const view = await until(() => boss.shown(id).catch(() => undefined), 60_000);
  if (view.state !== 'completed')
    return [`${view.state} ${view.error?.code} ${view.error?.text}: ${view.response?.result}`];
  return wrongWith(workflow, view.response.result);
}

/** Three levels of tasks, of which the first is killed. */
async function cascade(boss) {
  const waits = prompt('Wait.', [calls(push('leaf', 'never run'), receive({ from: 'nobody' }))]);
  const middle = prompt('Wait.', [{ text: 'late', delayMs: 120_000 }]);
  const top = prompt('Begin.', [
    calls(push('one', middle), push('two', middle), push('queued', waits), run({ count: 2 })),
    calls(receive()),
  ]);
  const id = `cascade-${options.seed}`;
  await boss.delegate({ id, task: top, runner: 'prompt', criticality: 'C1' });
  const below = await until(async () => {
    const all = await boss.list({ parent: id });
    return all.filter(({ state }) => state === 'running').length === 2 && all;
  }, 60_000);
  await boss.change(id, 'cancel');
  const over = await until(async () => {
    const all = await boss.list({ parent: id });
    return all.every(({ state }) => finals.has(state)) && all;
  }, 30_000).catch(() => boss.list({ parent: id }));
  const open = over.filter(({ state }) => state !== 'cancelled');
  add('a kill ends all that was pushed below', [
    ...(below.length === 3 ? [] : [`${below.length} were pushed`]),
    ...open.map((each) => `${each.id} is ${each.state}`),
  ]);
}

/** Each pushes two of its like and starts them. */
async function forkBomb() {
  const server = await modelServer();
  const limits = { depthMax: bombDepth, treeMax: bombTasks };
  const { boss, end } = await stack('bomb', { model: server.config, prompt: limits });
  const text = prompt('Go on.', [
    calls(push('left', '$self'), push('right', '$self'), run()),
    calls(receive({ wait_seconds: 5 }), receive({ wait_seconds: 5 })),
    { text: 'done' },
  ]);
  const id = `bomb-${options.seed}`;
  await boss.delegate({ id, task: text, runner: 'prompt', criticality: 'C1' });
  await until(() => boss.delivered.has(id), endMsMax);
  const over = await until(async () => {
    const all = await boss.list({});
    return all.every(({ state }) => finals.has(state)) && all;
  }, 60_000).catch(() => boss.list({}));
  const open = over.filter(({ state }) => !finals.has(state));
  add('a fork bomb ends by the limits', [
    ...open.map((each) => `${each.id} is ${each.state}`),
    ...(over.length > bombTasks + 1 ? [`${over.length} tasks`] : []),
    ...(over.length < bombTasks / 2 ? [`only ${over.length} tasks: it was no bomb`] : []),
  ]);
  rows.push(['fork bomb', `${over.length} tasks`, `limit ${bombTasks}`]);
  server.end();
  await end();
}

/** All rounds at once, with kills until all are over. */
async function everyRound(name, children, work) {
  const rounds = Array.from({ length: options.rounds }, (_, at) => at + 1);
  const begunMs = performance.now();
  const victims = Object.keys(children).filter((each) => each !== 'pgc');
  const done = Promise.all(rounds.map((round) => work(round)));
  const killed = await harm(children, { kills: options.kills, victims, below });
  const outcomes = await done;
  for (const [kind, count] of Object.entries(killed))
    killedAll[kind] = (killedAll[kind] ?? 0) + count;
  for (const workflow of Object.keys(outcomes[0])) {
    const wrong = outcomes.flatMap((each, at) =>
      each[workflow].map((why) => `round ${at + 1}: ${why}`),
    );
    rows.push([
      `${workflow}, ${name}`,
      `${rounds.length - new Set(wrong.map((each) => each.split(':')[0])).size} of ${rounds.length}`,
      wrong[0] ?? '',
    ]);
    add(`${workflow}, ${name}: each result came once`, wrong);
  }
  rows.push([
    `all rounds ${name}`,
    `${Math.round((performance.now() - begunMs) / 1_000)} s`,
    `${Object.values(killed).reduce((sum, each) => sum + each, 0)} kills`,
  ]);
}

async function within(work) {
  const late = wait(endMsMax, ['not over in time'], { ref: false });
  return Promise.race([work.catch((error) => [`${error.code ?? ''} ${error.message}`]), late]);
}

function add(name, wrong) {
  claims.push(claim(name, wrong.length === 0, wrong.slice(0, 5).join('; ')));
}

function report() {
  if (!json) process.stdout.write(`${table([['WORKFLOW', 'OUTCOME', ''], ...rows])}\n`);
  const figures = {
    kills: JSON.stringify(killedAll),
    rounds: options.rounds,
    seconds: Math.round((performance.now() - startedMs) / 1_000),
    seed: options.seed,
  };
  return told('queues of prompts', {
    json,
    claims,
    figures: json ? { ...figures, rows } : figures,
  });
}
