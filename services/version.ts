import { readFileSync } from 'node:fs';

const packageFile = new URL('../../package.json', import.meta.url);
/** Of the package. Here, because most of what the command line says needs nothing else of a process on the bus. */
export const version = (JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string })
  .version;
