// A client of the bus as every process of the product opens one.
import { systemClock } from '../../../dist/src/base/clock.js';
import { Client } from '../../../dist/src/client/client.js';
import { ZeromqLink } from '../../../dist/src/transport/zeromq.js';

const readyMsMax = 10_000;

export const echoService = 'bench.echo';
export const echoType = 'bench.echo';

export async function openClient(address, agent, { isEphemeral = true } = {}) {
  const client = Client.connect({
    link: new ZeromqLink(address),
    identity: { agent, role: 'bench', isEphemeral },
    clock: systemClock,
    random: Math.random,
  });
  await client.ready({ withinMs: readyMsMax });
  return client;
}
