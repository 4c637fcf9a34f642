// A thousand tasks through four executors: how many a second, how long each takes, what it costs, and what dominates.
//
//   npm run bench:tasks -- [--tasks N] [--executors N] [--slots N] [--open N] [--json]
//
// Four kinds, one after the other: `nothing` (an answer without grounding of its context: the protocol alone), `answer`
// (grounded, asked of the PGC, citations verified), `command` (a program that does nothing), and the bus alone: as many
// durable messages there and back as one task takes, so that the rest is what tasks add.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { readTask } from '../../../dist/src/delegation/task/schema.js';
import { taskMessages, taskService } from '../../../dist/src/task/requests/messages.js';
import { connectTo, recordOf, until } from '../../campaign/agent.mjs';
import { agentAt, brokerAt } from '../../campaign/processes.mjs';
import { treeIn } from '../../campaign/tasks/tree.mjs';
import { numbersFrom } from '../../campaign/report.mjs';
import { megabytes, milliseconds, percentile, table } from '../kernel/figures.mjs';
import { temporaryFolder } from '../kernel/process.mjs';

const sigma = path.resolve(import.meta.dirname, '../../../services/cli/sigma.mjs');
const { json, ...options } = numbersFrom('bench:tasks', {
  tasks: 1_000,
  executors: 4,
  slots: 8,
  open: 200,
});
/** Durable messages of one task: the assignment, the response, the word that it is finished. */
const messagesPerTask = 3;
const ticksPerSecond = 100;

const home = temporaryFolder('sigma-bench-tasks');
// Programs must not stand in the home.
const place = temporaryFolder('sigma-bench-tasks-place');
const tree = treeIn(path.join(home, 'tree'));
const env = { ...process.env, SIGMA_HOME: home };
const indexed = spawnSync(process.execPath, [sigma, 'index', tree, '--json'], { env });
if (indexed.status !== 0) throw new Error(String(indexed.stderr));
const names = Array.from({ length: options.executors }, (_, at) => `executor-${at}`);
const children = [
  brokerAt(home),
  agentAt(home, 'manager', ['manager']),
  agentAt(home, 'pgc', ['pgc', tree]),
  ...names.map((name) =>
    agentAt(home, name, [
      'executor',
      '--name',
      name,
      '--slots',
      `${options.slots}`,
      '--root',
      place,
    ]),
  ),
];
for (const child of children) child.start();
const boss = connectTo(home, 'boss');
const ended = new Map();
let onEnd = () => undefined;
const rows = [];
let memoryRows = [];
try {
  await boss.ready({ withinMs: 60_000 });
  await boss.register(recordOf('boss'));
  await boss.receive(
    ({ type, body }) => {
      if (type !== taskMessages.finished.type) return;
      const view = taskMessages.finished.codec.decode(body);
      ended.set(view.id, { view, atMs: performance.now() });
      onEnd();
    },
    { messages: 256 },
  );
  const ready = async () => {
    const there = (await boss.agents({ role: 'executor' })).length === options.executors;
    const { services } = await boss.status();
    return (
      there &&
      services.some(({ name }) => name === taskService) &&
      (await boss.agents({ role: 'pgc' })).length > 0
    );
  };
  await until(ready, 120_000);
  await measure('warm up', 50, taskOfAnswer);
  rows.length = 0;
  await measure('nothing', options.tasks, (number) => ({
    task: `What does part ${number} start?`,
    context: `Part ${number} starts the device.`,
  }));
  await measure('answer', options.tasks, taskOfAnswer);
  await measure('command', options.tasks, () => ({
    task: 'run it',
    action: { argv: ['/bin/true'], read_only: true },
  }));
  await messages(options.tasks);
  memoryRows = rssOf();
} finally {
  await boss.close();
  for (const child of children.reverse()) await child.stop();
}
const head = [
  'KIND',
  'TASKS',
  'DONE',
  'A SECOND',
  'P50 MS',
  'P99 MS',
  'WAITS',
  'ASSIGNED',
  'RUNS',
  'REVIEWED',
  'CPU MS A TASK',
  'OF IT',
];
if (json) process.stdout.write(`${JSON.stringify({ rows })}\n`);
else process.stdout.write(`${table([head, ...rows.map(({ cells }) => cells)])}\n\n${memory()}\n`);

function taskOfAnswer(number) {
  const at = number % 24;
  return {
    task: `What does part_${at}_start do?`,
    grounding: {
      strategy: 'pgc_first',
      query_hints: [`What does part_${at}_start do?`],
      evidence_required: false,
    },
  };
}

/** So many tasks, `open` of them at once. */
async function measure(name, count, taskOf) {
  process.stderr.write(`${name} …\n`);
  const begun = new Map();
  const cpuBefore = cpuOf();
  const startedMs = performance.now();
  const { delegate } = taskMessages;
  let next = 0;
  const prefix = `${name.replace(' ', '-')}-`;
  const isDone = () => [...begun.keys()].filter((id) => ended.has(id)).length;
  await new Promise((resolve, reject) => {
    const more = () => {
      const open = begun.size - isDone();
      if (begun.size === count && open === 0) return resolve();
      for (let room = options.open - open; room > 0 && next < count; room -= 1) {
        const id = `${prefix}${next}`;
        const body = delegate.request.encode(
          readTask({ id, criticality: 'C1', ...taskOf(next) }, id),
        );
        begun.set(id, performance.now());
        next += 1;
        boss
          .request(`service:${taskService}`, delegate.type, body, { deadlineMs: 60_000 })
          .catch(reject);
      }
    };
    onEnd = more;
    more();
  });
  onEnd = () => undefined;
  const ms = performance.now() - startedMs;
  const views = [...begun.keys()].map((id) => ended.get(id));
  const latencies = [...begun].map(([id, atMs]) => ended.get(id).atMs - atMs);
  const cpu = cpuOf();
  const spent = Object.keys(cpu).map((each) => [each, cpu[each] - (cpuBefore[each] ?? 0)]);
  const total = spent.reduce((sum, [, each]) => sum + each, 0);
  const shares = spent
    .sort(([, a], [, b]) => b - a)
    .map(([each, part]) => `${each} ${Math.round((100 * part) / total)} %`);
  const completed = views.filter(({ view }) => view.state === 'completed').length;
  const stages = ['pending', 'assigned', 'running', 'reviewing'].map((state) =>
    milliseconds(
      percentile(
        views.map(({ view }) => timeIn(view, state)),
        50,
      ),
    ),
  );
  rows.push({
    name,
    cells: [
      ...[name, `${count}`, `${completed}`, ((1_000 * count) / ms).toFixed(0)],
      ...[milliseconds(percentile(latencies, 50)), milliseconds(percentile(latencies, 99))],
      ...stages,
      ...[((1_000 * total) / count).toFixed(1), shares.slice(0, 4).join(', ')],
    ],
  });
}

/** The same number of durable messages between two agents: what the broker takes of it. */
async function messages(count) {
  process.stderr.write('bus alone …\n');
  const echo = connectTo(home, 'echo');
  await echo.ready({ withinMs: 10_000 });
  await echo.register(recordOf('echo'));
  let got = 0;
  let resolve;
  const all = new Promise((done) => (resolve = done));
  await echo.receive(
    () => {
      got += 1;
      if (got === count * messagesPerTask) resolve();
    },
    { messages: 256 },
  );
  const body = Buffer.alloc(1_500);
  const startedMs = performance.now();
  const posts = Array.from({ length: count * messagesPerTask }, () =>
    boss.post('agent:echo', 'x', body),
  );
  await Promise.all([...posts, all]);
  const ms = performance.now() - startedMs;
  await echo.close();
  const perSecond = ((1_000 * count) / ms).toFixed(0);
  rows.push({
    name: 'bus alone',
    cells: [
      `${messagesPerTask} messages`,
      `${count}`,
      `${count}`,
      perSecond,
      '',
      '',
      '',
      '',
      '',
      '',
      '',
      '',
    ],
  });
}

/** Milliseconds in a state, by the notes of the task. */
function timeIn({ notes, finished_ms: endMs }, state) {
  return notes.reduce((sum, note, at) => {
    if (note.state !== state) return sum;
    return sum + ((notes[at + 1]?.at_ms ?? endMs) - note.at_ms);
  }, 0);
}

/** Seconds of processor by process; executors together. */
function cpuOf() {
  const spent = {};
  for (const { name, pid } of children) {
    const group = name.replace(/-\d+$/, '');
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    // utime, stime, and those of children that ended.
    const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0);
    spent[group] = (spent[group] ?? 0) + ticks / ticksPerSecond;
  }
  return spent;
}

function rssOf() {
  return children.map(({ name, pid }) => {
    const [, kilobytes = '0'] =
      /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return [name, Number(kilobytes) * 1024];
  });
}

function memory() {
  const lines = memoryRows.map(([name, bytes]) => [name, megabytes(bytes)]);
  return table([['PROCESS', 'RSS AT THE END'], ...lines]);
}
