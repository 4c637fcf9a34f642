// What is compared. Each side is a load generator and what serves it, in processes of their own.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { curveKeyPair } from 'zeromq';
import { ask, cpuOf, endAll, forkScript, runLoad, startServer } from './processes.mjs';
import { role } from './sigma-client.mjs';

const sigma = path.resolve(import.meta.dirname, '../../../services/cli/sigma.mjs');

/**
 * Sigma Bus over ipc: the real broker process on a real LevelDB, the client that agents use. Without its
 * audit log, because no peer keeps one. `probe`: what is preloaded into all three processes.
 */
export async function sigmaRequests(
  folder,
  { bytes, name = 'sigma', audit = 'off', isBundled = true, probe },
) {
  const execArgv =
    probe === undefined ? [] : ['--import', path.resolve(import.meta.dirname, probe)];
  const home = path.join(folder, name);
  const { broker, address } = await sigmaBroker(home, { audit, isBundled, execArgv });
  return sigmaSide(name, { broker, address, bytes, execArgv });
}

/** As it comes: each frame that is handed on is a line in the audit log. */
export function auditedRequests(folder, { bytes }) {
  return sigmaRequests(folder, { bytes, name: 'audited', audit: 'metadata' });
}

/** Over tcp on the loopback interface, with the keys that `sigma keys` makes. */
export async function sigmaCurveRequests(folder, { bytes }) {
  const name = 'sigma';
  const home = path.join(folder, name);
  const address = `tcp://127.0.0.1:${await freePort()}`;
  const identities = path.join(home, 'identities');
  mkdirSync(identities, { recursive: true });
  const keys = (...args) =>
    spawnSync(process.execPath, [sigma, 'keys', ...args, '--bus', address], {
      env: { ...process.env, SIGMA_HOME: home },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  keys('init');
  for (const agent of ['bench-requester', 'bench-worker'])
    keys('add', agent, '--role', role, '--out', identities);
  const { broker } = await sigmaBroker(home, { listen: [address] });
  return sigmaSide(name, { broker, address, bytes, env: { SIGMA_IDENTITY: identities } });
}

/** nats-server over tcp on the loopback interface, the only transport it has, with its official client. */
export async function natsRequests(_folder, { bytes }) {
  const { child: broker, captured } = await natsServer([]);
  const worker = await forkScript('nats-worker.mjs', [captured]);
  const requester = await forkScript('nats-requester.mjs', [captured, String(bytes)]);
  return side('nats', { requester, broker, worker });
}

/** zeromq.js over ipc with nothing on it. */
export function bareRequests(folder, { bytes }) {
  const address = `ipc://${path.join(folder, 'bare.sock')}`;
  return zeromqSide('zeromq', 'bare.mjs', { address, bytes });
}

/** zeromq.js with batches and nothing else: what the socket can do. */
export function batchedRequests(folder, { bytes }) {
  const address = `ipc://${path.join(folder, 'batched.sock')}`;
  return zeromqSide('batched', 'batched.mjs', { address, bytes });
}

/** The same over tcp with CURVE. */
export async function batchedCurveRequests(_folder, { bytes }) {
  const address = `tcp://127.0.0.1:${await freePort()}`;
  const env = { BENCH_CURVE: JSON.stringify(curveKeyPair()) };
  return zeromqSide('batched', 'batched.mjs', { address, bytes, env });
}

/** Durable messages: accepted means stored and synced. */
export async function sigmaPosts(folder, { bytes }) {
  const { broker, address } = await sigmaBroker(path.join(folder, 'sigma'));
  const requester = await forkScript('sigma-poster.mjs', [address, String(bytes)]);
  return side('sigma', { requester, broker });
}

/** The bare store: classic-level in the process that loads it; no broker, no socket, no copy. */
export async function levelPosts(folder, { bytes }) {
  const home = path.join(folder, 'level');
  const requester = await forkScript('level-poster.mjs', [home, String(bytes)]);
  return side('level', { requester });
}

/** JetStream with file storage: acknowledged means written; it is synced every two minutes. */
export async function jetstreamPosts(folder, { bytes }) {
  const store = ['--jetstream', '--store_dir', path.join(folder, 'jetstream')];
  const { child: broker, captured } = await natsServer(store);
  const requester = await forkScript('jetstream-poster.mjs', [captured, String(bytes)]);
  return side('jetstream', { requester, broker });
}

/** Debian's nats-server, installed when it is missing. Returns its version. */
export function ensureNatsServer() {
  const version = () =>
    spawnSync('nats-server', ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? '';
  if (version() !== '') return version();
  process.stderr.write('installing nats-server with apt\n');
  const [command, ...asRoot] = process.getuid?.() === 0 ? ['apt-get'] : ['sudo', '-n', 'apt-get'];
  const apt = (...args) =>
    spawnSync(command, [...asRoot, ...args], {
      stdio: 'ignore',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status === 0;
  const install = () => apt('install', '-y', '--no-install-recommends', 'nats-server');
  if (!install() && !(apt('update') && install()))
    throw new Error('nats-server is missing and apt could not install it');
  return version();
}

/** `{ broker, address }`, the address of its socket file. */
export async function sigmaBroker(
  home,
  { audit = 'off', listen = [], bus = '', isBundled = true, execArgv = [], env = {} } = {},
) {
  mkdirSync(home, { recursive: true });
  writeFileSync(path.join(home, 'config.json'), JSON.stringify({ audit, listen }));
  const its = { SIGMA_HOME: home, SIGMA_BUS: bus, SIGMA_LOG: 'warn', ...env };
  const [script, args] = isBundled ? [sigma, ['bus']] : ['sigma-broker.mjs', []];
  // Its clients find out when it serves.
  const broker = await forkScript(script, args, { env: its, execArgv, saysReady: false });
  return { broker, address: `ipc://${path.join(home, 'run/bus.sock')}` };
}

/** A requester and a worker of this broker. */
export async function sigmaSide(name, { broker, address, bytes, env = {}, execArgv = [] }) {
  const worker = await forkScript('sigma-worker.mjs', [address], { execArgv, env });
  const args = [address, String(bytes)];
  const requester = await forkScript('sigma-requester.mjs', args, { execArgv, env });
  return side(name, { requester, broker, worker });
}

async function zeromqSide(name, script, { address, bytes, env = {} }) {
  const broker = await forkScript(script, ['broker', address], { env });
  const worker = await forkScript(script, ['worker', address], { env });
  const requester = await forkScript(script, ['requester', address, String(bytes)], { env });
  return side(name, { requester, broker, worker });
}

function natsServer(args) {
  return startServer(
    'nats-server',
    ['--addr', '127.0.0.1', '--port', '-1', ...args],
    /Listening for client connections on ([\d.:]+)[^]*Server is ready/,
  );
}

/** Free just now, and so is, most likely, the next one, which topics use. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

export function side(name, processes) {
  const roles = Object.keys(processes);
  const askAll = async (message) => {
    const answers = {};
    for (const each of roles) answers[each] = (await ask(processes[each], message)).probed;
    return answers;
  };
  return {
    name,
    pids: Object.fromEntries(roles.map((each) => [each, processes[each].pid])),
    /** One run of the load, with the CPU time in microseconds that each process spent per call. */
    async run(load) {
      const before = cpuOfAll(processes);
      const figures = await runLoad(processes.requester, load);
      const after = cpuOfAll(processes);
      const perCall = (each, part) =>
        ((after[each][part] - before[each][part]) / figures.count) * 1_000;
      const cpu = roles.map((each) => ({
        role: each,
        mainUs: perCall(each, 'mainMs'),
        othersUs: perCall(each, 'othersMs'),
      }));
      return { ...figures, cpu };
    },
    /** The same, with what the probes of all processes saw of it. */
    async probe(load) {
      await askAll({ probe: 'start' });
      const figures = await this.run(load);
      return { ...figures, probed: await askAll({ probe: 'end' }) };
    },
    /** The broker last: its clients say goodbye to it. */
    close: () => endAll(['requester', 'worker', 'broker'].flatMap((each) => processes[each] ?? [])),
  };
}

function cpuOfAll(processes) {
  return Object.fromEntries(Object.entries(processes).map(([each, { pid }]) => [each, cpuOf(pid)]));
}
