/** Repeats a claim until it holds, at most `withinMs`; then its last failure is thrown. */
export async function eventually(
  claim: () => void | Promise<void>,
  withinMs = 8_000,
): Promise<void> {
  const until = performance.now() + withinMs;
  while (true) {
    try {
      return await claim();
    } catch (error) {
      if (performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
