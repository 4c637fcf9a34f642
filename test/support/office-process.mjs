// A process that wants to lead: `office-process.mjs HOME FOLDER`. Commits the number of each time that it leads, and tells it.
import { loadConfig } from '../../dist/src/config/config.js';
import { openLog } from '../../dist/src/observe/log.js';
import { busLayout } from '../../dist/src/store/layouts.js';
import { inOffice } from '../../dist/services/office.js';

const [home, folder] = process.argv.slice(2);
const log = openLog({ log: 'silent' }, {});
const stopped = new Promise(() => undefined);
const parts = { name: 'bus', role: 'broker', layout: busLayout, folder, log, stopped };
await inOffice(loadConfig({ SIGMA_HOME: home }), parts, async ({ open, nats, ended }) => {
  const store = await open();
  const value = Buffer.from(String(nats.epoch));
  await store.commit([{ type: 'put', key: 'led-by/killed', value }]);
  process.send(nats.epoch);
  await ended;
});
