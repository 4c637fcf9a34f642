// Durable messages while the disk of the broker's store is full for a while, several times.
//
//   npm run campaign:disk-full -- [--messages 60000] [--fills 4] [--seed 1] [--json]
//
// Exits with 1 when a claim does not hold, with 2 where a tmpfs may not be mounted (it needs root).
import { statfsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { temporaryFolder } from '../bench/kernel/process.mjs';
import { nowMs } from './agent.mjs';
import { claim } from './claims.mjs';
import { MailLoad } from './mail-load.mjs';
import { Chance } from './random.mjs';
import { codes, numbersFrom, told } from './report.mjs';
import { smallDisk } from './small-disk.mjs';

const pairs = 5;
const diskMebibytes = 64;
const fullMs = { low: 2_000, high: 5_000 };
const pollMs = 20;
/** Short, so that senders are told instead of waiting until there is space again. */
const deadlineMs = 2_000;
/** Messages a second of each sender: the load has to last over all fills. */
const perS = 400;
/** At most so long after there is space again, a store must serve. */
const backMsMax = 60_000;

const options = numbersFrom('campaign:disk-full', { messages: 60_000, fills: 4, seed: 1 });
const chance = new Chance(options.seed);
const disk = mountedOrEnd();
const folder = temporaryFolder('sigma-disk-full');
const load = new MailLoad({
  ...{ home: disk.path, folder, senders: pairs, receivers: pairs, deadlineMs, perS },
  ...{ messages: options.messages, seed: options.seed, window: 256, credit: 64, handleMs: 0 },
  // By default it may grow larger than this disk.
  config: { auditBytesMax: 1024 * 1024, auditFilesMax: 2 },
});
const fills = [];

const startedMs = nowMs();
await load.start();
if (!options.json) load.follow();
const { pid } = load.broker;
for (let at = 0; at < options.fills; at += 1) await fillOnce((at + 0.5) / options.fills);
const status = await load.drained();
const endedMs = nowMs();
const isSamePid = load.broker.pid === pid && load.broker.isRunning && status.pid === pid;
await load.stop();
process.exitCode = report(load.judge());

/** At this part of the load. */
async function fillOnce(part) {
  for (; load.accepted < options.messages * part; await wait(pollMs)) load.check();
  disk.fill();
  const filledMs = nowMs();
  // While it is full, whatever LevelDB gives back is taken again.
  const untilMs = filledMs + chance.between(fullMs.low, fullMs.high);
  let failedMs;
  while (nowMs() < untilMs) {
    const state = (await load.status())?.store_state;
    if (state === 'failed') failedMs ??= nowMs() - filledMs;
    disk.fill();
    await wait(pollMs);
  }
  const [accepted, processed] = [load.accepted, load.processed];
  disk.free();
  const freedMs = nowMs();
  while (load.accepted === accepted) {
    load.check();
    if (nowMs() - freedMs > backMsMax)
      throw new Error(`nothing is accepted again; ${used()} in use\n${load.broker.output}`);
    await wait(pollMs);
  }
  const backMs = nowMs() - freedMs;
  fills.push({
    fullMs: freedMs - filledMs,
    failedMs,
    backMs,
    processed: load.processed - processed,
  });
}

function mountedOrEnd() {
  try {
    return smallDisk('sigma-disk', diskMebibytes);
  } catch {
    process.stderr.write('campaign:disk-full: a tmpfs may not be mounted here; it needs root\n');
    process.exit(2);
  }
}

function used() {
  const { bsize, blocks, bfree } = statfsSync(disk.path);
  return `${(((blocks - bfree) * bsize) / 1024 / 1024).toFixed(1)} of ${diskMebibytes} MB`;
}

function report({ counts, claims }) {
  const { lost, open, twice, unsent, damaged, acceptedOrder } = claims;
  const ms = (pick) => fills.map((each) => Math.round(pick(each) ?? NaN)).join(', ');
  const figures = {
    sent: counts.sent,
    accepted: counts.accepted,
    processed: counts.processed,
    'duplicates before dedupe': counts.duplicates,
    'deliveries of a later attempt': counts.redelivered,
    'dead letters': status.dead_letters,
    'refusals told to senders': codes(load.refused),
    'refusals counted by the broker': codes(status.refused),
    'disk full for, ms': ms((each) => each.fullMs),
    'store failed after, ms': ms((each) => each.failedMs),
    'accepted again after space was there, ms': ms((each) => each.backMs),
    'disk used at the end': used(),
    'wall time': `${((endedMs - startedMs) / 1_000).toFixed(1)} s`,
  };
  const codesTold = Object.keys(load.refused);
  return told('disk full', {
    json: options.json,
    figures,
    claims: [
      ...[lost, open, twice, unsent, damaged, acceptedOrder],
      claim(
        'the store failed each time the disk was full',
        fills.every(({ failedMs }) => failedMs !== undefined),
        ms((each) => each.failedMs),
      ),
      claim('senders were told STORE_UNAVAILABLE', load.refused.STORE_UNAVAILABLE > 0, codesTold),
      claim(
        'senders were told nothing else, but that time was up on a busy machine',
        codesTold.every((code) => ['STORE_UNAVAILABLE', 'DEADLINE_EXCEEDED'].includes(code)),
        codesTold,
      ),
      claim('the same broker process served to the end', isSamePid, load.broker.output),
      claim('nothing was left in a mailbox', status.messages === 0, status.messages),
      claim('no message became a dead letter', status.dead_letters === 0, status.dead_letters),
    ],
  });
}
