import { defineConfig } from 'vitest/config';

/** What runs in this process alone, and leaves nothing behind in the modules that it shares. */
const units = ['unit', 'table', 'conformance'].map((part) => `test/${part}/**/*.test.ts`);

export default defineConfig({
  test: {
    globalSetup: 'test/support/build.ts',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Integration tests start real process trees, and wait for them most of the time.
    maxWorkers: 3,
    projects: [
      { extends: true, test: { name: 'units', include: units, isolate: false } },
      {
        extends: true,
        test: { name: 'processes', include: ['test/**/*.test.ts'], exclude: units },
      },
    ],
  },
});
