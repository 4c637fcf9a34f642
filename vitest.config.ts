import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { defineConfig, type Plugin } from 'vitest/config';

const root = path.dirname(fileURLToPath(import.meta.url));
/**
 * Tests that start no process of ours; most of those of trees start git. Each kind has workers of its own: a process of 600 MB takes
 * ten times as long to start another one as one of 100 MB.
 */
const trees = ['test/unit/pgc/{build,source,plan,analyse,overlay}/**/*.test.ts'];
/** They need nats-server; `npm run test:nats` runs them. */
const onNats = 'test/nats/**/*.test.ts';
/** They need Chromium; `npm run test:console` runs them. */
const inBrowser = 'test/console/**/*.test.ts';
const units = ['unit', 'table', 'conformance'].map((part) => `test/${part}/**/*.test.ts`);

/**
 * Tests import the compiled program, which test/support/build.ts makes: it is compiled once, and what ships is tested. Of the page of
 * the console nothing is compiled file by file.
 */
const compiled: Plugin = {
  name: 'sigma-compiled',
  enforce: 'pre',
  resolveId(source, importer) {
    if (!source.startsWith('.') || importer === undefined) return undefined;
    const file = path.relative(root, path.resolve(path.dirname(importer), source));
    if (!/^(?:src|services)\/(?!console\/page\/).*\.js$/.test(file)) return undefined;
    return { id: path.join(root, 'dist', file), external: true };
  },
};

export default defineConfig({
  plugins: [compiled],
  test: {
    globalSetup: 'test/support/build.ts',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // A worker loads the program once for all its files. Tests must leave nothing behind.
    isolate: false,
    unstubEnvs: true,
    server: { deps: { external: [/\/dist\//] } },
    projects: [
      { extends: true, test: { name: 'trees', include: trees } },
      { extends: true, test: { name: 'units', include: units, exclude: trees } },
      {
        extends: true,
        test: {
          ...{
            name: 'processes',
            include: ['test/**/*.test.ts'],
            exclude: [...units, onNats, inBrowser],
          },
          // They wait for timers, sockets and processes, so that two cores carry three workers.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...{ name: 'nats', include: [onNats], globalSetup: 'test/support/nats-needed.ts' },
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          ...{ name: 'console', include: [inBrowser] },
          globalSetup: 'test/support/browser-needed.ts',
          // A browser and seven processes of ours at a time.
          ...{ maxWorkers: 1, testTimeout: 120_000, hookTimeout: 180_000 },
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
