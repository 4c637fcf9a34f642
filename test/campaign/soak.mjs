// Mixed load at half of what this machine can do, for long: what grows?
//
//   npm run campaign:soak -- [--minutes 20] [--workers 3] [--json]
//
// Exits with 1 when a claim does not hold.
import { readdirSync, statSync } from 'node:fs';
import { cpus } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { megabytes, milliseconds, percentile } from '../bench/kernel/figures.mjs';
import { temporaryFolder } from '../bench/kernel/process.mjs';
import { connectTo, until } from './agent.mjs';
import { claim } from './claims.mjs';
import { brokerAt, worker } from './processes.mjs';
import { codes, numbersFrom, told } from './report.mjs';
import { machineCpuS, slopeOf, usageOf } from './usage.mjs';

/** More than can be done, so that it tells what can. */
const unboundedPerS = 1e6;
const rehearsalMs = 5_000;
const calibrationMs = 10_000;
const share = 0.5;
const sampleMs = 2_000;
const startMsMax = 60_000;
const drainMsMax = 60_000;
/** Of the time; caches fill and V8 finds its heap size. */
const warmUp = 0.25;
/** Growth that a sawtooth of collections cannot be told from in a run of minutes. */
const growthBytesPerMinuteMax = 1024 * 1024;
/** Over the whole time; those who come and go have some at any moment. */
const descriptorsGrownMax = 8;
const slowerMax = 2;
/** What a round costs the broker: unlike a time, hardly changed by whatever else the machine does. */
const dearerMax = 1.25;
/** Below it a p99 says more about the machine than about the broker. */
const slowMsMin = 20;

const options = numbersFrom('campaign:soak', { minutes: 20, workers: 3 });
const home = path.join(temporaryFolder('sigma-soak'), 'home');
const waiting = new Map();
const totals = { rounds: 0, received: 0, heard: 0, missed: 0 };
const failures = {};
const latencies = [];
const samples = [];
let isMeasured = false;
let startedMs = 0;

const broker = brokerAt(home, onMessage);
broker.start();
const observer = connectTo(home, 'observer', { isEphemeral: true });
await observer.ready({ withinMs: startMsMax });
const names = Array.from({ length: options.workers }, (_, at) => `worker-${at}`);
const workers = names.map((name, at) => {
  const peer = names[(at + 1) % names.length];
  return worker(name, 'soak-worker.mjs', { home, name, peer }, onMessage);
});
const ready = workers.map((each) => answer(each, 'ready'));
for (const each of workers) each.start();
await Promise.all(ready);

const perSMax = await calibrate();
setRate(perSMax * share);
await soak();
setRate(0);
const stopped = workers.map((each) => answer(each, 'stopped'));
for (const each of workers) each.send({ type: 'stop' });
await Promise.all(stopped);
const status = await until(async () => {
  const last = await observer.status();
  return last.messages === 0 && last;
}, drainMsMax);
for (const each of workers) await each.kill();
await observer.close();
const storeBytes = bytesOf(path.join(home, 'bus/store'));
await broker.stop();
process.exitCode = report();

/** Rounds a second that all workers together reach. */
async function calibrate() {
  setRate(unboundedPerS);
  await wait(rehearsalMs);
  const before = totals.rounds;
  const beganMs = performance.now();
  await wait(calibrationMs);
  return ((totals.rounds - before) / (performance.now() - beganMs)) * 1_000;
}

async function soak() {
  for (const each of Object.keys(totals)) totals[each] = 0;
  isMeasured = true;
  startedMs = performance.now();
  const endMs = startedMs + options.minutes * 60_000;
  for (let at = 1; performance.now() < endMs; at += 1) {
    const minutes = (performance.now() - startedMs) / 60_000;
    samples.push({
      minutes,
      ...usageOf(broker.pid),
      rounds: totals.rounds,
      machineCpuS: machineCpuS(),
      storeBytes: bytesOf(path.join(home, 'bus/store')),
    });
    if (!options.json && at % 30 === 0) follow();
    await wait(Math.max(0, Math.min(startedMs + at * sampleMs, endMs) - performance.now()));
  }
}

function follow() {
  const { minutes, rssBytes, descriptors, storeBytes: store } = samples.at(-1);
  const recent = latencies.filter((each) => each.minutes > minutes - 1);
  process.stderr.write(
    `${minutes.toFixed(1)} min: ${megabytes(rssBytes)}, ${descriptors} descriptors, store ${megabytes(store)}, p99 ${milliseconds(p99(recent))} ms, failures: ${codes(failures)}\n`,
  );
}

function setRate(perS) {
  for (const each of workers) each.send({ type: 'rate', perS: perS / workers.length });
}

function answer(child, type) {
  return new Promise((resolve) => waiting.set(`${child.name} ${type}`, resolve));
}

function onMessage(message, child) {
  if (message.type === 'died') {
    process.stderr.write(`${child.name} ended: ${message.how}\n${child.output}\n`);
    process.exit(1);
  }
  if (message.type === 'figures') take(message);
  waiting.get(`${child.name} ${message.type}`)?.(message);
}

function take(message) {
  for (const each of Object.keys(totals)) totals[each] += message[each];
  if (!isMeasured) return;
  for (const [code, count] of Object.entries(message.failures))
    failures[code] = (failures[code] ?? 0) + count;
  const minutes = (performance.now() - startedMs) / 60_000;
  const { requestMs, postMs, publishMs, listMs, visitMs } = message;
  latencies.push({ minutes, requestMs, postMs, publishMs, listMs, visitMs });
}

/** Over requests and durable messages, what agents do all the time. */
function p99(parts) {
  return percentile(
    parts.flatMap(({ requestMs, postMs }) => [...requestMs, ...postMs]),
    99,
  );
}

function bytesOf(folder) {
  let bytes = 0;
  for (const name of readdirSync(folder))
    bytes += statSync(path.join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
  return bytes;
}

function report() {
  const warm = samples.filter(({ minutes }) => minutes > options.minutes * warmUp);
  const slope = (pick) => slopeOf(warm.map((each) => ({ x: each.minutes, y: pick(each) })));
  const growth = slope(({ rssBytes }) => rssBytes);
  const warmMinutes = warm.at(-1).minutes - warm[0].minutes;
  const descriptors = slope((each) => each.descriptors) * warmMinutes;
  const between = (from, to) => latencies.filter(({ minutes }) => minutes >= from && minutes < to);
  const third = options.minutes / 3;
  const [first, last] = [p99(between(0, third)), p99(between(2 * third, Infinity))];
  const wholeMinutes = Array.from({ length: Math.ceil(options.minutes) }, (_, at) =>
    milliseconds(p99(between(at, at + 1))),
  );
  const within = (from, to) => {
    const part = samples.filter(({ minutes }) => minutes >= from && minutes < to);
    const [a, b] = [part[0], part.at(-1)];
    const seconds = (b.minutes - a.minutes) * 60;
    return {
      costMs: ((b.cpuS - a.cpuS) / (b.rounds - a.rounds)) * 1e6,
      busyPercent: ((b.machineCpuS - a.machineCpuS) / seconds / cpus().length) * 100,
    };
  };
  const [early, late] = [within(0, third), within(2 * third, Infinity)];
  const kind = (name) => {
    const all = latencies.flatMap((each) => each[name]);
    return `${milliseconds(percentile(all, 50))} / ${milliseconds(percentile(all, 99))} ms`;
  };
  const cpu = ((samples.at(-1).cpuS - samples[0].cpuS) / (options.minutes * 60)) * 100;
  const perMinute = `${(growth / 1024 / 1024).toFixed(3)} MB/min`;
  const failed = Object.values(failures).reduce((sum, each) => sum + each, 0);
  const figures = {
    'measured maximum': `${perSMax.toFixed(0)} rounds/s, each a request and a durable message, every 4th a publication`,
    rate: `${(totals.rounds / options.minutes / 60).toFixed(0)} rounds/s for ${options.minutes} min, ${options.workers} workers`,
    done: `${totals.rounds} rounds, ${totals.received} durable messages processed, ${totals.heard} publications heard, ${totals.missed} missed`,
    'request p50 / p99': kind('requestMs'),
    'durable message p50 / p99': kind('postMs'),
    'publication p50 / p99': kind('publishMs'),
    'agents() p50 / p99': kind('listMs'),
    'connect, ask, leave p50 / p99': kind('visitMs'),
    'p99 by minute, ms': wholeMinutes.join(' '),
    'p99 first third / last third': `${milliseconds(first)} / ${milliseconds(last)} ms`,
    'broker memory, first / warm / last': `${megabytes(samples[0].rssBytes)} / ${megabytes(warm[0].rssBytes)} / ${megabytes(samples.at(-1).rssBytes)}`,
    'broker memory, slope when warm': perMinute,
    'broker descriptors, first / last': `${samples[0].descriptors} / ${samples.at(-1).descriptors}, slope over the warm time ${descriptors.toFixed(1)}`,
    'broker processor': `${cpu.toFixed(0)} %`,
    'broker processor for 1000 rounds, first / last third': `${early.costMs.toFixed(0)} / ${late.costMs.toFixed(0)} ms`,
    'machine busy, first / last third': `${early.busyPercent.toFixed(0)} / ${late.busyPercent.toFixed(0)} %`,
    'store, largest / drained': `${megabytes(Math.max(...samples.map((each) => each.storeBytes)))} / ${megabytes(storeBytes)}`,
    'failures seen by agents': codes(failures),
    'refusals counted by the broker': codes(status.refused),
  };
  return told('soak', {
    json: options.json,
    figures,
    claims: [
      claim(
        `memory grows by less than ${megabytes(growthBytesPerMinuteMax)} a minute`,
        growth < growthBytesPerMinuteMax,
        perMinute,
      ),
      claim('descriptors do not grow', descriptors < descriptorsGrownMax, descriptors),
      claim(
        `the last third is not ${slowerMax} times as slow as the first`,
        last <= Math.max(slowMsMin, slowerMax * first),
        `${milliseconds(first)} and ${milliseconds(last)} ms`,
      ),
      claim(
        `a round does not cost ${dearerMax} times as much in the last third`,
        late.costMs < dearerMax * early.costMs,
        `${early.costMs.toFixed(0)} and ${late.costMs.toFixed(0)} ms for 1000`,
      ),
      claim(
        'every publication was heard, or fetched',
        totals.heard > 0 && totals.missed === 0,
        `${totals.heard} heard, ${totals.missed} missed`,
      ),
      claim('nothing failed', failed === 0, codes(failures)),
      claim('no message became a dead letter', status.dead_letters === 0, status.dead_letters),
    ],
  });
}
