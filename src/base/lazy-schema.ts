import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** The package, as a type: a module that takes it as an argument does not load it. */
export type Zod = typeof import('zod').z;

/** A schema that is made when it is first used: to load zod takes a short command as long as all its other work. */
export function lazily<S>(make: (z: Zod) => S): () => S {
  let made: S | undefined;
  return () => (made ??= make(zod()));
}

function zod(): Zod {
  const require = createRequire(import.meta.url);
  // The path gives the copy that other modules import.
  return (require(fileURLToPath(import.meta.resolve('zod'))) as { z: Zod }).z;
}
