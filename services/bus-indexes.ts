import { systemClock } from '../src/base/clock.js';
import { pause } from '../src/base/pause.js';
import type { Config } from '../src/config/config.js';
import { asBusError, BusError } from '../src/errors/bus-error.js';
import { connectNats } from '../src/nats/connect.js';
import { ObjectBucket } from '../src/nats/object-bucket.js';
import type { PublishedPlace } from '../src/pgc/build/share/published-place.js';
import { pullIndex, type PullRequest } from '../src/pgc/build/share/pull-index.js';
import { placeOf, readManifest } from '../src/pgc/plan/manifest.js';
import { realRoot } from '../src/pgc/source/source-tree.js';
import { natsAccess } from '../src/remote/identity.js';
import { isNats } from '../src/transport/address.js';

const againMs = 2_000;

interface Asked {
  /** Whose identity is used, where the configuration names a folder of them. */
  agent?: string;
  signal?: AbortSignal | undefined;
}

/**
 * Runs `work` with the indexes that are published on the bus. Throws USAGE where it is not on NATS, NATS_*, KEYS_MISSING,
 * KEY_FILE_INVALID.
 */
export async function withBusIndexes<T>(
  config: Config,
  { agent, signal }: Asked,
  work: (place: PublishedPlace) => Promise<T>,
): Promise<T> {
  const { bus } = config;
  if (!isNats(bus))
    throw new BusError('USAGE', {
      detail: `indexes are published on a bus on NATS only, not on ${bus}: name a folder or an https:// address instead, or give --bus tls://HOST:PORT`,
    });
  const access = natsAccess(config, agent);
  const connection = await connectNats(access, { isLasting: true });
  try {
    return await work(await ObjectBucket.open({ connection, access, signal }));
  } finally {
    await connection.close();
  }
}

/**
 * Pulls the nearest index that is published on the bus, where this home has none of the tree. False: it has one, there is none, or the
 * bus is not on NATS. Waits for servers that are away, and for another process that builds or pulls it. Throws as `withBusIndexes` and `pullIndex`.
 */
export async function pullMissingIndex(
  config: Config,
  root: string,
  asked: Asked & Pick<PullRequest, 'onProgress'>,
): Promise<boolean> {
  const { home } = config;
  const { onProgress, signal } = asked;
  if (!isNats(config.bus) || (await hasIndex(root, home))) return false;
  const request = { root, home, ...(onProgress && { onProgress }), ...(signal && { signal }) };
  for (;;)
    try {
      await withBusIndexes(config, asked, (from) => pullIndex({ ...request, from }));
      return true;
    } catch (error) {
      const { code, retryable } = asBusError(error);
      if (code === 'PUBLISHED_MISSING') return false;
      // The servers may start later than this process.
      if (!retryable || signal?.aborted === true) throw error;
      await pause(systemClock, againMs, signal);
    }
}

/** One that is damaged, too. */
async function hasIndex(root: string, home: string): Promise<boolean> {
  const real = await realRoot(root);
  return readManifest(placeOf(real, home), real).then(
    () => true,
    (error: unknown) => asBusError(error).code !== 'INDEX_MISSING',
  );
}
