// A broker on the network, and everybody who must not get in or must not get further; others are served on meanwhile.
//
//   npm run campaign:nobody-in -- [--json]
//
// Exits with 1 when a claim does not hold.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { ZeromqLink } from '../../dist/src/transport/zeromq.js';
import { linkKeysOf } from '../../dist/src/remote/identity.js';
import { megabytes, milliseconds, percentile, table } from '../bench/kernel/figures.mjs';
import { runSigma, temporaryFolder } from '../bench/kernel/process.mjs';
import { addressOf, connectTo, recordOf } from './agent.mjs';
import { attacks } from './attacks.mjs';
import { claim } from './claims.mjs';
import { brokerAt } from './processes.mjs';
import { codes, numbersFrom, told } from './report.mjs';
import { usageOf } from './usage.mjs';

const startMsMax = 30_000;
const askMs = 10;
const answerMsMax = 5_000;
/** What a broker may keep of an attack. */
const growthBytesMax = 128 * 1024 * 1024;
const memoryPollMs = 20;

const options = numbersFrom('campaign:nobody-in', {});
const folder = temporaryFolder('sigma-nobody-in');
const home = path.join(folder, 'home');
const tcp = `tcp://127.0.0.1:${await freePort()}`;
const served = [];
let isOver = false;

mkdirSync(home, { mode: 0o700 });
writeFileSync(path.join(home, 'config.json'), JSON.stringify({ listen: [tcp] }));
await sigma('keys', 'init');
const [alice, mallory] = [await identity('alice'), await identity('mallory')];
const broker = brokerAt(home, ({ how }, child) => {
  process.stderr.write(`the broker ended: ${how}\n${child.output}\n`);
  process.exit(1);
});
broker.start();
const bob = connectTo(home, 'bob');
await bob.ready({ withinMs: startMsMax });
await bob.register(recordOf('bob'));
bob.serve({ echo: ({ body }) => body });
const guest = connectTo(home, alice.agent, {
  link: new ZeromqLink(tcp, linkKeysOf(alice)),
  secretOf: () => Buffer.from(alice.secret, 'hex'),
});
await guest.ready({ withinMs: startMsMax });
await guest.register(recordOf('alice'));
const { seq: secretSeq } = await guest.post('agent:bob', 'secret', Buffer.from('for bob'));
const filesBefore = names(folder);

const asking = askOnAndOn();
const before = usageOf(broker.pid).rssBytes;
let peak = before;
const watching = watchMemory();
const at = { tcp, ipc: addressOf(home), home, alice, mallory, secretSeq };
const outcomes = [];
for (const attack of attacks) outcomes.push(await attempt(attack));
isOver = true;
await Promise.all([asking, watching]);
const { messages: kept } = await bob.mail.inbox();
const status = await bob.status();
const filesAfter = names(folder).filter((each) => !filesBefore.includes(each));
await guest.close();
await bob.close();
await broker.stop();
process.exitCode = report();

async function attempt(attack) {
  const first = await counts();
  const servedBefore = served.length;
  const startedMs = performance.now();
  const answer = await attack.run(at);
  const ms = performance.now() - startedMs;
  // What libzmq refuses is told by an event that comes after the fact.
  await wait(50);
  const last = await counts();
  const counted =
    attack.code === undefined ? '-' : (last[attack.code] ?? 0) - (first[attack.code] ?? 0);
  return { ...attack, answer, counted, ms, served: served.length - servedBefore };
}

async function counts() {
  const { refused, frames_corrupt } = await bob.status();
  return { ...refused, frames_corrupt };
}

/** Somebody from the network asks somebody on this machine, all the time. */
async function askOnAndOn() {
  while (!isOver) {
    const startedMs = performance.now();
    let failure = '';
    try {
      await guest.request('agent:bob', 'echo', Buffer.from('hello'), { deadlineMs: answerMsMax });
    } catch (error) {
      failure = error.code ?? String(error);
    }
    served.push({ ms: performance.now() - startedMs, failure });
    await wait(askMs);
  }
}

async function watchMemory() {
  for (; !isOver; await wait(memoryPollMs)) peak = Math.max(peak, usageOf(broker.pid).rssBytes);
}

async function identity(agent) {
  const file = path.join(folder, `${agent}.json`);
  await sigma('keys', 'add', agent, '--role', 'tester', '--out', file, '--bus', tcp);
  return JSON.parse(readFileSync(file, 'utf8'));
}

async function sigma(...args) {
  const { code, stderr } = await runSigma(args, { home });
  if (code !== 0) throw new Error(`sigma ${args.join(' ')} ended with ${code}: ${stderr}`);
}

function names(place) {
  return readdirSync(place, { recursive: true }).filter((each) => !/audit|store|LOG/.test(each));
}

/** Whose successor is free too, for topics. */
async function freePort() {
  const listening = (port) =>
    new Promise((resolve) => {
      const server = createServer();
      server.once('error', () => resolve(undefined));
      server.listen(port, '127.0.0.1', () => resolve(server));
    });
  while (true) {
    const first = await listening(0);
    const { port } = first.address();
    const second = await listening(port + 1);
    first.close();
    second?.close();
    if (second !== undefined) return port;
  }
}

function report() {
  const rows = outcomes.map(({ name, answer, code, counted, ms, served: others }) => [
    ...[name, answer, code ?? '-', counted, milliseconds(ms), others],
  ]);
  const head = ['ATTEMPT', 'TOLD', 'COUNTED AS', 'TIMES', 'MS', 'OTHERS SERVED'];
  if (!options.json) process.stdout.write(`${table([head, ...rows])}\n`);
  const failed = served.filter(({ failure }) => failure !== '');
  const times = served.map(({ ms }) => ms);
  const named = (which) => which.map(({ name, answer }) => `${name}: ${answer}`).join('; ');
  const isTold = ({ code, answer }) =>
    ['frames_corrupt', 'HANDSHAKE_FAILED', undefined].includes(code) || answer === code;
  const untold = outcomes.filter((each) => !isTold(each));
  const let_in = outcomes.filter(({ answer }) => ['WELCOME', 'ACCEPT', 'ANSWER'].includes(answer));
  const uncounted = outcomes.filter(({ counted }) => counted !== '-' && counted < 1);
  const silent = outcomes.filter(({ answer }) => answer === 'nothing');
  const starved = outcomes.filter(({ served: others, ms }) => others === 0 && ms > 20 * askMs);
  return told('nobody in', {
    json: options.json,
    figures: {
      attempts: outcomes.length,
      'requests of others meanwhile': `${served.length}, ${failed.length} failed`,
      'their answers, p50 / p99 / worst': [50, 99, 100]
        .map((each) => `${milliseconds(percentile(times, each))} ms`)
        .join(' / '),
      'broker memory, before / at most': `${megabytes(before)} / ${megabytes(peak)}`,
      'refusals counted by the broker': codes(status.refused),
      'corrupt frames counted': status.frames_corrupt,
    },
    claims: [
      claim('nobody got in or got an answer', let_in.length === 0, named(let_in)),
      claim('each was told its code', untold.length === 0, named(untold)),
      claim('none was met with silence', silent.length === 0, named(silent)),
      claim('each was counted', uncounted.length === 0, named(uncounted)),
      claim('others were served on meanwhile', starved.length === 0, named(starved)),
      claim('no request of theirs failed', failed.length === 0, failed[0]?.failure),
      claim(
        'the message to somebody else is still there, and no other',
        kept.length === 1 && kept[0].seq === secretSeq,
        kept.map(({ seq, from }) => `${seq} from ${from}`).join(),
      ),
      claim('no file was written where none belongs', filesAfter.length === 0, filesAfter.join()),
      claim(
        `the broker's memory grew by less than ${megabytes(growthBytesMax)}`,
        peak - before < growthBytesMax,
        megabytes(peak - before),
      ),
    ],
  });
}
