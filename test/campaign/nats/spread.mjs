// One tree, indexed on one machine of a network, on two and on three, each a network namespace with a server of one cluster and a
// candidate broker; on all but the first a miner. The index must be the same, file by file. All machines have the same processors, so
// the time says what spreading costs and not what it saves.
//
//   npm run campaign:nats-spread -- [--repo PATH] [--jobs N] [--json]
//
// Wants Linux, root, ip, openssl and nats-server. Exits with 1 when an index differs.
import { createHash } from 'node:crypto';
import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bus, hosts, prepare } from './machines.mjs';
import { lacking, Network, spawnIn } from './network.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const sigma = path.join(root, 'services/cli/sigma.mjs');
const readyMsMax = 120_000;

const { values } = parseArgs({
  options: {
    repo: { type: 'string', default: root },
    jobs: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
});
const missing = lacking();
if (missing.length > 0) {
  process.stderr.write(`campaign:nats-spread: this machine has no ${missing.join(', ')}\n`);
  process.exit(2);
}
const network = new Network(process.pid, hosts);
const folder = mkdtempSync(path.join(tmpdir(), 'sigma-spread-'));
process.on('exit', () => {
  network.remove();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));
network.make();
await prepare(folder, { operator: 'operator', pgc: 'pgc' }, {});

const machineFolder = (at) => path.join(folder, `machine-${at}`);
const environmentOf = (at, identity) => ({
  ...process.env,
  SIGMA_HOME: path.join(machineFolder(at), 'home'),
  SIGMA_BUS: bus,
  SIGMA_IDENTITY: path.join(machineFolder(at), 'identities', identity),
});

function background(at, name, command, env, cwd = folder) {
  const log = openSync(path.join(machineFolder(at), `${name}.log`), 'a');
  return spawnIn(network.machines[at], command, { env, cwd, stdio: ['ignore', log, log] });
}

/** Resolves with what it printed, as JSON. Rejects when it fails. */
function said(at, args, env) {
  const command = [process.execPath, sigma, ...args, '--json'];
  const options = { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] };
  const child = spawnIn(network.machines[at], command, options);
  let output = '';
  let trouble = '';
  child.stdout.on('data', (part) => (output += part));
  child.stderr.on('data', (part) => (trouble = (trouble + part).slice(-2_000)));
  return new Promise((resolve, reject) => {
    child.once('close', (code) =>
      code === 0
        ? resolve(JSON.parse(output))
        : reject(new Error(`sigma ${args.join(' ')}: ${trouble}`)),
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

const asOperator = environmentOf(0, 'operator.json');
const minersOnline = async () =>
  (await said(0, ['status'], asOperator)).services.find(({ name }) => name.startsWith('mine.'))
    ?.agents.length ?? 0;

for (const at of hosts.keys()) {
  const server = ['nats-server', '-c', 'cluster.conf'];
  const env = { ...process.env, SIGMA_NATS_NAME: `nats-${at + 1}` };
  background(at, 'server', server, env, path.join(machineFolder(at), 'etc'));
}
for (const at of hosts.keys())
  background(at, 'bus', [process.execPath, sigma, 'bus'], environmentOf(at, ''));
await until('a broker leads', () => said(0, ['status'], asOperator));

const rows = [];
const indexes = [];
for (const machines of [1, 2, 3]) {
  if (machines > 1) {
    const miner = [process.execPath, sigma, 'agent', 'miner', '--jobs', values.jobs];
    background(machines - 1, 'miner', miner, environmentOf(machines - 1, 'pgc.json'));
    await until('its miner is there', async () => (await minersOnline()) === machines - 1);
  }
  const home = path.join(folder, `index-${machines}`);
  const env = { ...asOperator, SIGMA_HOME: home };
  const args = ['index', values.repo, '--jobs', values.jobs];
  const startedMs = performance.now();
  const report = await said(0, machines > 1 ? [...args, '--spread'] : args, env);
  const seconds = (performance.now() - startedMs) / 1_000;
  const shares = report.notes.flatMap((note) => /mined (\d+) files/.exec(note)?.[1] ?? []);
  const row = { machines, seconds, mined: report.files_mined, elsewhere: shares.map(Number) };
  const files = filesOf(home);
  rows.push(row);
  indexes.push(JSON.stringify(files));
  const { length } = Object.keys(files);
  const elsewhere = shares.length > 0 ? `, ${shares.join(' and ')} of them elsewhere` : '';
  say(
    `${machines}: ${seconds.toFixed(0)} s, ${row.mined} files mined${elsewhere}; ${length} files`,
  );
  rmSync(home, { recursive: true, force: true });
}
const isSpread = rows.every(({ machines, elsewhere }) => elsewhere.length === machines - 1);
if (!isSpread) say('nothing was mined by a miner that was there');
const isEqual = indexes[0] !== '{}' && indexes.every((each) => each === indexes[0]);
say(isEqual ? 'the same index, file by file' : 'the indexes DIFFER');
if (values.json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
process.exit(isEqual && isSpread ? 0 : 1);

/** Digests of the files of an index, by name. */
function filesOf(home) {
  const segments = readdirSync(home, { recursive: true, withFileTypes: true }).filter(
    (each) => each.isFile() && path.basename(each.parentPath) === 'segments',
  );
  const digest = (file) =>
    createHash('sha256')
      .update(readFileSync(path.join(file.parentPath, file.name)))
      .digest('hex');
  return Object.fromEntries(segments.map((file) => [file.name, digest(file)]).sort());
}

function say(text) {
  process.stdout.write(`${text}\n`);
}
