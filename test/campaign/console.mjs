// What an open page of the console costs a loaded bus, and whether the page stays smooth: a thousand agents, five hundred
// shards, twenty thousand tasks, messages and requests at a pace, a browser that goes from view to view. The page is open and
// closed in turns, so that what else the machine does hits both.
//
//   npm run campaign:console -- [--agents 1000] [--shards 500] [--tasks 20000] [--posts 1000] [--requests 500]
//     [--bytes 1024] [--talking 20] [--processes 1] [--rounds 3] [--seconds 60] [--json]
//
// The console runs at a lower priority, and in these rounds the browser, too: they tell what the page costs the bus, where a
// person's browser would have a machine of its own. A last round has the browser at the usual priority: it tells whether the
// page is smooth. Needs Chromium. Exits with 1 when a claim does not hold.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { milliseconds, table } from '../bench/kernel/figures.mjs';
import { temporaryFolder } from '../bench/kernel/process.mjs';
import { connectTo, until } from './agent.mjs';
import { claim } from './claims.mjs';
import { framesIn, frameMsMax } from './console/frames.mjs';
import { indexedLattice } from './console/lattice.mjs';
import { writeTasks } from './console/tasks.mjs';
import { agentAt, brokerAt, Child, worker } from './processes.mjs';
import { codes, numbersFrom, told } from './report.mjs';
import { machineCpuS, treeCpuS, usageOf } from './usage.mjs';

const sigma = path.resolve(import.meta.dirname, '../../services/cli/sigma.mjs');
const executablePath = '/usr/bin/chromium';
/** The lowest: it stands for a browser on another machine. */
const niceness = 19;
const startMsMax = 120_000;
/** After the page was opened or closed: what that costs is not of the round. */
const settleMs = 3_000;
/** To list all agents costs the broker something. */
const pollMs = 1_000;
/** Of a processor, in percent, by a process at rest. */
const busyMax = 5;
const blankSeconds = 10;
const ratioMax = 1.2;
const smoothShareMin = 0.95;
const queues = 100;
/** Of whose processor time each round tells. */
const parties = ['broker', 'load', 'host', 'manager', 'console', 'browser', 'machine'];
/** What shows that each is there, and how far it is scrolled at once; the map comes nearer. */
const views = [
  { name: 'Agents', shows: 'table[aria-rowcount]', scroll: 600 },
  { name: 'Map', shows: '.lattice-canvas canvas', scroll: -100 },
  { name: 'Tasks', shows: 'table tbody tr', scroll: 600 },
  { name: 'Health', shows: '.chart canvas', scroll: 300 },
];

const { json, ...options } = numbersFrom('campaign:console', {
  ...{ agents: 1_000, shards: 500, tasks: 20_000, posts: 1_000, requests: 500 },
  ...{ bytes: 1_024, talking: 20, processes: 1, rounds: 3, seconds: 60 },
});
if (!existsSync(executablePath)) {
  process.stderr.write(`campaign:console: there is no ${executablePath}\n`);
  process.exit(2);
}
const home = path.join(temporaryFolder('sigma-console'), 'home');
mkdirSync(home, { recursive: true, mode: 0o700 });
const names = Array.from({ length: options.agents }, (_, at) => `agent-${at}`);
const waiting = new Map();

follow('indexing the shards');
const tree = indexedLattice(home, options.shards);
follow('writing the tasks');
await writeTasks(home, { count: options.tasks, owners: names.slice(0, queues) });
follow('starting');
const broker = brokerAt(home, onMessage);
const manager = agentAt(home, 'manager', ['manager']);
const host = agentAt(home, 'pgc', ['pgc', tree]);
for (const each of [broker, manager, host]) each.start();
const observer = connectTo(home, 'observer', { role: 'client', isEphemeral: true });
await observer.ready({ withinMs: startMsMax });
const [requester, ...crowds] = await startLoad();
await until(
  async () => {
    const all = await observer.agents({});
    const online = (role) =>
      all.filter((each) => each.record.role === role && each.state === 'online');
    return online('tester').length >= options.agents && online('pgc').length >= options.shards;
  },
  startMsMax,
  pollMs,
);
const served = lowered('console', [sigma, 'console', tree, '--port', '0']);
served.start();
let visitor = await visitorAt(niceness);
await until(() => /^ready /m.test(served.output), startMsMax);
const origin = /^ready (\S+)$/m.exec(served.output)[1];

follow('waiting until the manager has read its tasks');
for (let busy = 100; busy > busyMax;) {
  const [firstS, fromMs] = [usageOf(manager.pid).cpuS, performance.now()];
  await wait(settleMs);
  busy = ((usageOf(manager.pid).cpuS - firstS) / (performance.now() - fromMs)) * 100_000;
}
for (const each of [requester, ...crowds]) await asked(each, { type: 'send' });
await visit({ type: 'open', link: linkOfConsole() });
await visit({ type: 'close' });
const rounds = [];
for (const isOpen of turns(options.rounds)) rounds.push(await round(isOpen));
await asked(visitor, { type: 'end' }, 'died');

visitor = await visitorAt(0);
follow('an empty page');
await visit({ type: 'open', link: 'about:blank' });
const { frames } = await visit({ type: 'walk', seconds: blankSeconds, isBlank: true });
const blank = framesIn(frames, blankSeconds);
await visit({ type: 'open', link: linkOfConsole() });
const smooth = await round(true);
const status = await observer.status();
await asked(visitor, { type: 'end' }, 'died');
await served.stop();
await observer.close();
for (const each of [requester, ...crowds]) await each.kill();
for (const each of [host, manager, broker]) await each.stop();
process.exitCode = report();

async function visitorAt(nice) {
  const its = lowered(
    `visitor-${nice}`,
    [
      path.resolve(import.meta.dirname, 'console/visitor.mjs'),
      JSON.stringify({ executablePath, niceness: nice, views }),
    ],
    nice,
  );
  const ready = answer(its, 'ready');
  its.start();
  await ready;
  return its;
}

/** Open, closed, closed, open, … */
function turns(count) {
  return Array.from({ length: count }, (_, at) =>
    at % 2 === 0 ? [true, false] : [false, true],
  ).flat();
}

async function round(isOpen) {
  follow(isOpen ? 'open' : 'closed');
  if (isOpen) await visit({ type: 'open', link: origin });
  await wait(settleMs);
  const all = [requester, ...crowds];
  const counted = () => Promise.all(all.map((each) => asked(each, { type: 'count' })));
  const processes = { broker, manager, host, console: served };
  const used = () => ({
    machine: machineCpuS(),
    browser: treeCpuS(visitor.pid),
    load: all.reduce((sum, { pid }) => sum + usageOf(pid).cpuS, 0),
    ...Object.fromEntries(
      Object.entries(processes).map(([name, { pid }]) => [name, usageOf(pid).cpuS]),
    ),
  });
  const [, ...before] = await counted();
  const first = used();
  const { seconds } = options;
  const startedMs = performance.now();
  const walked = isOpen ? await visit({ type: 'walk', seconds }) : await wait(seconds * 1_000);
  const last = used();
  const elapsedS = (performance.now() - startedMs) / 1_000;
  const [figures, ...after] = await counted();
  if (isOpen) await visit({ type: 'close' });
  const sum = (counts, what) => counts.reduce((total, each) => total + each[what], 0);
  const percent = Object.fromEntries(
    Object.keys(first).map((name) => [name, ((last[name] - first[name]) / elapsedS) * 100]),
  );
  return {
    ...{ isOpen, ...figures, percent, seen: walked?.seen ?? [] },
    takenPerS: (sum(after, 'taken') - sum(before, 'taken')) / elapsedS,
    postsFailed: sum(after, 'failed') - sum(before, 'failed'),
    ...(isOpen && { frames: framesIn(walked.frames, seconds) }),
  };
}

async function startLoad() {
  const { agents, processes, posts, requests: perS, bytes } = options;
  // Most agents are silent most of the time.
  const all = names.filter((_, at) => at % Math.ceil(agents / options.talking) === 0);
  const its = { home, all, bytes, echo: 'campaign.echo' };
  const crowds = Array.from({ length: processes }, (_, at) =>
    worker(
      `crowd-${at}`,
      'console/crowd.mjs',
      {
        ...{ ...its, perS: posts / processes },
        names: names.slice((at * agents) / processes, ((at + 1) * agents) / processes),
      },
      onMessage,
    ),
  );
  const children = [
    worker('requester', 'console/requester.mjs', { ...its, perS }, onMessage),
    ...crowds,
  ];
  const ready = children.map((each) => answer(each, 'ready'));
  for (const each of children) each.start();
  await Promise.all(ready);
  return children;
}

/** A process, and all that it starts, that gives way to others. */
function lowered(name, args, nice = niceness) {
  return new Child(
    name,
    () =>
      spawn('nice', ['-n', `${nice}`, process.execPath, ...args], {
        env: { ...process.env, SIGMA_HOME: home, SIGMA_BUS: '' },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      }),
    onMessage,
  );
}

function linkOfConsole() {
  const env = { ...process.env, SIGMA_HOME: home, SIGMA_BUS: '' };
  const args = [sigma, 'console', '--link', '--json'];
  return JSON.parse(execFileSync(process.execPath, args, { env, encoding: 'utf8' })).link;
}

async function visit(what) {
  const its = await asked(visitor, what, 'done');
  if (its.error !== undefined) throw new Error(`${what.type}: ${its.error}`);
  return its;
}

function asked(child, what, reply = 'counted') {
  const answered = answer(child, reply);
  child.send(what);
  return answered;
}

function answer(child, type) {
  return new Promise((resolve) => waiting.set(`${child.name} ${type}`, resolve));
}

function onMessage({ type, ...message }, child) {
  const known = waiting.get(`${child.name} ${type}`);
  if (type === 'died' && known === undefined) {
    process.stderr.write(`${child.name} ended: ${message.how}\n${child.output}\n`);
    process.exit(1);
  }
  known?.(message);
}

function follow(what) {
  process.stderr.write(`${what}\n`);
}

function report() {
  const of = (isWanted) => rounds.filter(({ isOpen }) => isOpen === isWanted);
  const [open, closed] = [of(true), of(false)];
  const ratios = open.map(({ p99Ms }, at) => p99Ms / closed[at].p99Ms);
  const ratio = median(open.map(({ p99Ms }) => p99Ms)) / median(closed.map(({ p99Ms }) => p99Ms));
  const spread = (all, text) =>
    `${text(median(all))} (${text(Math.min(...all))}..${text(Math.max(...all))})`;
  const sum = (all) => all.reduce((total, each) => total + each, 0);
  const { windows, late, worstMs } = smooth.frames;
  const all = [...rounds, smooth];
  const failed = all.reduce(
    (count, each) => count + sum(Object.values(each.failed)) + each.postsFailed,
    0,
  );
  const failures = {};
  for (const [code, count] of all.flatMap((each) => Object.entries(each.failed)))
    failures[code] = (failures[code] ?? 0) + count;
  const shown = (name) =>
    smooth.seen.filter((each) => each.name === name).map(({ shownMs }) => shownMs);
  if (!json)
    process.stdout.write(
      `${table([['ROUND', 'requests/s', 'p50 ms', 'p99 ms', 'worst ms', 'taken/s', ...parties.map((each) => `${each} %`), 'late s', 'worst frame ms'], ...all.map(rowOf)])}\n`,
    );
  return told('console', {
    json,
    figures: {
      'on the bus': `${options.agents} agents in ${options.processes} processes, ${options.shards} shards of one host, ${options.tasks} tasks, ${options.posts} messages and ${options.requests} requests with their answers a second of ${options.bytes} bytes`,
      rounds: `${rounds.length} of ${options.seconds} s, open and closed in turns; one more for the frames`,
      'p50, open / closed': [open, closed]
        .map((all) =>
          spread(
            all.map(({ p50Ms }) => p50Ms),
            milliseconds,
          ),
        )
        .join(' / '),
      'p99, open / closed': [open, closed]
        .map((all) =>
          spread(
            all.map(({ p99Ms }) => p99Ms),
            milliseconds,
          ),
        )
        .join(' / '),
      'p99 open to closed, of medians': ratio.toFixed(2),
      'p99 open to closed, of neighbours': spread(ratios, (each) => each.toFixed(2)),
      [`seconds without a frame over ${frameMsMax} ms`]: `${windows - late} of ${windows}, worst ${milliseconds(worstMs)} ms; browser at the usual priority`,
      'of an empty page under the same load': `${blank.windows - blank.late} of ${blank.windows}, worst ${milliseconds(blank.worstMs)} ms`,
      'until shown: agents / map / tasks / health': views
        .map(({ name }) => `${milliseconds(median(shown(name)))} ms`)
        .join(' / '),
      'requests that failed': codes(failures),
      'refusals counted by the broker': codes(status.refused),
    },
    claims: [
      claim('no request and no message failed', failed === 0, failed),
      claim(
        `an open page costs requests at most ${ratioMax} times their p99`,
        ratio <= ratioMax,
        ratio.toFixed(2),
      ),
      claim(
        `${smoothShareMin * 100} % of seconds have no frame over ${frameMsMax} ms`,
        windows - late >= smoothShareMin * windows,
        `${windows - late} of ${windows}`,
      ),
    ],
  });
}

/** Between the two in the middle of an even number: the lower of them would favour the claim. */
function median(all) {
  const sorted = all.toSorted((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}

function rowOf({ isOpen, perSecond, p50Ms, p99Ms, worstMs, takenPerS, percent, frames: its }) {
  const whole = (value) => value.toFixed(0);
  return [
    isOpen ? 'open' : 'closed',
    ...[
      whole(perSecond),
      milliseconds(p50Ms),
      milliseconds(p99Ms),
      whole(worstMs),
      whole(takenPerS),
    ],
    ...parties.map((name) => whole(percent[name])),
    ...(its === undefined ? ['-', '-'] : [its.late, whole(its.worstMs)]),
  ];
}
