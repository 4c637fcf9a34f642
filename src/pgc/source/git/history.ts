import { groupBy, NumberColumn, StringColumn, type Grouped } from '../../format/bytes.js';
import type { CommitHead } from './log-reader.js';
import { dayOf, plainName, plainSubject } from './plain.js';

/** A commit of more files says nothing of what belongs together: a rename, a new licence, a reformatting. */
export const coChangeFilesMax = 50;
/** Twice is chance. */
export const coChangesMin = 3;
/** Of the most frequent authors, and of the paths that change together with one. */
export const topMax = 5;

/** Why older commits may be missing. `broken`: git failed on the way. */
export type HistoryCut = 'shallow' | 'commits' | 'bytes' | 'time' | 'broken';

export interface CommitNote {
  commit: string;
  author: string;
  /** `2026-11-01`: when it entered this history (UTC). */
  date: string;
  subject: string;
}

/** What git says of one file. A file that was renamed begins anew. */
export interface FileHistory {
  commits: number;
  /** Those of most commits first. */
  authors: { name: string; commits: number }[];
  authors_total: number;
  first: CommitNote;
  last: CommitNote;
  /** `confidence`: together / commits of this file. */
  co_changes: { path: string; together: number; confidence: number }[];
}

/** Authors and changed paths of every commit, packed: kernels have a million. Newest first. */
interface Columns {
  /** Numbers of the paths, in their order. */
  paths: ReadonlyMap<string, number>;
  authors: StringColumn;
  /** By commit. */
  authorOf: NumberColumn;
  /** By commit: its first touch, and the end. */
  starts: NumberColumn;
  /** By touch: the path that its commit changed. */
  touched: NumberColumn;
  /** Commits of too many files. */
  sweeping: Set<number>;
  /** By path. */
  first: (CommitHead | undefined)[];
  last: (CommitHead | undefined)[];
}

/** Takes commits as they come, newest first, and keeps what they say of the given paths. */
export class HistoryBuilder {
  /** Commits that were told, also those that touch none of the paths. */
  commits = 0;
  readonly #columns: Columns;
  /** Numbers of authors by what git calls them: names are cleaned once. */
  readonly #authorIds = new Map<string, number>();
  #head: CommitHead | undefined;
  /** Of the commit that is being told: its paths, and the first of its touches. */
  #files = 0;
  #start = 0;

  constructor(paths: Iterable<string>) {
    const known = new Map<string, number>();
    for (const path of paths) if (!known.has(path)) known.set(path, known.size);
    this.#columns = {
      paths: known,
      authors: new StringColumn(),
      authorOf: new NumberColumn(),
      starts: new NumberColumn(),
      touched: new NumberColumn(),
      sweeping: new Set(),
      first: new Array<undefined>(known.size).fill(undefined),
      last: new Array<undefined>(known.size).fill(undefined),
    };
  }

  commit(head: CommitHead): void {
    this.#close();
    this.commits += 1;
    this.#head = head;
  }

  /** Undefined: a path outside the folder, which counts as a file of its commit. */
  touch(path: string | undefined): void {
    this.#files += 1;
    const id = path === undefined ? undefined : this.#columns.paths.get(path);
    if (id === undefined || this.#head === undefined) return;
    const { first, last, touched } = this.#columns;
    if (first[id] === this.#head) return;
    first[id] = this.#head;
    last[id] ??= this.#head;
    touched.push(id);
  }

  /** Ends the building. */
  finish(commit: string, why: HistoryCut | undefined): History {
    this.#close();
    this.#columns.starts.push(this.#columns.touched.length);
    return new History(commit, this.commits, why, this.#columns);
  }

  #close(): void {
    const { authorOf, starts, touched, sweeping } = this.#columns;
    if (this.#head !== undefined && touched.length > this.#start) {
      if (this.#files > coChangeFilesMax) sweeping.add(starts.length);
      starts.push(this.#start);
      authorOf.push(this.#authorId(this.#head.author));
    }
    this.#files = 0;
    this.#start = touched.length;
    this.#head = undefined;
  }

  #authorId(author: string): number {
    const known = this.#authorIds.get(author);
    if (known !== undefined) return known;
    const id = this.#columns.authors.id(plainName(author));
    this.#authorIds.set(author, id);
    return id;
  }
}

/** What git knows of the files of one folder at one commit; nothing newer than that commit. */
export class History {
  readonly isComplete: boolean;
  readonly #columns: Columns;
  readonly #names: string[];
  readonly #authors: string[];
  /** The commits of each path. */
  readonly #byPath: Grouped;
  /** Counts by path, all zero between two questions. */
  readonly #together: Uint32Array;

  /** `commits`: how many were read. `why`: what ended the reading too early. */
  constructor(
    readonly commit: string,
    readonly commits: number,
    readonly why: HistoryCut | undefined,
    columns: Columns,
  ) {
    this.isComplete = why === undefined;
    this.#columns = columns;
    this.#names = [...columns.paths.keys()];
    this.#authors = columns.authors.all();
    this.#byPath = commitsByPath(columns, this.#names.length);
    this.#together = new Uint32Array(this.#names.length);
  }

  /** Undefined: the file is not in that commit, or none that was read has changed it. */
  of(path: string): FileHistory | undefined {
    const id = this.#columns.paths.get(path);
    const first = id === undefined ? undefined : this.#columns.first[id];
    const last = id === undefined ? undefined : this.#columns.last[id];
    if (id === undefined || first === undefined || last === undefined) return undefined;
    const { starts, members } = this.#byPath;
    const commits = members.subarray(starts[id] ?? 0, starts[id + 1] ?? 0);
    const authors = this.#authorsOf(commits);
    return {
      commits: commits.length,
      authors: authors.slice(0, topMax),
      authors_total: authors.length,
      first: noteOf(first),
      last: noteOf(last),
      co_changes: this.#coChanges(id, commits),
    };
  }

  #authorsOf(commits: Uint32Array): FileHistory['authors'] {
    const counts = new Map<number, number>();
    for (const commit of commits) {
      const author = this.#columns.authorOf.at(commit);
      counts.set(author, (counts.get(author) ?? 0) + 1);
    }
    return [...counts]
      .map(([author, count]) => ({ name: this.#authors[author] ?? '', commits: count }))
      .sort((a, b) => b.commits - a.commits || (a.name < b.name ? -1 : 1));
  }

  /** At most `coChangeFilesMax` steps a commit, so that no pair needs to be kept. */
  #coChanges(id: number, commits: Uint32Array): FileHistory['co_changes'] {
    const { starts, touched, sweeping } = this.#columns;
    const met = new Set<number>();
    for (const commit of commits) {
      if (sweeping.has(commit)) continue;
      for (let touch = starts.at(commit); touch < starts.at(commit + 1); touch += 1) {
        const other = touched.at(touch);
        this.#together[other] = (this.#together[other] ?? 0) + 1;
        met.add(other);
      }
    }
    const pairs: FileHistory['co_changes'] = [];
    for (const other of met) {
      const together = this.#together[other] ?? 0;
      this.#together[other] = 0;
      if (other === id || together < coChangesMin) continue;
      const confidence = together / commits.length;
      pairs.push({ path: this.#names[other] ?? '', together, confidence });
    }
    return pairs
      .sort((a, b) => b.together - a.together || (a.path < b.path ? -1 : 1))
      .slice(0, topMax);
  }
}

function commitsByPath({ starts, touched }: Columns, pathCount: number): Grouped {
  const { starts: groups, members } = groupBy(touched.values(), pathCount);
  const commitOf = new Uint32Array(touched.length);
  for (let commit = 0; commit + 1 < starts.length; commit += 1)
    commitOf.fill(commit, starts.at(commit), starts.at(commit + 1));
  return { starts: groups, members: members.map((touch) => commitOf[touch] ?? 0) };
}

/** Of people's text only what is asked for is cleaned. */
export function noteOf({ commit, author, seconds, subject }: CommitHead): CommitNote {
  return {
    ...{ commit, author: plainName(author) },
    ...{ date: dayOf(seconds), subject: plainSubject(subject) },
  };
}
