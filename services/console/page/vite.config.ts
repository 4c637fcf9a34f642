import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = fileURLToPath(new URL('.', import.meta.url));

/** `deploy/page.mjs` builds with it. `npx vite services/console/page` serves the page as it is written, before a console on this port. */
export default defineConfig({
  root: here,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: fileURLToPath(new URL('../../../dist/console', import.meta.url)),
    emptyOutDir: true,
    target: ['chrome123', 'firefox121', 'safari17.5'],
    // The page's policy allows no inline script, and no data but of images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // A graph library is as large as that, and comes when a graph is shown.
    chunkSizeWarningLimit: 800,
  },
  server: { proxy: { '/api': `http://127.0.0.1:${process.env['SIGMA_CONSOLE_PORT'] ?? 3919}` } },
});
