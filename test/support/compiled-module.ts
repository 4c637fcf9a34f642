import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A module of the product, compiled with what it imports of it: a thread or a process that a test starts runs no TypeScript. */
export class CompiledModule implements Disposable {
  private constructor(
    readonly folder: string,
    readonly url: URL,
  ) {}

  /** `source`: from the root of the repository. */
  static async of(source: string): Promise<CompiledModule> {
    // Inside the repository, so that it finds the packages it imports.
    const folder = mkdtempSync(path.join(root, 'node_modules/.compiled-'));
    await build({
      configFile: false,
      logLevel: 'silent',
      build: {
        ssr: path.join(root, source),
        outDir: folder,
        emptyOutDir: true,
        rolldownOptions: { output: { entryFileNames: 'module.mjs' } },
      },
    });
    return new CompiledModule(folder, pathToFileURL(path.join(folder, 'module.mjs')));
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
