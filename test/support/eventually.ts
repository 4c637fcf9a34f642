/**
 * Repeats a claim until it holds. Throws its last failure after `withinMs`. Pauses as long as the claim took, so that a
 * slow claim leaves the processor to what it waits for.
 */
export async function eventually(
  claim: () => void | Promise<void>,
  withinMs = 15_000,
): Promise<void> {
  const until = performance.now() + withinMs;
  while (true) {
    const begun = performance.now();
    try {
      return await claim();
    } catch (error) {
      const now = performance.now();
      if (now > until) throw error;
      const restMs = Math.max(10, Math.min(now - begun, until - now));
      await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  }
}
