// A leader in a process of its own: `log-writer.mjs URL LOG FOLDER FIRST`. Commits numbers from FIRST on without pause, tells each
// one that was acknowledged, and replaces its log by snapshots often.
import { connect } from '@nats-io/transport-node';
import { systemClock } from '../../dist/src/base/clock.js';
import { noTrace } from '../../dist/src/base/trace.js';
import { LogStore } from '../../dist/src/nats/log-store.js';
import { busLayout } from '../../dist/src/store/layouts.js';

const [url, log, folder, first] = process.argv.slice(2);
const store = await LogStore.open({
  connection: await connect({ servers: url }),
  ...{ stream: `SIGMA_${log}`, subject: `sigma.${log}.log.bus`, replicas: 1, folder },
  ...{ layout: busLayout, clock: systemClock, random: Math.random, trace: noTrace },
  limits: { snapshotAfterBytes: 50_000 },
});
await store.lead(() => process.exit(1));
let next = Number(first);
const write = async () => {
  while (true) {
    const n = next;
    next += 1;
    await store.commit([{ type: 'put', key: `n/${n}`, value: Buffer.alloc(500, String(n)) }]);
    process.send(n);
  }
};
await Promise.all(Array.from({ length: 20 }, write));
