//     sigma-worker.mjs ADDRESS [SERVICE AGENT]
import { endWithParent } from './load.mjs';
import { echoService, echoType, openClient } from './sigma-client.mjs';

const [address, service = echoService, agent = 'bench-worker'] = process.argv.slice(2);
const client = await openClient(address, agent);
client.serve({ [echoType]: (request) => request.body });
await client.offer([service]);
endWithParent();
