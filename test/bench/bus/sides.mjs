// What is compared. Each side is a load generator and what serves it, in processes of their own.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cpuOf, endAll, forkScript, runLoad, startServer } from './processes.mjs';

export const bodyBytes = 1_024;

const sigma = '../../../services/cli/sigma.mjs';
const bytes = String(bodyBytes);

/**
 * Sigma Bus over ipc: the real broker process on a real LevelDB, the client that agents use. Without its
 * audit log, because no peer keeps one.
 */
export async function sigmaRequests(folder, { name = 'sigma', audit = 'off', execArgv = [] } = {}) {
  const { broker, address } = await sigmaBroker(path.join(folder, name), { audit, execArgv });
  const worker = await forkScript('sigma-worker.mjs', [address], { execArgv });
  const requester = await forkScript('sigma-requester.mjs', [address, bytes], { execArgv });
  return side(name, { requester, broker, worker });
}

/** As it comes: each frame that is handed on is a line in the audit log. */
export function auditedRequests(folder) {
  return sigmaRequests(folder, { name: 'audited', audit: 'metadata' });
}

/** nats-server over tcp on the loopback interface, the only transport it has, with its official client. */
export async function natsRequests() {
  const { child: broker, captured } = await natsServer([]);
  const worker = await forkScript('nats-worker.mjs', [captured]);
  const requester = await forkScript('nats-requester.mjs', [captured, bytes]);
  return side('nats', { requester, broker, worker });
}

/** zeromq.js over ipc with nothing on it. */
export async function bareRequests(folder) {
  const address = `ipc://${path.join(folder, 'bare.sock')}`;
  const broker = await forkScript('bare.mjs', ['broker', address]);
  const worker = await forkScript('bare.mjs', ['worker', address]);
  const requester = await forkScript('bare.mjs', ['requester', address, bytes]);
  return side('zeromq', { requester, broker, worker });
}

/** zeromq.js with batches and nothing else: what the socket can do. */
export async function batchedRequests(folder) {
  const address = `ipc://${path.join(folder, 'batched.sock')}`;
  const broker = await forkScript('batched.mjs', ['broker', address]);
  const worker = await forkScript('batched.mjs', ['worker', address]);
  const requester = await forkScript('batched.mjs', ['requester', address, bytes]);
  return side('batched', { requester, broker, worker });
}

/** Durable messages: accepted means stored and synced. */
export async function sigmaPosts(folder) {
  const { broker, address } = await sigmaBroker(path.join(folder, 'sigma'), { audit: 'off' });
  const requester = await forkScript('sigma-poster.mjs', [address, bytes]);
  return side('sigma', { requester, broker });
}

/** classic-level in the process that loads it: a message and two index keys; no broker, no socket, no copy. */
export function levelPosts(folder) {
  return levelLoop('level', folder, 3);
}

/** The same with the one key a message that the broker needs. */
export function leanLevelPosts(folder) {
  return levelLoop('level-lean', folder, 1);
}

async function levelLoop(name, folder, keys) {
  const home = path.join(folder, name);
  const requester = await forkScript('level-poster.mjs', [home, bytes, String(keys)]);
  return side(name, { requester });
}

/** JetStream with file storage: acknowledged means written; it is synced every two minutes. */
export async function jetstreamPosts(folder) {
  const store = ['--jetstream', '--store_dir', path.join(folder, 'jetstream')];
  const { child: broker, captured } = await natsServer(store);
  const requester = await forkScript('jetstream-poster.mjs', [captured, bytes]);
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

async function sigmaBroker(home, { audit, execArgv = [] }) {
  mkdirSync(home, { recursive: true });
  writeFileSync(path.join(home, 'config.json'), JSON.stringify({ audit }));
  const env = { SIGMA_HOME: home, SIGMA_BUS: '', SIGMA_LOG: 'warn' };
  // Its clients find out when it serves.
  const broker = await forkScript(sigma, ['bus'], { env, execArgv, saysReady: false });
  return { broker, address: `ipc://${path.join(home, 'run/bus.sock')}` };
}

function natsServer(args) {
  return startServer(
    'nats-server',
    ['--addr', '127.0.0.1', '--port', '-1', ...args],
    /Listening for client connections on ([\d.:]+)[^]*Server is ready/,
  );
}

function side(name, processes) {
  return {
    name,
    /** One run of the load, with the CPU time in microseconds that each process spent per call. */
    async run(load) {
      const before = cpuOfAll(processes);
      const figures = await runLoad(processes.requester, load);
      const after = cpuOfAll(processes);
      const perCall = (role, part) =>
        ((after[role][part] - before[role][part]) / figures.count) * 1_000;
      const cpu = Object.keys(processes).map((role) => ({
        role,
        mainUs: perCall(role, 'mainMs'),
        othersUs: perCall(role, 'othersMs'),
      }));
      return { ...figures, cpu };
    },
    pids: Object.fromEntries(Object.entries(processes).map(([role, { pid }]) => [role, pid])),
    /** The broker last: its clients say goodbye to it. */
    close: () => endAll(['requester', 'worker', 'broker'].flatMap((role) => processes[role] ?? [])),
  };
}

function cpuOfAll(processes) {
  return Object.fromEntries(Object.entries(processes).map(([role, { pid }]) => [role, cpuOf(pid)]));
}
