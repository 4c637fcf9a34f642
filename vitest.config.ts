import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { defineConfig, type Plugin } from 'vitest/config';

const root = path.dirname(fileURLToPath(import.meta.url));
/** What starts no process. A worker that has run them has grown, and whoever has grown starts processes slowly. */
const units = ['unit', 'table', 'conformance'].map((part) => `test/${part}/**/*.test.ts`);

/** Tests import the compiled program, which test/support/build.ts has just made: what ships is tested, and compiled once. */
const compiled: Plugin = {
  name: 'sigma-compiled',
  enforce: 'pre',
  resolveId(source, importer) {
    if (!source.startsWith('.') || importer === undefined) return undefined;
    const file = path.relative(root, path.resolve(path.dirname(importer), source));
    if (!/^(?:src|services)\/.*\.js$/.test(file)) return undefined;
    return { id: path.join(root, 'dist', file), external: true };
  },
};

export default defineConfig({
  plugins: [compiled],
  test: {
    globalSetup: 'test/support/build.ts',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Many tests start processes, and wait for them.
    maxWorkers: 3,
    // A worker loads the program once, for all files that it is given: they leave nothing behind in it.
    isolate: false,
    unstubEnvs: true,
    server: { deps: { external: [/\/dist\//] } },
    projects: [
      { extends: true, test: { name: 'units', include: units } },
      {
        extends: true,
        test: { name: 'processes', include: ['test/**/*.test.ts'], exclude: units },
      },
    ],
  },
});
