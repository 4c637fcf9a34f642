import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import path from 'node:path';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { eventually } from './eventually.js';
import { takePortPair } from './ports.js';
import { temporaryFolder } from './temporary.js';

export interface NatsServer extends AsyncDisposable {
  readonly url: string;
  /** Without the scheme. */
  readonly address: string;
  /** What it has on disk. */
  readonly folder: string;
  /** A connection that the server closes with itself; it never gives up. */
  connect(): Promise<NatsConnection>;
  /** Without warning. */
  kill(): Promise<void>;
  /** Has it read its configuration again, in its own time. */
  reload(): void;
  /** Again, with what it had on disk. */
  start(): Promise<void>;
}

/** With JetStream, in a folder of its own. `lines`: more of its configuration. */
export async function startNats(lines = ''): Promise<NatsServer> {
  const [server] = await startAll(1, () => lines);
  return server as NatsServer;
}

/** Servers that keep copies of each other's streams. */
export function startCluster(size: number): Promise<NatsServer[]> {
  return startAll(
    size,
    (at, ports) =>
      `server_name: n${at}\ncluster { name: c, listen: "127.0.0.1:${(ports[at] ?? 0) + 1}", routes: [${ports
        .map((port) => `"nats://127.0.0.1:${port + 1}"`)
        .join(', ')}] }\n`,
  );
}

async function startAll(
  size: number,
  linesOf: (at: number, ports: number[]) => string,
): Promise<NatsServer[]> {
  const pairs = Array.from({ length: size }, takePortPair);
  const ports = pairs.map((each) => each.port);
  const servers = pairs.map(({ port, release }, at) => {
    const folder = temporaryFolder('sigma-nats-');
    const conf = path.join(folder.path, 'nats.conf');
    const store = path.join(folder.path, 'jetstream');
    mkdirSync(store);
    writeFileSync(
      conf,
      `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${store}", max_file_store: 200GB, max_memory_store: 256MB }\n${linesOf(at, ports)}`,
    );
    return new Server(conf, store, port, () => {
      release();
      folder.remove();
    });
  });
  await Promise.all(servers.map((each) => each.start()));
  return servers;
}

class Server implements NatsServer {
  readonly address: string;
  readonly url: string;
  readonly folder: string;
  readonly #conf: string;
  readonly #port: number;
  readonly #release: () => void;
  readonly #connections: NatsConnection[] = [];
  #process: ChildProcess | undefined;

  constructor(conf: string, folder: string, port: number, release: () => void) {
    this.address = `127.0.0.1:${port}`;
    this.url = `nats://${this.address}`;
    this.folder = folder;
    this.#conf = conf;
    this.#port = port;
    this.#release = release;
  }

  async start(): Promise<void> {
    this.#process = spawn('nats-server', ['-c', this.#conf], { stdio: 'ignore' });
    await eventually(() => greeted(this.#port));
  }

  reload(): void {
    this.#process?.kill('SIGHUP');
  }

  async connect(): Promise<NatsConnection> {
    const options = { maxReconnectAttempts: -1, reconnectTimeWait: 50, reconnectJitter: 0 };
    const connection = await connect({ servers: this.url, ...options });
    this.#connections.push(connection);
    return connection;
  }

  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#connections.map((each) => each.close()));
    await this.#end('SIGKILL');
    this.#release();
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const its = this.#process;
    this.#process = undefined;
    if (its === undefined) return;
    const exited = new Promise((resolve) => its.once('exit', resolve));
    its.kill(signal);
    await exited;
  }
}

/** The first word is the server's, whomever it lets in later. */
function greeted(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new Socket().connect(port, '127.0.0.1');
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('it closed the connection')));
    socket.once('data', () => {
      resolve();
      socket.destroy();
    });
  });
}
