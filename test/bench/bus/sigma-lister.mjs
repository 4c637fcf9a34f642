// Lists all agents, of which there are as many as its third argument says.
import { drive, serveRuns } from './load.mjs';
import { openClient } from './sigma-client.mjs';

const [address, , count] = process.argv.slice(2);
const record = { model: '', project: 'bench', scope: [], overlays: {}, capabilities: [] };
const atOnce = 25;
const register = async (at) => {
  const agent = await openClient(address, `bench-agent-${at}`, { isEphemeral: false });
  await agent.register({ ...record, alias: '', protocol_versions: ['1'] });
  await agent.close();
};
for (let first = 0; first < Number(count); first += atOnce)
  await Promise.all(Array.from({ length: atOnce }, (_, at) => register(first + at)));
const client = await openClient(address, 'bench-requester');

serveRuns((load) =>
  drive(async () => {
    const agents = await client.agents({});
    if (agents.length !== Number(count)) throw new Error(`${agents.length} agents are listed`);
  }, load),
);
