import { readFileSync } from 'node:fs';
import { BusError } from '../../src/errors/bus-error.js';
import type { FilePort } from '../../src/prompt/grammar/read-result.js';

const prefix = 'sigma:';

/** Files that come with the product, by what `/read` calls them behind `sigma:`. No other path leads to a file. */
const shipped: ReadonlyMap<string, URL> = new Map(
  ['personas/worker.md', 'personas/task-builder.md', 'personas/supervisor.md'].map((name) => [
    `${prefix}${name}`,
    new URL(`../../src/prompt/${name}`, import.meta.url),
  ]),
);

export const shippedNames: readonly string[] = [...shipped.keys()];

/** Files that are shipped, and those of a folder; undefined: there is none, and every other path lies outside of it. */
export function withShipped(folder: FilePort | undefined): FilePort {
  return {
    read(path) {
      const file = shipped.get(path);
      if (file !== undefined) return Promise.resolve({ text: readFileSync(file, 'utf8') });
      const refuse = (code: 'READ_MISSING' | 'READ_OUTSIDE') =>
        Promise.resolve({ refused: new BusError(code, { path }) });
      if (path.startsWith(prefix)) return refuse('READ_MISSING');
      return folder?.read(path) ?? refuse('READ_OUTSIDE');
    },
  };
}
