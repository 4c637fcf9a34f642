import { randomBytes } from 'node:crypto';
import { drive, serveRuns } from './load.mjs';
import { openClient } from './sigma-client.mjs';

const [address, bytes] = process.argv.slice(2);
const body = randomBytes(Number(bytes));
const client = await openClient(address, 'bench-poster', { isEphemeral: false });
const record = { model: '', project: '', scope: [], overlays: {}, capabilities: [] };
let mailboxes = 0;

serveRuns(async (load) => {
  // A mailbox per run: none reaches its limit, whatever the speed.
  const recipient = `bench-mailbox-${(mailboxes += 1)}`;
  const owner = await openClient(address, recipient, { isEphemeral: false });
  await owner.register({ ...record, alias: '', protocol_versions: [] });
  await owner.close();
  return drive(() => client.post(`agent:${recipient}`, 'bench.post', body), load);
});
