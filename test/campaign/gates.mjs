// Gates while the processes that keep them are killed at random moments: the manager that asks, the executors that stop
// and use leave, the broker between them and the persons. What was shown to a person stays under its id until it is
// answered, is answered once, and nothing risky runs but what was approved, as often as it was.
//
//   npm run campaign:gates -- [--kills N] [--tasks N] [--expires SECONDS] [--seed N] [--json]
//
// Exits with 1 when a claim does not hold.
import { EventEmitter, once } from 'node:events';
import { copyFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { gateOpened, gatesTopic } from '../../dist/src/attention/messages.js';
import { attentionLimits } from '../../dist/src/attention/shapes.js';
import { temporaryFolder } from '../bench/kernel/process.mjs';
import { chance } from '../bench/lookup/random.mjs';
import { until } from './agent.mjs';
import { claimsOf, rowsOf } from './gates/claims.mjs';
import { Ledger } from './gates/ledger.mjs';
import { judge, Person, Terminal } from './gates/persons.mjs';
import { Works } from './gates/works.mjs';
import { agentAt, brokerAt, executorsAt } from './processes.mjs';
import { numbersFrom, told } from './report.mjs';
import { Boss, finals } from './tasks/boss.mjs';
import { harm } from './tasks/harm.mjs';
import { table } from '../bench/kernel/figures.mjs';

const executors = 3;
const executorSlots = 6;
/** Open at once: waiting, judged, granted and running. */
const openMax = 45;
/** A person takes so long at most. */
const thinkMs = 6_000;
const endMsMax = 240_000;
/** Until somebody judges something, and until that is on disk, or used. */
const judgingMsMax = 5_000;
const withinMs = 25;
const grantedWithinMs = 500;
/** Between an approval and a change of what was approved. */
const changedWithinMs = 60;

const { json, ...options } = numbersFrom('campaign:gates', {
  kills: 40,
  tasks: 200,
  expires: 45,
  seed: 1,
});
const below = chance(options.seed);
const home = temporaryFolder('sigma-gates');
// Programs must not stand in the home.
const folder = temporaryFolder('sigma-gates-work');
copyFileSync(path.resolve(import.meta.dirname, 'effect.mjs'), path.join(folder, 'effect.mjs'));
const allowed = `allow: [{ command: [node, effect.mjs, ${JSON.stringify(folder)}, '*/*', '*', '*'], why: it only leaves a line }]\n`;
writeFileSync(path.join(home, 'attention.yaml'), `gate_expires: ${options.expires}s\n${allowed}`);
const children = {
  broker: brokerAt(home),
  manager: agentAt(home, 'manager', ['manager']),
  ...executorsAt(home, folder, executors, executorSlots),
};
const works = new Works(folder, below);
const ledger = new Ledger();
/** By id: what was delegated, its plans, and how it ended. */
const tasks = new Map();
/** Judgements, with what was answered to them. */
const judgements = [];
const judging = new Set();
/** Tells `judging` when a judgement is on its way. */
const said = new EventEmitter();
const startedMs = performance.now();

for (const child of Object.values(children)) child.start();
const boss = await Boss.of(home, { role: 'client' });
const watcher = await Person.of(home, 'watcher');
const persons = [await Person.of(home, 'anna'), await Person.of(home, 'bert')];
const terminal = new Terminal(home);
await watcher.client.subscribe(gatesTopic, ({ type, body }) => {
  if (type === gateOpened.type) seen(ledger.note([gateOpened.codec.decode(body)]));
});
await until(
  async () => (await boss.client.agents({ role: 'executor' })).length === executors,
  60_000,
);

let isOver = false;
const watching = watch();
const feeding = feed();
const killed = await harm(children, {
  ...{ kills: options.kills, victims: ['manager', 'manager', ...Object.keys(children)], below },
  before: async (number) => {
    // In step with what is delegated: killed from the first task to the last.
    const share = (number / options.kills) * options.tasks;
    await until(() => tasks.size >= share, 60_000).catch(() => undefined);
    // Half of them right when somebody judges, or what was granted is used.
    if (number % 2 === 1) await Promise.race([once(said, 'judging'), wait(judgingMsMax)]);
    await wait(below(number % 4 === 1 ? withinMs : grantedWithinMs));
  },
});
await feeding;
await settle();
isOver = true;
await watching;
const views = await finalViews();
ledger.compare([...ledger.gates.keys()], await patiently(() => watcher.list(true)));
const open = views.filter(({ view }) => !finals.has(view.state)).map(({ work }) => work.id);
process.exitCode = report(await boss.stories(open));
for (const each of [boss.client, watcher.client, ...persons.map(({ client }) => client)])
  await each.close();
for (const child of Object.values(children).reverse()) await child.kill();

async function feed() {
  for (let number = 1; tasks.size < options.tasks; number += 1) {
    await until(() => unended().length < openMax, endMsMax);
    for (const work of works.next(number)) {
      const { id, action, limits, session, depends_on = [] } = work;
      tasks.set(id, { ...work, isUnknown: false });
      const base = { id, criticality: 'C1', runner: 'command', limits, session, depends_on };
      await boss.delegate({ ...base, task: `do ${id}`, action });
    }
  }
}

function unended() {
  return [...tasks.values()].filter(({ id }) => !boss.delivered.has(id));
}

/** Looks what is open, now and then at all that ever was; and after what is blocked. */
async function watch() {
  for (let round = 0; !isOver; round += 1) {
    const known = [...ledger.gates.keys()];
    const isAll = round % 5 === 4;
    try {
      const shown = await watcher.list(isAll);
      seen(isAll ? ledger.compare(known, shown) : ledger.note(shown));
    } catch {
      // Somebody was killed; what was shown is there the next time.
    }
    if (round % 4 === 3) await resolveBlocked();
    await wait(600);
  }
}

async function resolveBlocked() {
  for (const work of unended()) {
    const why = await boss.resolve(work.id, () => works.hasRun(work)).catch(() => undefined);
    if (why === 'OUTCOME_UNKNOWN') work.isUnknown = true;
    // What it depends on was not done.
    else if (why === 'DEPENDENCY_FAILED')
      await boss.change(work.id, 'cancel').catch(() => undefined);
  }
}

/** Each is thought about, and then judged. */
function seen(fresh) {
  for (const gate of fresh) {
    const work = tasks.get(gate.task);
    const plan = planFor(work, gate, works.labelOf(work, gate));
    if (plan === undefined) continue;
    const its = wait(below(thinkMs)).then(() => plan());
    judging.add(its);
    its
      .catch((error) => judgements.push({ gate: gate.id, error: error.message }))
      .finally(() => judging.delete(its));
  }
}

/** Undefined: nobody judges it. */
function planFor(work, gate, label) {
  const leave = ['approve', 'dismiss'][below(2)];
  const one = persons[below(2)];
  const person = below(8) === 0 ? terminal : one;
  const say = (judgement, direction) => sayAs(person, gate, judgement, direction);
  const isFirst = label !== `${work.id}/m` && label !== `${work.id}/v2`;
  switch (work.kind) {
    case 'expired':
      return undefined;
    case 'halted':
      return () => say('halt');
    case 'withdrawn':
      return work.id.endsWith('-b') ? () => say('withdraw') : undefined;
    case 'shared':
      return () => say('approve');
    case 'milder':
    case 'other':
      return isFirst ? () => say('modify', works.direction(work)) : () => say(leave);
    case 'early':
      if (!isFirst) return () => say(['halt', leave][below(2)]);
      return () => {
        work.versions.v2 = works.write(work.id, 'v2');
        return say(leave);
      };
    case 'late':
      if (!isFirst) return () => say(['halt', leave][below(2)]);
      return async () => {
        await say(leave);
        await wait(below(changedWithinMs));
        work.versions.v2 ??= works.write(work.id, 'v2');
      };
    case 'twice': {
      const others = [leave, 'halt', 'dismiss'];
      const other = below(4) === 0 ? terminal : persons[1 - persons.indexOf(one)];
      const second = others[below(others.length)];
      return () => Promise.all([sayAs(one, gate, leave), sayAs(other, gate, second)]);
    }
    default:
      return () => say(leave);
  }
}

async function sayAs(person, gate, judgement, direction) {
  const show = (id) => watcher.show(id);
  said.emit('judging');
  const answer = await judge(person, gate, { judgement, direction, show });
  judgements.push({ gate: gate.id, by: person, judgement, ...answer });
}

async function settle() {
  await until(() => unended().length === 0 && judging.size === 0, endMsMax, 500).catch(
    () => undefined,
  );
}

async function finalViews() {
  const found = [];
  for (const work of tasks.values())
    found.push({ work, view: await patiently(() => boss.shown(work.id)) });
  return found;
}

function patiently(work) {
  return until(work, 60_000, 300);
}

function report(stories) {
  const all = { views, works, ledger, judgements, stories, killed, delivered: boss.delivered };
  const rows = rowsOf(all);
  const gates = [...ledger.gates.values()];
  const states = gates.map(({ state, judgement }) => (state === 'judged' ? judgement : state));
  const figures = {
    tasks: tasks.size,
    gates: gates.length,
    'how they ended': JSON.stringify(counted(states)),
    'judged by the command line': judgements.filter(
      ({ by, told: isTold }) => by === terminal && isTold,
    ).length,
    'judgements refused': JSON.stringify(
      counted(judgements.filter(({ told: isTold }) => !isTold).map(({ code }) => code)),
    ),
    'answers lost': JSON.stringify(counted(judgements.flatMap(({ lost = [] }) => lost))),
    'gates of one task, at most': `${Math.max(0, ...views.map(({ view }) => view.gates.length))} of ${attentionLimits.gates}`,
    'outcome unknown': views.filter(({ work }) => work.isUnknown).length,
    kills: Object.values(killed).reduce((sum, each) => sum + each, 0),
    killed: JSON.stringify(killed),
    seconds: Math.round((performance.now() - startedMs) / 1_000),
    seed: options.seed,
  };
  if (!json) process.stdout.write(`${table(rows)}\n`);
  return told('gates while processes are killed', {
    json,
    claims: claimsOf(all),
    figures: json ? { ...figures, rows } : figures,
  });
}

function counted(names) {
  const counts = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
