import { endWithParent } from './load.mjs';
import { echoService, echoType, openClient } from './sigma-client.mjs';

const client = await openClient(process.argv[2], 'bench-worker');
client.serve({ [echoType]: (request) => request.body });
await client.offer([echoService]);
endWithParent();
