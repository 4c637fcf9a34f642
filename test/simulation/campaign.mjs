// Many simulated worlds, from the command line:
//
//   npm run campaign:simulation -- [--seeds 1000] [--from 1] [--seed N [--verbose]] [--plant skip-fsync|skip-dedupe|lost-lease]
//   npm run campaign:durable -- [--seeds 200] [--from 1] [--machine NAME] [--plants]
//
// The TypeScript is loaded as the tests load it, through Vite; nothing has to be compiled before.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const here = path.dirname(fileURLToPath(import.meta.url));
const [which = '', ...rest] = process.argv.slice(2);
const isDurable = which === 'durable';
const { module } = await runnerImport(path.join(here, isDurable ? 'durable/run.ts' : 'run.ts'), {
  configFile: false,
  root: path.join(here, '../..'),
  logLevel: 'error',
});
process.exitCode = await module.main(isDurable ? rest : process.argv.slice(2));
