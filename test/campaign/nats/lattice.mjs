// One tree, its shards on three machines, each a network namespace with a server of one cluster, a candidate broker, a candidate
// manager and a host that shares the tree. The index is built on one machine, published on the bus, and pulled by hosts without one. Asked from each machine: the
// answers must be those of one machine with all shards, also when one host was killed, and when it is back.
//
//   npm run campaign:nats-lattice -- [--repo PATH] [--question TEXT]... [--json]
//
// Wants Linux, root, ip, openssl and nats-server. Exits with 1 when an answer differs.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bus, hosts, prepare } from './machines.mjs';
import { lacking, Network, spawnIn } from './network.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const sigma = path.join(root, 'services/cli/sigma.mjs');
/** Where the tree is on every machine; a tree is known by its place. */
const place = '/srv/sigma-tree';
const rounds = 5;
const readyMsMax = 600_000;

const { values } = parseArgs({
  options: {
    repo: { type: 'string', default: root },
    question: {
      type: 'string',
      multiple: true,
      default: ['How is a frame checked for corruption?', 'Who decides which process leads?'],
    },
    json: { type: 'boolean', default: false },
  },
});
const missing = lacking();
if (missing.length > 0) {
  process.stderr.write(`campaign:nats-lattice: this machine has no ${missing.join(', ')}\n`);
  process.exit(2);
}
const network = new Network(process.pid, hosts);
const folder = mkdtempSync(path.join(tmpdir(), 'sigma-lattice-'));
process.on('exit', () => {
  network.remove();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));
mkdirSync(place, { recursive: true });
network.make();
await prepare(folder, { operator: 'operator', pgc: 'pgc', manager: 'manager' }, {});

const machineFolder = (at) => path.join(folder, `machine-${at}`);
const environment = (at, local) => ({
  ...process.env,
  SIGMA_HOME: path.join(machineFolder(at), local ? 'alone' : 'home'),
  SIGMA_BUS: local ? '' : bus,
  SIGMA_IDENTITY: local ? '' : path.join(machineFolder(at), 'identities'),
});

/** A process on a machine, which has its own copy of the tree in the place of all. */
function start(at, command, { local = false, stdio, env = {}, cwd = place } = {}) {
  const script = 'mount --bind "$0" "$1" && cd "$2" && shift 2 && exec "$@"';
  const tree = path.join(machineFolder(at), 'tree');
  const its = ['sh', '-c', script, tree, place, cwd, ...command];
  const all = { ...environment(at, local), ...env };
  return spawnIn(network.machines[at], its, { env: all, stdio });
}

function background(at, name, command, options = {}) {
  const log = openSync(path.join(machineFolder(at), `${name}.log`), 'a');
  return start(at, command, { ...options, stdio: ['ignore', log, log] });
}

/** Resolves with what it printed. Rejects when it fails. */
function said(at, args, { local = false, env = {} } = {}) {
  const identity = path.join(machineFolder(at), 'identities', 'operator.json');
  const own = local ? env : { SIGMA_IDENTITY: identity, ...env };
  const child = start(at, [process.execPath, sigma, ...args], {
    local,
    env: own,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let trouble = '';
  child.stdout.on('data', (part) => (output += part));
  child.stderr.on('data', (part) => (trouble += part));
  return new Promise((resolve, reject) => {
    child.once('close', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`sigma ${args.join(' ')}: ${trouble}`)),
    );
  });
}

async function until(what, isSo) {
  const untilMs = Date.now() + readyMsMax;
  while (!(await isSo().catch(() => false))) {
    if (Date.now() > untilMs) throw new Error(`not in time: ${what}`);
    await wait(500);
  }
}

const agentsOf = async (at, options) =>
  JSON.parse(await said(at, ['agents', '--json'], options)).agents.filter(
    ({ state }) => state === 'online',
  );
/** All shards and a manager can be asked. */
const isServed = (at, shards, options) => async () => {
  const roles = (await agentsOf(at, options)).map(({ role }) => role);
  return roles.includes('manager') && roles.filter((role) => role === 'pgc').length >= shards;
};

/** How many shards each host serves. */
async function heldBy() {
  const counts = new Map();
  for (const { role, capabilities } of await agentsOf(1)) {
    if (role !== 'pgc') continue;
    const holder = capabilities.find((each) => each.startsWith('host:'));
    counts.set(holder, (counts.get(holder) ?? 0) + 1);
  }
  return counts;
}
/** All of them, by so many hosts. */
const isSpread = (machines) => async () => {
  const counts = await heldBy();
  const sum = [...counts.values()].reduce((all, count) => all + count, 0);
  return counts.size === machines && sum === shards.length;
};

const node = [process.execPath, sigma];
/** The same commit on each; the index is built on the first. */
for (const at of hosts.keys())
  execFileSync('git', ['clone', '-q', values.repo, path.join(machineFolder(at), 'tree')]);
for (const at of hosts.keys()) {
  const env = { SIGMA_NATS_NAME: `nats-${at + 1}` };
  const cwd = path.join(machineFolder(at), 'etc');
  background(at, 'server', ['nats-server', '-c', 'cluster.conf'], { env, cwd });
}
for (const at of hosts.keys()) background(at, 'bus', [...node, 'bus']);
await until('a broker leads', async () => (await said(0, ['status', '--json'])) !== '');
const { shards } = JSON.parse(await said(0, ['index', place, '--json']));
await said(0, ['index', place, '--publish', 'bus']);
const alonesHome = { SIGMA_HOME: path.join(machineFolder(0), 'alone') };
await said(0, ['index', place, '--pull', 'bus'], { env: alonesHome });
say(`${shards.length} shards, indexed on one machine and published on the bus`);

/** Of one question: the places of its evidence, and the median of its time. */
async function asked(at, question, options) {
  const times = [];
  let answer;
  for (let round = 0; round < rounds; round += 1) {
    const startedMs = performance.now();
    answer = JSON.parse(await said(at, ['ask', question, '--json'], options));
    times.push(performance.now() - startedMs);
  }
  const evidence = answer.evidence.map(({ path: file, start, end }) => `${file}:${start}-${end}`);
  return { evidence: evidence.sort(), ms: times.sort((a, b) => a - b)[Math.floor(rounds / 2)] };
}

// One machine alone, with all shards.
const local = { local: true };
const alone = [
  background(0, 'alone-bus', [...node, 'bus'], local),
  background(0, 'alone-manager', [...node, 'agent', 'manager'], local),
  background(0, 'alone-pgc', [...node, 'agent', 'pgc', place], local),
];
await until('one machine serves all shards', isServed(0, shards.length, local));
const rows = [];
for (const question of values.question)
  rows.push({ question, alone: await asked(0, question, local), machines: [] });
for (const each of alone) each.kill();
await Promise.all(alone.map((each) => new Promise((resolve) => each.once('exit', resolve))));

// Three machines, and what falls to each.
for (const at of hosts.keys()) background(at, 'manager', [...node, 'agent', 'manager']);
const serve = (at) => background(at, 'pgc', [...node, 'agent', 'pgc', place, '--shared']);
const serving = [...hosts.keys()].map(serve);
await until('three machines answer', isServed(1, shards.length));
await until('each machine serves some', isSpread(hosts.length));
const askAll = async (when, from) => {
  say(`${when}: shards by host ${[...(await heldBy()).values()].sort().join(', ')}`);
  for (const row of rows)
    for (const at of from)
      row.machines.push({
        where: `${when}, from machine ${at + 1}`,
        ...(await asked(at, row.question)),
      });
};
await askAll('three hosts', [0, 1, 2]);
const killedMs = performance.now();
serving[2].kill('SIGKILL');
await until('two machines serve all shards', isSpread(2));
const movedMs = performance.now() - killedMs;
await askAll('two hosts', [2]);
serving[2] = serve(2);
await until('the third machine has its share again', isSpread(3));
await askAll('three again', [0]);

let isEqual = true;
for (const { question, alone: one, machines } of rows) {
  say(`\n${question}`);
  say(`  one machine     ${one.ms.toFixed(0)} ms, ${one.evidence.length} places`);
  for (const its of machines) {
    const isSame = JSON.stringify(its.evidence) === JSON.stringify(one.evidence);
    isEqual &&= isSame && one.evidence.length > 0;
    say(`  ${its.where}  ${its.ms.toFixed(0)} ms, ${isSame ? 'the same places' : 'OTHER places'}`);
  }
}
say(`\nshards of a killed host are served again after ${(movedMs / 1_000).toFixed(1)} s`);
if (values.json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
process.exit(isEqual ? 0 : 1);

function say(text) {
  process.stdout.write(`${text}\n`);
}
