const windowMs = 1_000;
/** Longer than this between two frames, and the page hangs. */
export const frameMsMax = 100;

/** Of the times at which frames began: how many there were, the longest gap, and windows of a second that a gap over the limit touches. */
export function framesIn(startsMs, seconds) {
  const [fromMs] = startsMs;
  const late = new Set();
  let worstMs = 0;
  const ends = [...startsMs.slice(1), fromMs + seconds * windowMs];
  for (const [at, endMs] of ends.entries()) {
    const beganMs = startsMs[at];
    worstMs = Math.max(worstMs, endMs - beganMs);
    if (endMs - beganMs <= frameMsMax) continue;
    const last = Math.min(seconds - 1, Math.floor((endMs - fromMs) / windowMs));
    const first = Math.max(0, Math.floor((beganMs - fromMs) / windowMs));
    for (let each = first; each <= last; each += 1) late.add(each);
  }
  return { count: startsMs.length - 1, worstMs, windows: seconds, late: late.size };
}
