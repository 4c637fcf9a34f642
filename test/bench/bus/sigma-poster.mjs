import { randomBytes } from 'node:crypto';
import { drive, serveRuns } from './load.mjs';
import { openClient } from './sigma-client.mjs';

const [address, bytes] = process.argv.slice(2);
const body = randomBytes(Number(bytes));
const client = await openClient(address, 'bench-poster', { isEphemeral: false });
const record = { model: '', project: '', scope: [], overlays: {}, capabilities: [] };
/** Fewer than a mailbox takes. */
const perMailbox = 80_000;
/** More than a run can fill. */
const mailboxesPerRun = 5;
let mailboxes = 0;

serveRuns(async (load) => {
  const recipients = [];
  for (let count = 0; count < mailboxesPerRun; count += 1) {
    const recipient = `bench-mailbox-${(mailboxes += 1)}`;
    const owner = await openClient(address, recipient, { isEphemeral: false });
    await owner.register({ ...record, alias: '', protocol_versions: [] });
    await owner.close();
    recipients.push(`agent:${recipient}`);
  }
  let posts = 0;
  const once = () => {
    const to = recipients[Math.floor(posts / perMailbox)];
    posts += 1;
    return client.post(to, 'bench.post', body);
  };
  return drive(once, load);
});
