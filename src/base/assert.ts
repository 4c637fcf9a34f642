/** For conditions that only a bug can violate. Bad input is a coded error instead. */
export function assert(claim: unknown, why: string): asserts claim {
  if (claim === undefined || claim === null || claim === false) throw new Error(`bug: ${why}`);
}

/** In the default branch of a switch: the compiler proves that it cannot be reached. */
export function unreachable(value: never): never {
  throw new Error(`bug: unreachable ${String(value)}`);
}
