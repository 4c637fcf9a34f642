import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { NatsServer } from './nats-server.js';
import { takePortPair } from './ports.js';

/** What a network between clients and their server takes away. */
export type Lost = 'nothing' | 'answers' | 'all';

export interface NatsProxy extends AsyncDisposable {
  readonly url: string;
  /** Without the scheme. */
  readonly address: string;
  /** From now on. Connections that lost something both ways end when nothing is lost any more. */
  lose(what: Lost): void;
  /** Told of all that a client says, before it is passed on. */
  onSaid: (text: string) => void;
}

/** A way to that server, on which words can be lost while connections last. */
export async function startProxy(server: NatsServer): Promise<NatsProxy> {
  const { port, release } = takePortPair();
  const address = `127.0.0.1:${port}`;
  const sockets = new Set<Socket>();
  let lost: Lost = 'nothing';
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  };
  const endAll = (): void => {
    for (const each of sockets) each.destroy();
  };
  const listening = createServer((client) => {
    const [, host = '', its = ''] = /^(.*):(\d+)$/.exec(server.address) ?? [];
    const upstream = connect({ host, port: Number(its) });
    keep(client);
    keep(upstream);
    client.once('close', () => upstream.destroy());
    upstream.once('close', () => client.destroy());
    client.on('data', (bytes) => {
      proxy.onSaid(bytes.toString('latin1'));
      if (lost !== 'all') upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (lost === 'nothing') client.write(bytes);
    });
  }).listen(port, '127.0.0.1');
  await once(listening, 'listening');
  const proxy: NatsProxy = {
    url: `nats://${address}`,
    address,
    onSaid: () => undefined,
    lose: (what) => {
      if (lost === 'all' && what !== 'all') endAll();
      lost = what;
    },
    [Symbol.asyncDispose]: async () => {
      endAll();
      listening.close();
      await once(listening, 'close');
      release();
    },
  };
  return proxy;
}
