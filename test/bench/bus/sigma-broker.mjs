// The broker as compiled, file by file: in a profile of the bundle, which ships, all of it is one place.
import { main } from '../../../dist/services/cli/main.js';

await main([...process.argv.slice(0, 2), 'bus']);
