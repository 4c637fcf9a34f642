// The page of the console: what a browser loads, in few files, with the licences of the packages in it.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'vite';
import { licencesOf, note } from './bundle.mjs';

export async function page(root, next) {
  const packages = new Set();
  const outDir = path.join(next, 'console');
  await build({
    configFile: path.join(root, 'services/console/page/vite.config.ts'),
    logLevel: 'warn',
    build: { outDir },
    plugins: [note(packages)],
  });
  writeFileSync(path.join(outDir, 'LICENCES.txt'), licencesOf(packages));
}
