/** Where a module of the product stands compiled, for what a thread or a process of a test imports. `source`: from the root of the repository. */
export const compiled = (source: string): URL =>
  new URL(`../../dist/${source.replace(/\.ts$/, '.js')}`, import.meta.url);
