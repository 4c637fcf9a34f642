// A client of the bus as every process of the product opens one. Over tcp: as the identity in the folder
// that SIGMA_IDENTITY names.
import { systemClock } from '../../../dist/src/base/clock.js';
import { Client } from '../../../dist/src/client/client.js';
import { readIdentity } from '../../../dist/src/config/identity.js';
import { linkKeysOf } from '../../../dist/src/remote/identity.js';
import { isTcp } from '../../../dist/src/transport/address.js';
import { ZeromqLink } from '../../../dist/src/transport/zeromq.js';

const readyMsMax = 30_000;

export const role = 'bench';
export const echoService = 'bench.echo';
export const echoType = 'bench.echo';

export async function openClient(address, agent, { isEphemeral = true } = {}) {
  const keys = isTcp(address) ? readIdentity(process.env.SIGMA_IDENTITY, agent) : undefined;
  const client = Client.connect({
    link: new ZeromqLink(address, keys && linkKeysOf(keys)),
    identity: { agent, role, isEphemeral },
    clock: systemClock,
    random: Math.random,
    ...(keys && { secretOf: () => Buffer.from(keys.secret, 'hex') }),
  });
  await client.ready({ withinMs: readyMsMax });
  return client;
}
