// Durable messages while broker, senders and receivers are killed at random and started again.
//
//   npm run campaign:nothing-lost -- [--messages 200000] [--kills 36] [--seed 1] [--json]
//
// Exits with 1 when a claim does not hold.
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { mean, percentile } from '../bench/kernel/figures.mjs';
import { temporaryFolder } from '../bench/kernel/process.mjs';
import { nowMs } from './agent.mjs';
import { claim } from './claims.mjs';
import { MailLoad } from './mail-load.mjs';
import { Chance } from './random.mjs';
import { codes, numbersFrom, told } from './report.mjs';

/** Senders, and receivers. */
const pairs = 5;
/** Kills happen while this part of the messages is accepted: a kill after the load proves little. */
const killsFrom = 0.02;
const killsTo = 0.92;
const pollMs = 20;
const awayMsMax = 600;
const kinds = ['broker', 'sender', 'receiver'];
/** A sender tries as long as the campaign lasts: its order is only kept while nothing fails. */
const deadlineMs = 3_600_000;

const options = numbersFrom('campaign:nothing-lost', { messages: 200_000, kills: 36, seed: 1 });
const chance = new Chance(options.seed);
const folder = temporaryFolder('sigma-nothing-lost');
const load = new MailLoad({
  ...{ home: path.join(folder, 'home'), folder, senders: pairs, receivers: pairs, deadlineMs },
  ...{ messages: options.messages, seed: options.seed, window: 512, credit: 64, handleMs: 0 },
});
const kills = { broker: 0, sender: 0, receiver: 0 };
const restarts = [];
const recoveries = [];
/** Killed, and not yet started again. */
const away = new Set();

const startedMs = nowMs();
await load.start();
const loadedMs = nowMs();
if (!options.json) load.follow();
await killAtRandom();
const status = await load.drained();
const endedMs = nowMs();
await load.stop();
const { counts, claims } = load.judge();
for (const restart of restarts) measureRecovery(restart);
process.exitCode = report();

/** At `kills` random moments of the load's progress, each kind in its turn, in a random order. */
async function killAtRandom() {
  const order = chance.shuffled(
    Array.from({ length: options.kills }, (_, at) => kinds[at % kinds.length]),
  );
  const moments = order
    .map(() => options.messages * (killsFrom + chance.next() * (killsTo - killsFrom)))
    .sort((a, b) => a - b);
  const returning = [];
  for (const [at, kind] of order.entries()) {
    for (; load.accepted < moments[at]; await wait(pollMs)) load.check();
    returning.push(killOne(kind));
  }
  await Promise.all(returning);
}

async function killOne(kind) {
  const all = { broker: [load.broker], sender: load.senders, receiver: load.receivers }[kind];
  const alive = () => all.filter((each) => each.isRunning && !away.has(each));
  while (alive().length === 0) await wait(pollMs);
  const child = chance.pick(alive());
  away.add(child);
  const awayMs = chance.between(0, awayMsMax);
  kills[kind] += 1;
  const killedMs = nowMs();
  await load.kill(child);
  await wait(awayMs);
  child.start();
  away.delete(child);
  if (kind === 'broker') restarts.push({ killedMs, restartedMs: nowMs() });
}

/** From the start of the next broker to the first message that it accepts; not when that one was killed too early. */
function measureRecovery({ restartedMs }) {
  const next = restarts.find((each) => each.killedMs > restartedMs)?.killedMs ?? Infinity;
  const first = load.resumptions
    .filter((each) => each > restartedMs && each < next)
    .sort((a, b) => a - b)[0];
  if (first !== undefined) recoveries.push(first - restartedMs);
}

function report() {
  const seconds = (endedMs - loadedMs) / 1_000;
  const total = kills.broker + kills.sender + kills.receiver;
  const ms = (value) => `${value.toFixed(0)} ms`;
  const figures = {
    sent: counts.sent,
    accepted: counts.accepted,
    processed: counts.processed,
    'duplicates before dedupe': counts.duplicates,
    'deliveries of a later attempt': counts.redelivered,
    'dead letters': status.dead_letters,
    'refusals seen by senders': codes(load.refused),
    kills: `${total}: ${codes(kills)}`,
    'wall time': `${((endedMs - startedMs) / 1_000).toFixed(1)} s`,
    throughput: `${(counts.processed / seconds).toFixed(0)} messages/s, kills included`,
    'recovery, broker start to first ACCEPT': `median ${ms(percentile(recoveries, 50))}, mean ${ms(mean(recoveries))}, worst ${ms(Math.max(...recoveries))}, of ${recoveries.length}`,
  };
  return told('nothing lost', {
    json: options.json,
    figures,
    claims: [
      ...Object.values(claims),
      claim('nothing was left in a mailbox', status.messages === 0, status.messages),
      claim('no message became a dead letter', status.dead_letters === 0, status.dead_letters),
      claim('every process was killed as often as asked', total === options.kills, total),
    ],
  });
}
