import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, connect } from 'node:net';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { temporaryFolder } from './temporary.js';

/** Why tests that need it are skipped; undefined: it is there. */
export const natsMissing =
  spawnSync('nats-server', ['--version']).status === 0
    ? undefined
    : 'SKIPPED: nats-server is not installed (apt-get install nats-server)';

export interface NatsServer {
  readonly port: number;
  /** Has it read its configuration again. */
  reload(): void;
  kill(signal?: NodeJS.Signals): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** A real server with JetStream on a free port of this machine. `config`: further lines of its configuration. */
export async function startNats(
  config: (folder: string) => string = () => '',
): Promise<NatsServer> {
  const folder = temporaryFolder();
  const port = await freePort();
  const file = path.join(folder.path, 'nats.conf');
  writeFileSync(
    file,
    `listen: "127.0.0.1:${port}"\njetstream { store_dir: ${JSON.stringify(folder.path)} }\n${config(folder.path)}\n`,
  );
  let child: ChildProcess | undefined;
  const server: NatsServer = {
    port,
    reload: () => void child?.kill('SIGHUP'),
    async kill(signal = 'SIGKILL') {
      if (child === undefined || child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
      child = undefined;
    },
    async start() {
      child = spawn('nats-server', ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
      let said = '';
      child.stderr?.on(
        'data',
        (part: Buffer) => (said = `${said}${part.toString()}`.slice(-4_000)),
      );
      while (!(await answers(port))) {
        if (child.exitCode !== null) throw new Error(`nats-server ended: ${said}`);
        await wait(10);
      }
    },
    async close() {
      await server.kill();
      folder.remove();
    },
  };
  await server.start();
  return server;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
    socket.once('data', () => socket.destroy());
  });
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
