// A thousand agents on one broker: how they come, what they cost, and that all of them hear what is published.
//
//   npm run campaign:scale -- [--agents 1000] [--processes 8] [--publications 100] [--idle 20]
//     [--heartbeat 1000] [--json]
//
// Exits with 1 when a claim does not hold; a time never fails it, but that of the idle broker's processor.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { megabytes, milliseconds, percentile } from '../bench/kernel/figures.mjs';
import { temporaryFolder } from '../bench/kernel/process.mjs';
import { connectTo, nowMs } from './agent.mjs';
import { claim } from './claims.mjs';
import { brokerAt, worker } from './processes.mjs';
import { codes, numbersFrom, told } from './report.mjs';
import { usageOf } from './usage.mjs';

const queries = 200;
const publicationBytes = 200;
const startMsMax = 60_000;
const fanOutMsMax = 60_000;
/** After the storm: what is left of it must not count as idling. */
const settleMs = 3_000;
/** Of one processor, by the idle broker: signs of life, and nothing else. */
const idlePercentMax = 8;
/** Besides those of agents: LevelDB's files, libzmq's own, the listening sockets, Node's. */
const descriptorsBesides = 256;
const topic = 'agent.speaker.news';

const options = numbersFrom('campaign:scale', {
  ...{ agents: 1_000, processes: 8, publications: 100, idle: 20, heartbeat: 1_000 },
});
const home = path.join(temporaryFolder('sigma-scale'), 'home');
const waiting = new Map();
const broker = brokerAt(home, ({ how }, child) => {
  process.stderr.write(`the broker ended: ${how}\n${child.output}\n`);
  process.exit(1);
});

broker.start();
const observer = connectTo(home, 'speaker', { isEphemeral: true });
await observer.ready({ withinMs: startMsMax });
const before = usageOf(broker.pid);
const crowds = await startCrowds();

const storm = await joinAll();
await wait(settleMs);
const listing = await listAll();
const idle = await beIdle();
const fanOut = await publishToAll();
const after = usageOf(broker.pid);
const status = await observer.status();
const perCrowd = usageOf(crowds[0].pid);
for (const each of crowds) await each.kill();
await observer.close();
await broker.stop();
process.exitCode = report();

async function startCrowds() {
  const names = Array.from({ length: options.agents }, (_, at) => `agent-${at}`);
  const all = Array.from({ length: options.processes }, (_, at) => {
    const own = names.filter((_name, number) => number % options.processes === at);
    return worker(
      `crowd-${at}`,
      'crowd.mjs',
      { home, names: own, topic, heartbeatMs: options.heartbeat },
      onMessage,
    );
  });
  const ready = all.map((each) => answer(each, 'ready'));
  for (const each of all) each.start();
  await Promise.all(ready);
  return all;
}

async function joinAll() {
  const startedMs = nowMs();
  const answers = await ask('join', 'joined');
  const times = answers.flatMap(({ joinedMs }) => joinedMs.map((each) => each - startedMs));
  const failed = answers.reduce((sum, each) => sum + each.failed, 0);
  return { times, failed };
}

async function listAll() {
  const times = [];
  let online = 0;
  for (let at = 0; at < queries; at += 1) {
    const startedMs = performance.now();
    const agents = await observer.agents({ role: 'tester', project: 'campaign' });
    times.push(performance.now() - startedMs);
    online = agents.filter(({ state }) => state === 'online').length;
  }
  return { times, online };
}

async function beIdle() {
  const ends = () => [broker, ...crowds].map(({ pid }) => usageOf(pid).cpuS);
  const first = ends();
  const startedMs = performance.now();
  await wait(options.idle * 1_000);
  const seconds = (performance.now() - startedMs) / 1_000;
  const last = ends();
  const percents = last.map((each, at) => ((each - first[at]) / seconds) * 100);
  const crowdsSum = percents.slice(1).reduce((sum, each) => sum + each, 0);
  return { broker: percents[0], crowds: crowdsSum };
}

async function publishToAll() {
  await ask('subscribe', 'subscribed');
  const body = Buffer.alloc(publicationBytes, 'n');
  const one = await publish(1, body);
  const many = await publish(options.publications, body);
  return { one, many, heard: await hear() };
}

/** Milliseconds from the first of `count` publications until every agent has all of them. */
async function publish(count, body) {
  const before = Math.max(...(await hear()).counts);
  const startedMs = nowMs();
  await Promise.all(Array.from({ length: count }, () => observer.publish(topic, 'campaign', body)));
  while (nowMs() - startedMs < fanOutMsMax) {
    const { counts, lastMs } = await hear();
    if (counts.every((each) => each === before + count)) return lastMs - startedMs;
    await wait(20);
  }
  return NaN;
}

async function hear() {
  const answers = await ask('tell', 'heard');
  const sum = (pick) => answers.reduce((total, each) => total + pick(each), 0);
  return {
    counts: answers.flatMap(({ counts }) => counts),
    lastMs: Math.max(...answers.map(({ lastMs }) => lastMs)),
    again: sum(({ again }) => again),
    missed: sum(({ missed }) => missed),
    live: sum(({ live }) => live),
    failed: sum(({ failed }) => failed),
  };
}

function ask(what, reply) {
  return Promise.all(
    crowds.map((each) => {
      const answered = answer(each, reply);
      each.send({ type: what });
      return answered;
    }),
  );
}

function answer(child, type) {
  return new Promise((resolve) => waiting.set(`${child.name} ${type}`, resolve));
}

function onMessage(message, child) {
  if (message.type === 'died') {
    process.stderr.write(`${child.name} ended: ${message.how}\n${child.output}\n`);
    process.exit(1);
  }
  waiting.get(`${child.name} ${message.type}`)?.(message);
}

function report() {
  const { agents, publications } = options;
  const grown = after.rssBytes - before.rssBytes;
  const perAgent = (after.descriptors - before.descriptors) / agents;
  const perClient = perCrowd.descriptors / Math.ceil(agents / options.processes);
  const [, soft, hard] = /Max open files\s+(\d+)\s+(\d+)/.exec(
    readFileSync(`/proc/self/limits`, 'utf8'),
  );
  const lost = fanOut.heard.counts.filter((each) => each < 1 + publications).length;
  const figures = {
    agents: `${agents} in ${options.processes} processes, each wishes to show life every ${options.heartbeat} ms`,
    'storm: registered, first / median / last': ['0', '50', '100']
      .map((percent) => `${percentile(storm.times, Number(percent)).toFixed(0)} ms`)
      .join(' / '),
    'agents(), all of them, p50 / p99': `${milliseconds(percentile(listing.times, 50))} / ${milliseconds(percentile(listing.times, 99))} ms, of ${queries}`,
    'broker memory, alone / with agents': `${megabytes(before.rssBytes)} / ${megabytes(after.rssBytes)}, ${(grown / agents / 1024).toFixed(0)} KB an agent`,
    'broker processor when idle': `${idle.broker.toFixed(1)} % over ${options.idle} s`,
    'all crowds, processor when idle': `${idle.crowds.toFixed(1)} %`,
    'one publication to all': `${fanOut.one.toFixed(0)} ms`,
    [`${publications} publications to all`]: `${fanOut.many.toFixed(0)} ms, ${((agents * publications) / fanOut.many / 1_000).toFixed(2)} million deliveries/s`,
    'publications lost / heard twice': `${fanOut.heard.missed} / ${fanOut.heard.again}`,
    'broker descriptors, alone / with agents': `${before.descriptors} / ${after.descriptors}, ${perAgent.toFixed(2)} an agent; limit ${soft} (hard ${hard})`,
    'client process, descriptors': `${perCrowd.descriptors}, ${perClient.toFixed(2)} an agent`,
    'LimitNOFILE of a broker': `${Math.round(perAgent)} x agents + ${descriptorsBesides}: ${Math.round(perAgent) * agents + descriptorsBesides} for ${agents}`,
    'zmq maxSockets': '8192 a process; a broker uses 2 a listener, a client 2 an agent',
    'refusals counted by the broker': codes(status.refused),
  };
  return told('scale', {
    json: options.json,
    figures,
    claims: [
      claim('every agent was registered', storm.failed === 0, `${storm.failed} were not`),
      claim('every agent is listed online', listing.online === agents, listing.online),
      claim('every agent has heard all publications', lost === 0, `${lost} have not`),
      claim('no agent has heard one twice', fanOut.heard.again === 0, fanOut.heard.again),
      claim('no session was lost', fanOut.heard.live === agents, fanOut.heard.live),
      claim(
        `an idle broker uses less than ${idlePercentMax} % of a processor`,
        idle.broker < idlePercentMax,
        `${idle.broker.toFixed(1)} %`,
      ),
    ],
  });
}
