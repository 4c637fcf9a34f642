/** The compiled file of a module, for threads and processes of a test. `source`: its path from the root of the repository. */
export const compiled = (source: string): URL =>
  new URL(`../../dist/${source.replace(/\.ts$/, '.js')}`, import.meta.url);
