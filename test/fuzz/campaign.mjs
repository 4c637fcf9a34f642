// Changed frames, garbage bodies and ill-behaved sessions, from the command line:
//
//   npm run campaign:fuzz -- [--seed 1] [--frames 1000000] [--bodies 20000] [--sequences 100000]
//
// The TypeScript is loaded as the tests load it, through Vite; nothing has to be compiled before.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const here = path.dirname(fileURLToPath(import.meta.url));
const { module } = await runnerImport(path.join(here, 'run.ts'), {
  configFile: false,
  root: path.join(here, '../..'),
  logLevel: 'error',
});
process.exitCode = await module.main(process.argv.slice(2));
