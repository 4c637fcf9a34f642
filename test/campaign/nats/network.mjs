// Machines of a network of their own: each is a network namespace with one interface on a bridge, which is the operator's. This
// machine's own network stays as it is, and all of it goes with the namespaces.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const hostsFolder = '/etc/netns';
const subnet = '10.213.74';
const operatorHost = 254;
const bridge = 'machines';

/** What this machine lacks for such a network, in words; empty: nothing. */
export function lacking() {
  const found = (program) =>
    (process.env.PATH ?? '').split(':').some((folder) => existsSync(path.join(folder, program)));
  return [
    process.platform === 'linux' || 'Linux',
    process.getuid?.() === 0 || 'root',
    ...['ip', 'openssl', 'nats-server'].map((each) => found(each) || each),
  ].filter((each) => each !== true);
}

export class Network {
  #hosts;

  /** `id` tells it from other networks of the kind; `hosts`: names by which the machines reach each other. */
  constructor(id, hosts) {
    this.#hosts = hosts;
    this.operator = `sigma-${id}-op`;
    this.machines = hosts.map((_, at) => `sigma-${id}-${at}`);
  }

  make() {
    const names = ['127.0.0.1 localhost', ...this.#hosts.map((host, at) => `${ipOf(at)} ${host}`)];
    for (const each of [this.operator, ...this.machines]) {
      ip('netns', 'add', each);
      ip('-n', each, 'link', 'set', 'lo', 'up');
      mkdirSync(path.join(hostsFolder, each), { recursive: true });
      writeFileSync(path.join(hostsFolder, each, 'hosts'), `${names.join('\n')}\n`);
    }
    const { operator } = this;
    ip('-n', operator, 'link', 'add', bridge, 'type', 'bridge');
    ip('-n', operator, 'addr', 'add', `${subnet}.${operatorHost}/24`, 'dev', bridge);
    ip('-n', operator, 'link', 'set', bridge, 'up');
    for (const [at, machine] of this.machines.entries()) {
      const port = portOf(at);
      ip('-n', operator, 'link', 'add', port, 'type', 'veth', 'peer', 'eth0', 'netns', machine);
      ip('-n', machine, 'addr', 'add', `${ipOf(at)}/24`, 'dev', 'eth0');
      ip('-n', machine, 'link', 'set', 'eth0', 'up');
      ip('-n', operator, 'link', 'set', port, 'up');
      this.join(at);
    }
  }

  /** Nothing comes to the machine or from it, and none is told so. */
  cut(at) {
    ip('-n', this.operator, 'link', 'set', portOf(at), 'nomaster');
  }

  join(at) {
    ip('-n', this.operator, 'link', 'set', portOf(at), 'master', bridge);
  }

  /** Also what was made in part. */
  remove() {
    for (const each of [...this.machines, this.operator]) {
      killAllIn(each);
      if (existsSync(`/run/netns/${each}`)) ip('netns', 'delete', each);
      rmSync(path.join(hostsFolder, each), { recursive: true, force: true });
    }
    if (existsSync(hostsFolder) && readdirSync(hostsFolder).length === 0) rmdirSync(hostsFolder);
  }
}

/** A process there, with this process's files. It has the pid of the program itself. */
export function spawnIn(namespace, command, options) {
  return spawn('ip', ['netns', 'exec', namespace, ...command], options);
}

/** Also what those started whom the campaign started. */
export function killAllIn(namespace) {
  if (!existsSync(`/run/netns/${namespace}`)) return;
  for (const pid of ip('netns', 'pids', namespace).split('\n').filter(Boolean).map(Number)) {
    if (pid === process.pid) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

const ipOf = (at) => `${subnet}.${at + 1}`;
const portOf = (at) => `machine-${at}`;

function ip(...args) {
  return execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
