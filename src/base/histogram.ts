/** Preferred numbers R10 (ISO 3): ten steps a decade, each about a quarter more than the one before. */
const steps = [1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8];
const decades = [-2, -1, 0, 1, 2, 3];

/** Upper bounds in milliseconds, 0.01 ms to 8 s; longer durations are counted beyond the last. */
const boundsMs = Float64Array.from(
  decades.flatMap((decade) => steps.map((each) => Number((each * 10 ** decade).toPrecision(3)))),
);

/** Durations counted in fixed buckets: recording one costs a few nanoseconds and allocates nothing. */
export class Histogram {
  readonly #counts = new Float64Array(boundsMs.length + 1);
  #count = 0;
  #sumMs = 0;

  get count(): number {
    return this.#count;
  }

  get sumMs(): number {
    return this.#sumMs;
  }

  record(ms: number): void {
    let low = 0;
    let high = boundsMs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((boundsMs[middle] as number) < ms) low = middle + 1;
      else high = middle;
    }
    this.#counts[low] = (this.#counts[low] as number) + 1;
    this.#count += 1;
    this.#sumMs += ms;
  }

  clear(): void {
    this.#counts.fill(0);
    this.#count = 0;
    this.#sumMs = 0;
  }

  /** Milliseconds below which the share `q` of all records lies, within a quarter; 0 without records. */
  quantile(q: number): number {
    return quantileOf([this], q);
  }

  /** Cumulative counts for every bound; the last bound is infinite. */
  buckets(): { boundMs: number; atMost: number }[] {
    let atMost = 0;
    return Array.from(this.#counts, (count, at) => {
      atMost += count;
      return { boundMs: boundsMs[at] ?? Infinity, atMost };
    });
  }
}

/** Of all that was recorded in any of these. Within a bucket, records are taken to lie evenly. */
export function quantileOf(histograms: readonly Histogram[], q: number): number {
  const wanted = q * histograms.reduce((sum, each) => sum + each.count, 0);
  if (wanted === 0) return 0;
  const all = histograms.map((each) => each.buckets());
  let belowMs = 0;
  let below = 0;
  for (const [at, { boundMs }] of (all[0] ?? []).entries()) {
    const atMost = all.reduce((sum, each) => sum + (each[at]?.atMost ?? 0), 0);
    if (atMost >= wanted) {
      if (boundMs === Infinity) return belowMs;
      return belowMs + ((boundMs - belowMs) * (wanted - below)) / (atMost - below);
    }
    belowMs = boundMs;
    below = atMost;
  }
  return belowMs;
}
