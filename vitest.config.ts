import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { defineConfig, type Plugin } from 'vitest/config';

const root = path.dirname(fileURLToPath(import.meta.url));
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
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/build.ts',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Many tests start processes, and wait for them.
    maxWorkers: 4,
    // A worker loads the program once, for all files that it is given: they leave nothing behind in it.
    isolate: false,
    unstubEnvs: true,
    server: { deps: { external: [/\/dist\//] } },
  },
});
