/**
 * Repeats a claim until it holds, at most `withinMs`; then its last failure is thrown. A claim that takes its time, as a
 * command does, rests as long: what it waits for needs the processor, too.
 */
export async function eventually(
  claim: () => void | Promise<void>,
  withinMs = 8_000,
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
