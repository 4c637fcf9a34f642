import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { defineConfig, type Plugin } from 'vitest/config';

const root = path.dirname(fileURLToPath(import.meta.url));
/** What runs in this process alone, and leaves nothing behind in the modules that it shares. */
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
    // Integration tests start real process trees, and wait for them most of the time.
    maxWorkers: 3,
    isolate: false,
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
