import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/build.ts',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Integration tests start real process trees; on two cores more workers only fight each other.
    maxWorkers: 2,
  },
});
