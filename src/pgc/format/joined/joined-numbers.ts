import type { Segment } from '../segment.js';
import type { CallRow } from '../shard-index.js';
import { fileRuns, Runs, type Run } from './runs.js';

/** One segment of a shard. */
export interface Source {
  segment: Segment;
  /** Paths of files in earlier segments that it replaces, or that are gone. */
  hides: ReadonlySet<string>;
}

/** Where something lies: in which segment, and under which number there. */
interface Place {
  source: number;
  id: number;
}

/** The numbers that the files, symbols and sites of several segments have as those of one, and back. */
export class JoinedNumbers {
  readonly segments: readonly Segment[];
  readonly files: Runs;
  readonly symbols: Runs;
  #sites?: { calls: Runs; uses: Runs };

  constructor(sources: readonly Source[]) {
    const segments = sources.map(({ segment }) => segment);
    this.segments = segments;
    this.files = fileRuns(
      sources.map(({ segment, hides }) => ({
        ...{ count: segment.fileCount, hides },
        path: (file: number) => segment.pathOf(file),
      })),
    );
    this.symbols = new Runs(
      this.files.all().map(({ source, first, length }): Run => {
        const [start, end] = segments[source]?.symbolSpan(first, first + length) ?? [0, 0];
        return { source, first: start, length: end - start };
      }),
    );
  }

  /** Calls inside symbols come before those outside of all, as in one segment. */
  get sites(): { calls: Runs; uses: Runs } {
    if (this.#sites !== undefined) return this.#sites;
    const runs = (table: 'calls' | 'uses', where: 'inside' | 'outside'): Run[] =>
      this.files.all().map(({ source, first, length }) => {
        const [start, end] = (this.segments[source] as Segment).siteSpan(
          ...([table, where, first, first + length] as const),
        );
        return { source, first: start, length: end - start };
      });
    const of = (table: 'calls' | 'uses'): Runs =>
      new Runs([...runs(table, 'inside'), ...runs(table, 'outside')]);
    return (this.#sites = { calls: of('calls'), uses: of('uses') });
  }

  fileIn(file: number): [segment: Segment, file: number] {
    const { source = 0, id = 0 } = this.files.at(file) ?? {};
    return [this.segments[source] as Segment, id];
  }

  symbolIn(symbol: number): [segment: Segment, symbol: number] {
    const { source = 0, id = 0 } = this.symbols.at(symbol) ?? {};
    return [this.segments[source] as Segment, id];
  }

  siteIn(site: number): [segment: Segment, site: number] {
    const { source, id } = this.sitePlace(site);
    return [this.segments[source] as Segment, id];
  }

  sitePlace(site: number): Place {
    const { calls, uses } = this.sites;
    const isCall = site < calls.length;
    const place = isCall ? calls.at(site) : uses.at(site - calls.length);
    return place ?? { source: 0, id: 0 };
  }

  /** Slots have no number. */
  siteOf(source: number, id: number): number {
    if (id < 0) return id;
    const { calls, uses } = this.sites;
    const call = calls.of(source, id);
    return call ?? calls.length + (uses.of(source, id) ?? 0);
  }

  ownerOf(source: number, symbol: number): number {
    return symbol < 0 ? symbol : (this.symbols.of(source, symbol) ?? -1);
  }

  /** Without those of hidden files. */
  symbolsOf(source: number, symbols: readonly number[]): number[] {
    return symbols.flatMap((symbol) => this.symbols.of(source, symbol) ?? []);
  }

  /** Of a symbol or a file, as terms count them. Undefined: it is hidden. */
  document(source: number, document: number): number | undefined {
    const symbols = this.segments[source]?.symbolCount ?? 0;
    if (document < symbols) return this.symbols.of(source, document);
    const file = this.files.of(source, document - symbols);
    return file === undefined ? undefined : this.symbols.length + file;
  }

  documentPlace(document: number): Place | undefined {
    if (document < this.symbols.length) return this.symbols.at(document);
    const place = this.files.at(document - this.symbols.length);
    return place && { ...place, id: place.id + (this.segments[place.source]?.symbolCount ?? 0) };
  }

  /** Undefined: its file is hidden. */
  row<Row extends CallRow>(source: number, row: Row): Row | undefined {
    const file = this.files.of(source, row.file);
    if (file === undefined) return undefined;
    return {
      ...row,
      file,
      id: this.siteOf(source, row.id),
      caller: this.ownerOf(source, row.caller),
    };
  }

  /** Of all segments. */
  rows<Row extends CallRow>(rowsOf: (segment: Segment) => readonly Row[]): Row[] {
    return this.segments.flatMap((segment, source) =>
      rowsOf(segment).flatMap((row) => this.row(source, row) ?? []),
    );
  }
}
