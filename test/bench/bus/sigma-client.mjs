// A client of the bus as every process of the product opens one. Over tcp and NATS: as the identity in the folder
// that SIGMA_IDENTITY names.
import { loadConfig } from '../../../dist/src/config/config.js';
import { openClient as open } from '../../../dist/src/remote/open-client.js';

const readyMsMax = 30_000;

export const role = 'bench';
export const echoService = 'bench.echo';
export const echoType = 'bench.echo';

export async function openClient(address, agent, { isEphemeral = true } = {}) {
  const config = loadConfig(process.env, { bus: address });
  const client = open(config, { agent, role, isEphemeral });
  await client.ready({ withinMs: readyMsMax });
  return client;
}
