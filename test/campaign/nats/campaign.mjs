// The campaign itself, in the network that run.mjs makes.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { loadConfig } from '../../../dist/src/config/config.js';
import { natsAccess } from '../../../dist/src/remote/identity.js';
import { nowMs } from '../agent.mjs';
import { claim } from '../claims.mjs';
import { MailLoad } from '../mail-load.mjs';
import { Chance } from '../random.mjs';
import { numbersFrom } from '../report.mjs';
import { Faults } from './faults.mjs';
import { disagreements, LogWatch } from './log-watch.mjs';
import { bus, hosts, Machine, prepare } from './machines.mjs';
import { Network } from './network.mjs';
import { report } from './report.mjs';
import { TaskLoad } from './task-load.mjs';

const messagesPerRound = 66_000;
/** What a round takes, about: messages and tasks are spread over it, and what is left comes at once behind the last fault. */
const roundS = 260;
/** A sender tries as long as the campaign lasts: its order is only kept while nothing fails. */
const deadlineMs = 3_600_000;

const { id, folder } = JSON.parse(process.env.SIGMA_CAMPAIGN);
const { rounds: roundsAsked, ...options } = numbersFrom('campaign:nats', {
  ...{ messages: 200_000, tasks: 500, rounds: 0, seed: 1, keep: 0 },
});
const rounds = roundsAsked || Math.max(1, Math.round(options.messages / messagesPerRound));
const network = new Network(id, hosts);
const programs = path.join(folder, 'programs');
mkdirSync(path.join(programs, 'keys'), { recursive: true });
writeFileSync(path.join(programs, 'effects'), '');
copyFileSync(path.resolve(import.meta.dirname, '../effect.mjs'), path.join(programs, 'effect.mjs'));
const each = (kind, role) => hosts.map((_, at) => [`${kind}-${at}`, role]);
const agents = {
  ...{ manager: 'manager', boss: 'tester', observer: 'client' },
  ...{ 'watch-bus': 'broker', 'watch-manager': 'manager' },
  ...Object.fromEntries([
    ...[...each('sender', 'tester'), ...each('receiver', 'tester')],
    ...each('executor', 'executor'),
  ]),
};
await prepare(folder, agents, TaskLoad.allowed(programs));
const home = path.join(folder, 'operator');
Object.assign(process.env, {
  SIGMA_HOME: home,
  SIGMA_BUS: bus,
  SIGMA_IDENTITY: path.join(folder, 'identities'),
});

/** What candidates said of themselves. */
const said = [];
const died = [];
const machines = hosts.map(
  (_, at) =>
    new Machine({
      ...{ at, namespace: network.machines[at], folder, programs },
      onLead: (word) => said.push(word),
      onDied: (what) => died.push(what),
    }),
);
const plannedS = rounds * roundS;
const { messages, seed } = options;
const load = new MailLoad(
  {
    ...{ home, folder: path.join(folder, 'journals'), messages, seed, deadlineMs },
    ...{ senders: hosts.length, receivers: hosts.length, window: 512, credit: 64, handleMs: 0 },
    perS: messages / hosts.length / plannedS,
  },
  {
    broker: {
      start: () => machines.forEach((machine) => machine.start()),
      stop: () => Promise.all(machines.map((machine) => machine.kill((worker) => worker.kill()))),
    },
    worker: (name, ...its) => machines[Number(name.at(-1))].worker(name, ...its),
  },
);

const startedMs = nowMs();
await load.start();
const watches = { bus: await watch('bus'), manager: await watch('manager') };
const pace = { count: options.tasks, perS: options.tasks / plannedS };
const tasks = await TaskLoad.of(home, { ...pace, seed, folder: programs });
if (!options.json) load.follow();
const faults = new Faults({ machines, network, load, tasks, said, chance: new Chance(seed), tell });
await faults.well();
tell(`all began ${((nowMs() - startedMs) / 1_000).toFixed(1)} s after the start`);
for (let round = 0; round < rounds; round += 1) await faults.round();
const isSentBefore = load.isSent;
const faultsMs = nowMs();
for (const sender of load.senders) sender.send({ type: 'hurry' });
tasks.hurry();
const status = await load.drained();
await tasks.end();
for (const its of Object.values(watches)) await its.end();
await load.stop();
const { counts, claims } = load.judge();
const wrong = Object.entries(watches).flatMap(([office, its]) => {
  const leaders = said.filter((word) => word.office === office && word.isLeading);
  return [...its.wrong, ...disagreements(its, leaders)];
});
const { fenced, unwell } = faults;
const strangers = machines.flatMap((machine) => machine.routeErrors);
process.exitCode = report({
  ...{ options, counts, load, tasks, faults: faults.happened, watches },
  seconds: { all: (nowMs() - startedMs) / 1_000, faults: (faultsMs - startedMs) / 1_000 },
  claims: [
    ...Object.values(claims),
    claim('nothing was left in a mailbox', status.messages === 0, status.messages),
    claim('no message became a dead letter', status.dead_letters === 0, status.dead_letters),
    claim('no two leaders wrote at a time', wrong.length === 0, wrong.join('; ')),
    claim('a leader that stood still learned of it', fenced.every(Boolean), fenced.join(' ')),
    claim('each fault was overcome', unwell.length === 0, unwell.join('; ')),
    claim('servers know each other', strangers.length === 0, strangers[0]),
    claim('none ended that was not killed', died.length === 0, died.join('; ')),
    claim('the load lasted for all faults', !isSentBefore, 'it was all sent before the last one'),
  ],
});

function watch(office) {
  return LogWatch.of(
    natsAccess(loadConfig(process.env), `watch-${office}`),
    `SIGMA_main_${office}`,
  );
}

function tell(text) {
  if (!options.json)
    process.stderr.write(`${text}
`);
}
