// A backup of the store under load, restored elsewhere, and carried on with there.
//
//   npm run campaign:backup -- [--messages 150000] [--seed 1] [--json]
//
// Exits with 1 when a claim does not hold.
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { megabytes } from '../bench/kernel/figures.mjs';
import { runSigma, temporaryFolder } from '../bench/kernel/process.mjs';
import { connectTo, nowMs } from './agent.mjs';
import { Bodies } from './body.mjs';
import { claim, judge } from './claims.mjs';
import { readJournal } from './journal.mjs';
import { MailLoad } from './mail-load.mjs';
import { numbersFrom, told } from './report.mjs';

const pairs = 5;
/** The backup begins when this part is accepted. */
const part = 0.2;
/** Receivers lag behind, so that there is something to lose. */
const handleMs = 5;
/** Messages a second of each sender, so that the load goes on when the backup has ended. */
const perS = 1_000;
const pollMs = 20;
const readyMsMax = 20_000;
/** Posted again to the copy by each sender, under the ids they had. */
const againEach = 100;
const deadlineMs = 600_000;

const options = numbersFrom('campaign:backup', { messages: 150_000, seed: 1 });
const folder = temporaryFolder('sigma-backup');
const backup = path.join(folder, 'backup');
const { seed, messages } = options;
const settings = { seed, messages, receivers: pairs, window: 512, deadlineMs, credit: 64 };
const load = new MailLoad({
  ...{ ...settings, home: path.join(folder, 'home'), folder: path.join(folder, 'first') },
  ...{ senders: pairs, handleMs, perS },
});
const copy = new MailLoad({
  ...{ ...settings, home: path.join(folder, 'other'), folder: path.join(folder, 'second') },
  ...{ senders: 0, handleMs: 0 },
});

await load.start();
if (!options.json) load.follow();
for (; load.accepted < messages * part; await wait(pollMs)) load.check();
const acceptedBefore = load.accepted;
const began = journalsOf(load);
const beganMs = nowMs();
const copied = await sigma(load.home, 'bus', 'backup', backup);
const backupMs = nowMs() - beganMs;
const ended = journalsOf(load);
const acceptedDuring = load.accepted - acceptedBefore;
await load.drained();
await load.stop();

const restored = await sigma(copy.home, 'bus', 'restore', backup);
await copy.serve();
const waiting = (await copy.status()).messages;
await copy.startReceivers();
const drainedMs = nowMs();
const again = await postAgain();
const status = await copy.drained();
const drainMs = nowMs() - drainedMs;
await copy.stop();
process.exitCode = report();

/** What was begun, accepted and processed by now, by sender and id. */
function journalsOf({ senderJournals, receiverJournals }) {
  const known = { sent: new Set(), accepted: new Set(), processed: new Set() };
  for (const [, file] of receiverJournals)
    for (const [sender, id] of readJournal(file)) known.processed.add(`${sender} ${id}`);
  for (const [from, file] of senderJournals)
    for (const [what, number] of readJournal(file))
      known[what === 'SEND' ? 'sent' : 'accepted'].add(`${from} m-${number}`);
  return known;
}

async function sigma(home, ...args) {
  const { code, json, stderr } = await runSigma([...args, '--json'], { home });
  if (code !== 0) throw new Error(`sigma ${args.join(' ')} ended with ${code}: ${stderr}`);
  return json;
}

/** Ids that were accepted before the backup are known to the copy as well. */
async function postAgain() {
  const before = await copy.status();
  let same = 0;
  let posted = 0;
  for (const [from, file] of load.senderJournals) {
    const recent = readJournal(file)
      .filter(([what, number]) => what === 'ACCEPT' && began.accepted.has(`${from} m-${number}`))
      .slice(-againEach);
    const to = new Map(
      readJournal(file)
        .filter(([what]) => what === 'SEND')
        .map(([, number, recipient]) => [number, recipient]),
    );
    const bodies = new Bodies(from, seed);
    const client = connectTo(copy.home, from);
    await client.ready({ withinMs: readyMsMax });
    for (const [, number, seq] of recent) {
      const accepted = await client.post(
        `agent:${to.get(number)}`,
        'campaign',
        bodies.of(Number(number)),
        {
          id: `m-${number}`,
        },
      );
      posted += 1;
      if (accepted.seq === Number(seq)) same += 1;
    }
    await client.close();
  }
  const { duplicates, accepted } = await copy.status();
  return { posted, same, duplicates: duplicates - before.duplicates, accepted };
}

function report() {
  const first = load.judge();
  const second = judge({ senders: load.senderJournals, receivers: copy.receiverJournals });
  const there = journalsOf({ senderJournals: [], receiverJournals: copy.receiverJournals });
  const lost = [...began.accepted].filter(
    (key) => !there.processed.has(key) && !ended.processed.has(key),
  );
  const early = [...there.processed].filter((key) => !ended.sent.has(key));
  const open = [...began.accepted].filter((key) => !ended.processed.has(key));
  const figures = {
    messages,
    'accepted before, during the backup': `${acceptedBefore}, ${acceptedDuring}`,
    backup: `${copied.entries} entries, ${megabytes(copied.bytes)}, ${copied.elapsed_ms} ms (${backupMs.toFixed(0)} ms with the command)`,
    restore: `${restored.entries} entries, ${restored.elapsed_ms} ms`,
    'waiting in the copy when it started': waiting,
    'accepted before and not processed when it ended': open.length,
    'processed from the copy': there.processed.size,
    'of these processed before the backup ended as well': [...there.processed].filter((key) =>
      ended.processed.has(key),
    ).length,
    'posted again to the copy, known there': `${again.posted}, ${again.same}`,
    'copy drained in': `${(drainMs / 1_000).toFixed(1)} s`,
  };
  const { unsent, damaged, twice, order, acceptedOrder } = second.claims;
  const named = (where, { name, ...rest }) => ({ name: `${where}: ${name}`, ...rest });
  return told('backup', {
    json: options.json,
    figures,
    claims: [
      ...Object.values(first.claims).map((each) => named('first', each)),
      claim(
        'all accepted before the backup are in it, or were processed',
        lost.length === 0,
        lost.slice(0, 5),
      ),
      claim(
        'nothing that was begun after it ended is in it',
        early.length === 0,
        early.slice(0, 5),
      ),
      claim('the backup was taken under load', acceptedDuring > 0, acceptedDuring),
      claim('the load went on after it', ended.sent.size < messages, ended.sent.size),
      claim('something waited in it', there.processed.size > 0, there.processed.size),
      ...[unsent, damaged, twice, order, acceptedOrder].map((each) => named('copy', each)),
      claim('the copy knows the ids that were accepted', again.same === again.posted, again.same),
      claim('the copy stored none of them again', again.accepted === 0, again.accepted),
      claim('nothing was left in the copy', status.messages === 0, status.messages),
      claim('nothing became a dead letter there', status.dead_letters === 0, status.dead_letters),
    ],
  });
}
