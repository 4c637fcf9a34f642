import { NulTokens } from './nul-tokens.js';

/** The head of one commit, as git says it: other people's text. */
export interface CommitHead {
  commit: string;
  /** Of the committer: when it entered this history. That of the author is whatever their clock said. */
  seconds: number;
  author: string;
  subject: string;
}

export interface LogSink {
  commit(head: CommitHead): void;
  /** A path that the commit before changed; a view that is good for the call. */
  path(path: Buffer): void;
}

/** For `git log -z --raw`. Rows begin with a colon, so that no name can pass for anything else. */
export const logFormat = '--format=%H%x00%ct%x00%an%x00%s';
const headFields = 4;
/** Enough of a subject for what is shown of it, at four bytes a character. */
const fieldBytesMax = 2_048;
const colon = 0x3a;
const newline = 0x0a;

/** Reads `git log -z --raw` in `logFormat`. */
export class LogReader {
  /** What came is not such a log. */
  isBroken = false;
  readonly #sink: LogSink;
  readonly #tokens = new NulTokens((token) => this.#take(token));
  readonly #head: string[] = [];
  #isPathNext = false;

  constructor(sink: LogSink) {
    this.#sink = sink;
  }

  push(chunk: Buffer): void {
    this.#tokens.push(chunk);
  }

  #take(token: Buffer): void {
    if (this.#isPathNext) {
      this.#isPathNext = false;
      this.#sink.path(token);
    } else if (this.#head.length === 0 && isRow(token)) this.#isPathNext = true;
    else this.#addToHead(token.toString('utf8', 0, fieldBytesMax));
  }

  #addToHead(field: string): void {
    if (this.#head.push(field) < headFields) return;
    const [commit = '', seconds = '', author = '', subject = ''] = this.#head;
    this.#head.length = 0;
    if (/^[0-9a-f]{40,64}$/.test(commit)) {
      this.#sink.commit({ commit, seconds: Number(seconds), author, subject });
    } else this.isBroken = true;
  }
}

/** The first row of a commit stands on a line of its own. */
function isRow(token: Buffer): boolean {
  return token[0] === colon || (token[0] === newline && token[1] === colon);
}
