import type { Question } from './question/question.js';
import type { ShardIndex } from '../format/shard-index.js';

/** What lies in a folder whose name only begins like the named one: `e1000e` is akin to `e1000`. */
const kinShare = 0.9;
/** What speaks of the named folder from one beside it. */
const mentionShare = 0.8;
/** What lies in a folder beside the named one and does not speak of it: `ice`, asked about `e1000`. */
const siblingShare = 0.5;

/** Folders that hold a folder, by the name of that folder in lower case; worked out once per index. */
const parents = new WeakMap<ShardIndex, ReadonlyMap<string, ReadonlySet<string>>>();

/**
 * Folders that a question names as one of several alike: a driver among drivers, a package among packages.
 * What belongs to another one of them is not meant, however well its words fit.
 */
export class NamedFolders {
  /** Words of the question, by the folder in which they name one. */
  readonly #named = new Map<string, string[]>();
  readonly #mentions = new Map<string, Set<number>>();

  constructor(
    readonly index: ShardIndex,
    question: Question,
  ) {
    const known = parentsOf(index);
    for (const word of wordsOf(question)) {
      for (const parent of known.get(word) ?? [])
        this.#named.set(parent, [...(this.#named.get(parent) ?? []), word]);
      if (known.has(word)) this.#mentions.set(word, mentionsOf(index, word));
    }
  }

  /** 1: where the question looks; less for a document that belongs to a folder beside it. */
  shareOf(document: number, path: string): number {
    let share = 1;
    for (let cut = path.indexOf('/'); cut >= 0; cut = path.indexOf('/', cut + 1)) {
      const start = path.lastIndexOf('/', cut - 1) + 1;
      const words = this.#named.get(path.slice(0, Math.max(0, start - 1)));
      if (words === undefined) continue;
      const folder = path.slice(start, cut).toLowerCase();
      share = Math.min(
        share,
        Math.max(...words.map((word) => this.#share(word, folder, document))),
      );
    }
    return share;
  }

  #share(word: string, folder: string, document: number): number {
    if (folder === word) return 1;
    if (folder.startsWith(word)) return kinShare;
    return this.#mentions.get(word)?.has(document) === true ? mentionShare : siblingShare;
  }
}

/** Words as they are written, and what the names of symbols begin with: `igb_free_rx` speaks of `igb`. */
function wordsOf(question: Question): Set<string> {
  const words = question.text.toLowerCase().match(/[a-z_][\w-]*/g) ?? [];
  return new Set(words.map((word) => word.replace(/^_+/, '').split('_')[0] ?? word));
}

function mentionsOf(index: ShardIndex, word: string): Set<number> {
  const found = new Set<number>();
  index.postings(word, (document) => found.add(document));
  return found;
}

function parentsOf(index: ShardIndex): ReadonlyMap<string, ReadonlySet<string>> {
  const known = parents.get(index);
  if (known !== undefined) return known;
  const found = new Map<string, Set<string>>();
  for (let file = 0; file < index.fileCount; file += 1) {
    const folders = index.file(file).path.split('/').slice(0, -1);
    folders.forEach((folder, depth) => {
      const name = folder.toLowerCase();
      const parent = folders.slice(0, depth).join('/');
      found.set(name, (found.get(name) ?? new Set()).add(parent));
    });
  }
  parents.set(index, found);
  return found;
}
