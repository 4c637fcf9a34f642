import { execFile, execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { Child } from '../processes.mjs';
import { killAllIn, spawnIn } from './network.mjs';

const deploy = path.resolve(import.meta.dirname, '../../../deploy/nats');
const sigma = path.resolve(import.meta.dirname, '../../../services/cli/sigma.mjs');
const healthMsMax = 1_000;
const monitorPort = 8222;

/** As the servers are called in deploy/nats/cluster.conf, which is used as it is. */
export const hosts = ['nats-1.example', 'nats-2.example', 'nats-3.example'];
export const bus = `tls://${hosts.map((host) => `${host}:4222`).join(',')}`;

/** Certificates, keys and homes, as deploy/nats/README.md has an operator make them. `agents`: role by name. */
export async function prepare(folder, agents, policy) {
  const at = (...names) => path.join(folder, ...names);
  execFileSync('sh', [path.join(deploy, '../certificates.sh'), at('certs'), ...hosts], {
    stdio: 'pipe',
  });
  mkdirSync(at('operator'), { mode: 0o700 });
  mkdirSync(at('identities'), { mode: 0o700 });
  const brokers = hosts.map((_, machine) => [`host-${machine}`, 'broker']);
  const where = ['--bus', bus, '--ca', at('certs', 'ca.pem'), '--out', at('identities')];
  for (const [agent, role] of [...brokers, ...Object.entries(agents)])
    await operate(at('operator'), ['keys', 'add', agent, '--role', role, ...where]);
  await operate(at('operator'), ['keys', 'nats', '--hosts-pull', '--out', at('sigma-agents.conf')]);
  for (const [machine, host] of hosts.entries()) {
    const its = (...names) => at(`machine-${machine}`, ...names);
    mkdirSync(its('etc'), { recursive: true });
    mkdirSync(its('home'), { mode: 0o700 });
    cpSync(at('operator', 'bus', 'keys'), its('home', 'bus', 'keys'), { recursive: true });
    writeFileSync(its('home', 'attention.yaml'), JSON.stringify(policy));
    cpSync(at('identities'), its('identities'), { recursive: true });
    copyFileSync(at('identities', `host-${machine}.json`), its('identities', 'broker.json'));
    copyFileSync(at('certs', 'ca.pem'), its('etc', 'ca.pem'));
    copyFileSync(at('certs', `${host}.pem`), its('etc', 'server.pem'));
    copyFileSync(at('certs', `${host}-key.pem`), its('etc', 'server-key.pem'));
    copyFileSync(at('sigma-agents.conf'), its('etc', 'sigma-agents.conf'));
    copyFileSync(path.join(deploy, 'cluster.conf'), its('etc', 'cluster.conf'));
    const conf = readFileSync(path.join(deploy, 'nats-server.conf'), 'utf8')
      .replace('/var/lib/sigma-nats', its('jetstream'))
      // The operator asks from another machine.
      .replace(`127.0.0.1:${monitorPort}`, `0.0.0.0:${monitorPort}`);
    writeFileSync(its('etc', 'nats-server.conf'), conf);
  }
}

function operate(home, args) {
  const env = { ...process.env, SIGMA_HOME: home, SIGMA_BUS: '', SIGMA_IDENTITY: '' };
  return promisify(execFile)(process.execPath, [sigma, ...args], { env });
}

/** One of the three, with all that runs there. */
export class Machine {
  #folder;
  #namespace;
  #onLead;
  #onDied;
  /** Those that another part of the campaign started there. */
  #workers = [];

  /** `onLead` gets each `{ machine, office, isLeading, epoch, atMs, pid }`; `onDied` what ended unasked. */
  constructor({ at, namespace, folder, programs, onLead, onDied }) {
    this.at = at;
    this.#namespace = namespace;
    this.#folder = path.join(folder, `machine-${at}`);
    this.#onLead = onLead;
    this.#onDied = onDied;
    this.server = this.#child('server', ['nats-server', '-c', 'cluster.conf'], {
      cwd: path.join(this.#folder, 'etc'),
      env: {
        ...process.env,
        SIGMA_NATS_NAME: hosts[at],
      },
    });
    this.bus = this.#sigma('bus', ['bus']);
    this.manager = this.#sigma('manager', ['agent', 'manager']);
    const name = `executor-${at}`;
    const executor = ['agent', 'executor', '--name', name, '--slots', '8', '--root', programs];
    this.executor = this.#sigma('executor', executor);
  }

  get #own() {
    return [this.server, this.bus, this.manager, this.executor];
  }

  start() {
    for (const each of this.#own) each.start();
  }

  /** All at once, as with the power. Started again by `start` and by who started workers. */
  async kill(killWorker) {
    const dying = this.#own.map((each) => each.kill());
    dying.push(...this.#workers.map((each) => killWorker(each)));
    killAllIn(this.#namespace);
    await Promise.all(dying);
  }

  restart() {
    this.start();
    for (const each of this.#workers) each.start();
  }

  /** A script of the campaigns, given its settings as one argument. */
  worker(name, script, settings, onMessage) {
    const file = path.resolve(import.meta.dirname, '..', script);
    const command = [process.execPath, file, JSON.stringify(settings)];
    const options = { env: this.#env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] };
    const child = new Child(name, () => spawnIn(this.#namespace, command, options), onMessage);
    this.#workers.push(child);
    return child;
  }

  /** What its server could not check of another one. */
  get routeErrors() {
    const text = readFileSync(path.join(this.#folder, 'server.log'), 'utf8');
    return text.split('\n').filter((line) => /route handshake error.*x509/.test(line));
  }

  /** Its server says that it has all that it should have. */
  async isHealthy() {
    try {
      const url = `http://${hosts[this.at]}:${monitorPort}/healthz`;
      const { ok } = await fetch(url, { signal: AbortSignal.timeout(healthMsMax) });
      return ok;
    } catch {
      return false;
    }
  }

  get #env() {
    return {
      ...process.env,
      SIGMA_HOME: path.join(this.#folder, 'home'),
      SIGMA_BUS: bus,
      SIGMA_IDENTITY: path.join(this.#folder, 'identities'),
    };
  }

  #sigma(name, args) {
    const command = [process.execPath, sigma, ...args, '--log', 'info'];
    return this.#child(name, command, { env: this.#env });
  }

  #child(name, command, options) {
    const log = path.join(this.#folder, `${name}.log`);
    const start = () => {
      const child = spawnIn(this.#namespace, command, {
        ...options,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let rest = '';
      child.stderr.setEncoding('utf8').on('data', (chunk) => {
        appendFileSync(log, chunk);
        const lines = (rest + chunk).split('\n');
        rest = lines.pop();
        for (const line of lines) this.#hear(name, child.pid, line);
      });
      return child;
    };
    return new Child(name, start, ({ how }, child) =>
      this.#onDied(`${name} of machine ${this.at} ended (${how}): ${child.output.slice(-500)}`),
    );
  }

  #hear(office, pid, line) {
    if (!line.includes('"leading"') && !line.includes('"leads no more"')) return;
    const { msg, time, epoch } = JSON.parse(line);
    const isLeading = msg === 'leading';
    this.#onLead({ machine: this, office, isLeading, epoch, atMs: Date.parse(time), pid });
  }
}
