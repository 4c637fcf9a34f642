import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { untilAccepted } from '../../src/client/registration.js';
import type { Config } from '../../src/config/config.js';
import { openLog, traceTo } from '../../src/observe/log.js';
import { jobsMax } from '../../src/pgc/build/source-mining.js';
import { MineService } from '../../src/pgc/serve/mine-service.js';
import { openClient } from '../../src/remote/open-client.js';
import { endOf, untilStopped } from '../process.js';
import { reportReady } from '../systemd.js';

/** `sigma agent miner`: mines files for index runs on other hosts, until a signal stops it. */
export async function runMiner(config: Config, { jobs }: { jobs?: number }): Promise<void> {
  const log = openLog(config, { service: 'miner' });
  const stopped = untilStopped();
  const agent = `pgc-miner-${process.pid}-${randomBytes(4).toString('hex')}`;
  const client = openClient(config, { agent, role: 'pgc', isEphemeral: true }, traceTo(log));
  await using service = new MineService(jobs ?? Math.min(availableParallelism(), jobsMax));
  try {
    const introduced = untilAccepted(client, traceTo(log), async () => {
      await service.serveOn(client);
      log.info({ agent }, 'serving');
      await reportReady();
    });
    await Promise.race([introduced, stopped]);
    await endOf(stopped, [client], log);
    log.info({ files: service.mined }, 'mined');
  } finally {
    await client.close();
  }
}
