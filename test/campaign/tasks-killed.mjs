// Tasks while the processes that carry them are killed at random moments: the manager, an executor, the host of the
// shards, the broker; and executors that freeze until somebody else has their tasks. No task is lost, every task ends,
// what a stale worker says is refused, an effect with a key happens once, and one without a key is never done again
// unasked: it ends as OUTCOME_UNKNOWN.
//
//   npm run campaign:tasks-killed -- [--kills N] [--tasks N] [--freezes N] [--seed N] [--json]
//
// Exits with 1 when a claim does not hold.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { milliseconds, percentile, table } from '../bench/kernel/figures.mjs';
import { temporaryFolder } from '../bench/kernel/process.mjs';
import { chance } from '../bench/lookup/random.mjs';
import { until } from './agent.mjs';
import { claim } from './claims.mjs';
import { agentAt, brokerAt, executorsAt } from './processes.mjs';
import { numbersFrom, told } from './report.mjs';
import { Boss, finals, linesOf } from './tasks/boss.mjs';
import { harm } from './tasks/harm.mjs';
import { treeIn } from './tasks/tree.mjs';

const sigma = path.resolve(import.meta.dirname, '../../services/cli/sigma.mjs');
/** Copied to where programs stand: what an executor cannot read it does not run unasked. */
const effect = 'effect.mjs';
const executors = 4;
const executorSlots = 13;
/** Longer than a lease: a worker that is silent for so long has lost its tasks. */
const freezeMs = 26_000;
const endMsMax = 240_000;

const { json, ...options } = numbersFrom('campaign:tasks-killed', {
  kills: 100,
  tasks: 50,
  freezes: 3,
  seed: 1,
});
const below = chance(options.seed);
const home = temporaryFolder('sigma-tasks-killed');
// Programs must not stand in the home.
const folder = temporaryFolder('sigma-tasks-killed-work');
mkdirSync(path.join(folder, 'keys'), { recursive: true });
writeFileSync(path.join(folder, 'effects'), '');
copyFileSync(path.resolve(import.meta.dirname, effect), path.join(folder, effect));
const allow = [
  { command: [process.execPath, effect, folder, '*', '*', '*'], why: 'it leaves a line' },
];
writeFileSync(path.join(home, 'attention.yaml'), JSON.stringify({ allow }));
const tree = treeIn(path.join(home, 'tree'));
const children = {
  broker: brokerAt(home),
  manager: agentAt(home, 'manager', ['manager']),
  pgc: agentAt(home, 'pgc', ['pgc', tree]),
  ...executorsAt(home, folder, executors, executorSlots),
};
const counts = { frozen: 0, refused: 0 };
/** By id: what was delegated, and how it ended. */
const tasks = new Map();
const startedMs = performance.now();

indexOf(tree);
for (const child of Object.values(children)) child.start();
const boss = await Boss.of(home);
await until(
  async () => (await boss.client.agents({ role: 'executor' })).length === executors,
  60_000,
);

let isOver = false;
const feeding = feed();
const killed = await harmAll();
isOver = true;
await feeding;
await settle();
const stories = await boss.stories(open().map(({ id }) => id));
process.exitCode = report();
await boss.client.close();
for (const child of Object.values(children).reverse()) await child.kill();

function indexOf(root) {
  const env = { ...process.env, SIGMA_HOME: home };
  const { status, stderr } = spawnSync(process.execPath, [sigma, 'index', root, '--json'], { env });
  if (status !== 0) throw new Error(String(stderr));
}

/** Keeps so many tasks open, of all kinds, as long as there is harm to come. */
async function feed() {
  let number = 0;
  while (!isOver) {
    const busy = [...tasks.values()].filter(({ ended }) => ended === undefined).length;
    for (let more = options.tasks - busy; more > 0 && !isOver; more -= 1) {
      number += 1;
      await delegate(taskOf(number));
    }
    await look();
    await wait(250);
  }
}

function taskOf(number) {
  const id = `task-${number}`;
  const kind = ['keyed', 'keyed', 'unkeyed', 'reading', 'answer'][below(5)];
  const base = { id, criticality: 'C1', limits: { timeout_ms: 600_000, attempts_max: 10 } };
  if (kind === 'answer') {
    const at = below(24);
    const question = `What does part_${at}_start do, and who calls it?`;
    const grounding = {
      strategy: 'pgc_first',
      query_hints: [`part_${at}_start`],
      evidence_required: false,
    };
    return { kind, whole: { ...base, task: question, grounding } };
  }
  const argv = [process.execPath, effect, folder, id, `${below(900)}`, `${below(900)}`];
  const action = {
    argv,
    ...(kind === 'keyed' && { idempotency_key: `key-${number}` }),
    ...(kind === 'reading' && { read_only: true }),
  };
  return { kind, whole: { ...base, task: `do ${id}`, action } };
}

async function delegate({ kind, whole }) {
  await boss.delegate(whole);
  tasks.set(whole.id, { kind, id: whole.id, begunMs: performance.now() });
}

async function look() {
  for (const task of tasks.values()) {
    if (task.ended !== undefined) continue;
    const told = boss.delivered.get(task.id);
    if (told !== undefined) {
      task.ended = told[0];
      task.ms = performance.now() - task.begunMs;
      continue;
    }
    if (performance.now() - (task.lookedMs ?? 0) < 3_000) continue;
    task.lookedMs = performance.now();
    const isDone = () => linesOf(folder, task.id) > 0;
    const why = await boss.resolve(task.id, isDone).catch(() => undefined);
    task.unknown ||= why === 'OUTCOME_UNKNOWN';
  }
}

async function harmAll() {
  const victims = [
    'manager',
    'manager',
    'broker',
    'pgc',
    ...Object.keys(children).filter((each) => each.startsWith('executor')),
  ];
  const freezeAt = new Set(
    Array.from({ length: options.freezes }, (_, at) =>
      Math.floor(((at + 0.5) * options.kills) / options.freezes),
    ),
  );
  const frozen = new Set();
  const thawing = [];
  const killed = await harm(children, {
    ...{ kills: options.kills, victims, below, lost: count },
    isSpared: (name) => frozen.has(name),
    before: (number) => {
      if (freezeAt.delete(number)) thawing.push(freeze(frozen));
    },
  });
  await Promise.all(thawing);
  return killed;
}

/** Stands still, as a machine that swaps does, until its tasks are somebody else's; then says what it has to say. */
async function freeze(frozen) {
  const name = `executor-${below(executors)}`;
  const child = children[name];
  if (frozen.has(name) || !child.isRunning) return;
  frozen.add(name);
  counts.frozen += 1;
  process.kill(child.pid, 'SIGSTOP');
  await wait(freezeMs);
  process.kill(child.pid, 'SIGCONT');
  await wait(2_000);
  frozen.delete(name);
}

/** What the manager refused, of the output of the process that is about to be forgotten. */
function count(child) {
  if (child.name !== 'manager') return;
  counts.refused += child.output
    .split('\n')
    .filter((line) => line.includes('STALE_ATTEMPT')).length;
}

async function settle() {
  const endMs = performance.now() + endMsMax;
  while (
    [...tasks.values()].some(({ ended }) => ended === undefined) &&
    performance.now() < endMs
  ) {
    await look();
    await wait(500);
  }
  count(children.manager);
}

function open() {
  return [...tasks.values()].filter(({ ended }) => !finals.has(ended));
}

function report() {
  const all = [...tasks.values()];
  const of = (kind) => all.filter((each) => each.kind === kind);
  const rows = ['keyed', 'unkeyed', 'reading', 'answer'].map((kind) => {
    const its = of(kind);
    const ended = its.filter((each) => finals.has(each.ended));
    const times = ended.map(({ ms }) => ms).sort((a, b) => a - b);
    return [
      kind,
      its.length,
      ended.filter((each) => each.ended === 'completed').length,
      ended.filter((each) => each.ended === 'failed').length,
      its.filter((each) => each.unknown).length,
      its.reduce((sum, { id }) => sum + linesOf(folder, id), 0),
      milliseconds(percentile(times, 50)),
      milliseconds(percentile(times, 99)),
    ];
  });
  const head = [
    'TASKS',
    'DELEGATED',
    'COMPLETED',
    'FAILED',
    'OUTCOME_UNKNOWN',
    'EFFECTS',
    'P50 MS',
    'P99 MS',
  ];
  const keyed = of('keyed');
  const unkeyed = of('unkeyed');
  const claims = [
    claim('no task is lost, and every task ends', open().length === 0, stories.join('; ')),
    claim(
      'the end of a task is told once',
      [...boss.delivered.values()].every((each) => each.length === 1),
      '',
    ),
    claim(
      'each key is in the effects once',
      keyed.every(({ id }) => linesOf(folder, id) === 1) &&
        keyed.every(({ ended }) => ended === 'completed'),
      keyed
        .filter(({ id, ended }) => linesOf(folder, id) !== 1 || ended !== 'completed')
        .map(({ id, ended }) => `${id} ${ended} ${linesOf(folder, id)}`)
        .join(' '),
    ),
    claim(
      'nothing without a key is done twice',
      unkeyed.every(({ id }) => linesOf(folder, id) <= 1),
      unkeyed
        .filter(({ id }) => linesOf(folder, id) > 1)
        .map(({ id }) => id)
        .join(' '),
    ),
    claim(
      'what was interrupted without a key ends as OUTCOME_UNKNOWN',
      unkeyed.every(
        ({ ended, unknown, id }) =>
          ended === 'completed' || unknown === true || linesOf(folder, id) === 0,
      ),
      unkeyed
        .filter(({ ended, unknown }) => ended !== 'completed' && unknown !== true)
        .map(({ id }) => id)
        .join(' '),
    ),
    claim(
      'what a stale worker says is refused',
      options.freezes === 0 || counts.refused > 0,
      `${counts.refused} times`,
    ),
    claim(
      'somebody was killed of each kind',
      Object.keys(killed).length === 4,
      JSON.stringify(killed),
    ),
  ];
  const figures = {
    tasks: all.length,
    kills: Object.values(killed).reduce((sum, each) => sum + each, 0),
    killed: JSON.stringify(killed),
    frozen: counts.frozen,
    'stale words refused': counts.refused,
    seconds: Math.round((performance.now() - startedMs) / 1_000),
    seed: options.seed,
  };
  if (!json) process.stdout.write(`${table([head, ...rows])}\n`);
  return told('tasks while processes are killed', {
    json,
    claims,
    figures: json ? { ...figures, rows } : figures,
  });
}
