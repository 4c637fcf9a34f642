// The bus on NATS under faults. Three machines, each a network namespace with a server of one cluster, a candidate broker, a candidate
// manager, an executor, a sender and a receiver. Meanwhile servers, machines and leaders are killed, the machine of the leader is cut
// off the others, and a leader stands still until another leads.
//
//   npm run campaign:nats -- [--messages 200000] [--tasks 500] [--rounds N] [--seed 1] [--json]
//
// A round has each fault; without --rounds there is one for each 66 000 messages. Wants Linux, root, ip, openssl and nats-server.
// Exits with 1 when a claim does not hold, and then leaves the folder with the logs.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hosts } from './machines.mjs';
import { lacking, Network, spawnIn } from './network.mjs';

const missing = lacking();
if (missing.length > 0) {
  process.stderr.write(`campaign:nats: this machine has no ${missing.join(', ')}\n`);
  process.exit(2);
}
const network = new Network(process.pid, hosts);
const folder = mkdtempSync(path.join(tmpdir(), 'sigma-nats-'));
// However it ends: nothing of the network may stay.
process.on('exit', (code) => {
  network.remove();
  if (code === 0) rmSync(folder, { recursive: true, force: true });
  else process.stderr.write(`campaign:nats: logs and journals are left in ${folder}\n`);
});
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
])
  process.on(signal, () => process.exit(code));

network.make();
const campaign = path.join(import.meta.dirname, 'campaign.mjs');
const child = spawnIn(network.operator, [process.execPath, campaign, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, SIGMA_CAMPAIGN: JSON.stringify({ id: process.pid, folder }) },
});
process.exitCode = await new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
