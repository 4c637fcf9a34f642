import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface NatsServer {
  url: string;
  stop(): Promise<void>;
}

/** A real server on a free port of this machine. */
export async function natsServer(...options: string[]): Promise<NatsServer> {
  const args = ['-a', '127.0.0.1', '-p', '-1', ...options];
  const server = spawn('nats-server', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((resolve) => server.once('close', resolve));
  const stop = async (): Promise<void> => {
    server.kill();
    await ended;
  };
  for await (const line of createInterface(server.stderr)) {
    const [, port] = /Listening for client connections on \S+:(\d+)/.exec(line) ?? [];
    if (port === undefined) continue;
    server.stderr.resume();
    return { url: `nats://127.0.0.1:${port}`, stop };
  }
  throw new Error('nats-server ended before it listened');
}
