import { lowerBound } from '../bytes.js';

/** Numbers of one source, from `first` on. */
export interface Run {
  source: number;
  first: number;
  length: number;
}

/**
 * Numbers the things of several sources anew, without gaps: those of each source in their order, but for those that no run
 * holds. A refresh leaves few runs, so each question is a search in a short list.
 */
export class Runs {
  readonly length: number;
  readonly #runs: (Run & { start: number })[] = [];
  /** By source: its runs, in their order. */
  readonly #bySource: (Run & { start: number })[][] = [];

  /** Neighbours that continue each other become one run. */
  constructor(runs: Iterable<Run>) {
    let start = 0;
    for (const { source, first, length } of runs) {
      if (length === 0) continue;
      const last = this.#runs.at(-1);
      if (last?.source === source && last.first + last.length === first) last.length += length;
      else {
        const run = { source, first, length, start };
        this.#runs.push(run);
        (this.#bySource[source] ??= []).push(run);
      }
      start += length;
    }
    this.length = start;
  }

  /** Undefined beyond the last. */
  at(id: number): { source: number; id: number } | undefined {
    const run = this.#runs[lowerBound(this.#runs.length, (at) => endOf(this.#runs[at]) <= id)];
    return run && { source: run.source, id: run.first + id - run.start };
  }

  /** Undefined: no run holds it. */
  of(source: number, id: number): number | undefined {
    const runs = this.#bySource[source] ?? [];
    const at = lowerBound(runs.length, (each) => lastOf(runs[each]) < id);
    const run = runs[at];
    return run === undefined || id < run.first ? undefined : run.start + id - run.first;
  }

  /** Whether all of a source is there. */
  isWhole(source: number, length: number): boolean {
    const [run, ...others] = this.#bySource[source] ?? [];
    return others.length === 0 && (run?.length ?? 0) === length;
  }

  all(): readonly Readonly<Run & { start: number }>[] {
    return this.#runs;
  }
}

function endOf(run: (Run & { start: number }) | undefined): number {
  return run === undefined ? 0 : run.start + run.length;
}

function lastOf(run: Run | undefined): number {
  return run === undefined ? 0 : run.first + run.length - 1;
}

/** The files of several sources in order of their paths, without those that later ones replace. */
export function fileRuns(
  sources: readonly { count: number; path: (file: number) => string; hides: ReadonlySet<string> }[],
): Runs {
  const hidden = sources.map(
    (_, source) => new Set(sources.slice(source + 1).flatMap(({ hides }) => [...hides])),
  );
  const next = sources.map(() => 0);
  const skip = (source: number): string | undefined => {
    const its = sources[source];
    for (
      ;
      its !== undefined && (next[source] ?? 0) < its.count;
      next[source] = (next[source] ?? 0) + 1
    ) {
      const path = its.path(next[source] ?? 0);
      if (hidden[source]?.has(path) !== true) return path;
    }
    return undefined;
  };
  const paths = sources.map((_, source) => skip(source));
  const runs: Run[] = [];
  for (;;) {
    let best = -1;
    for (const [source, path] of paths.entries())
      if (path !== undefined && (best < 0 || path < (paths[best] ?? ''))) best = source;
    if (best < 0) return new Runs(runs);
    runs.push({ source: best, first: next[best] ?? 0, length: 1 });
    next[best] = (next[best] ?? 0) + 1;
    paths[best] = skip(best);
  }
}
