import type { Config } from '../../../src/config/config.js';
import { BusError } from '../../../src/errors/bus-error.js';
import type { FarMiners } from '../../../src/pgc/mine/spread.js';

/** Runs `work` with those that mine on the bus. Throws NO_RESPONDER where there are none, and as `withClient`. */
export async function withMiners<T>(
  config: Config,
  work: (far: FarMiners) => Promise<T>,
): Promise<T> {
  const { withClient } = await import('../../../src/remote/with-client.js');
  const { minersOn } = await import('../../../src/pgc/serve/mine-service.js');
  return withClient(config, async (client) => {
    const far = await minersOn(client);
    if (far === undefined) throw new BusError('NO_RESPONDER', { service: 'mining files' });
    return work(far);
  });
}
