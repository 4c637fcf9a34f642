import { groupBy, NumberColumn, StringColumn, type Grouped } from '../../format/bytes.js';
import type { CommitHead } from './log-reader.js';
import { dayOf, cleanAuthor, cleanSubject } from './commit-text.js';

/** A commit of more files (a rename, a new licence, a reformatting) does not show which files belong together. */
const coChangeFilesMax = 50;
/** Fewer common commits may be chance. */
const coChangesMin = 3;
/** Limit for the most frequent authors of a file, and for the paths that change together with it. */
const topMax = 5;

/** Why older commits may be missing. `broken`: git failed while reading. */
export type HistoryCut = 'shallow' | 'commits' | 'bytes' | 'time' | 'broken';

interface CommitNote {
  commit: string;
  author: string;
  /** UTC day of the committer date: `2026-11-01`. */
  date: string;
  subject: string;
}

/** The git history of one file. It begins at the last rename. */
export interface FileHistory {
  commits: number;
  /** Most commits first. */
  authors: { name: string; commits: number }[];
  authors_total: number;
  first: CommitNote;
  last: CommitNote;
  /** `confidence`: common commits / commits of this file. */
  co_changes: { path: string; together: number; confidence: number }[];
}

/** Authors and changed paths of all commits in typed columns: a kernel has a million. Newest first. */
interface Columns {
  /** Path → number, ascending. */
  paths: ReadonlyMap<string, number>;
  authors: StringColumn;
  /** By commit. */
  authorOf: NumberColumn;
  /** By commit: its first entry in `touched`; then the end. */
  starts: NumberColumn;
  /** Path numbers, one for each change of a file by a commit. */
  touched: NumberColumn;
  /** Commits of too many files for co-changes. */
  sweeping: Set<number>;
  /** By path. */
  first: (CommitHead | undefined)[];
  last: (CommitHead | undefined)[];
}

/** Takes commits newest first, and keeps what they say about the given paths. */
export class HistoryBuilder {
  /** Commits seen, including those that touch none of the paths. */
  commits = 0;
  readonly #columns: Columns;
  /** Author ids by the raw author text, so that each name is cleaned only once. */
  readonly #authorIds = new Map<string, number>();
  #head: CommitHead | undefined;
  /** State of the current commit: number of its paths, and its first entry in `touched`. */
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

  /** Undefined: a path outside the folder, which still counts as a file of its commit. */
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

  /** Ends the building; the builder must not be used afterwards. */
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
    const id = this.#columns.authors.id(cleanAuthor(author));
    this.#authorIds.set(author, id);
    return id;
  }
}

/** The git history of the files of one folder up to one commit. */
export class History {
  readonly isComplete: boolean;
  readonly #columns: Columns;
  readonly #names: string[];
  readonly #authors: string[];
  /** The commits of each path. */
  readonly #byPath: Grouped;
  /** Scratch counters by path, all zero between two calls. */
  readonly #together: Uint32Array;

  /** `commits`: how many were read. `why`: why the reading ended early. */
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

  /** Undefined when the file is not in the commit, or no commit that was read changed it. */
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

  /** At most `coChangeFilesMax` steps for each commit, so that no pairs need to be stored. */
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

/** Cleaned only on request: most commits are never shown. */
export function noteOf({ commit, author, seconds, subject }: CommitHead): CommitNote {
  return {
    ...{ commit, author: cleanAuthor(author) },
    ...{ date: dayOf(seconds), subject: cleanSubject(subject) },
  };
}
