import { NulTokens } from './nul-tokens.js';

/** The head of one commit, as git prints it: untrusted text. */
export interface CommitHead {
  commit: string;
  /** Committer date. The author date is only what the author's clock showed. */
  seconds: number;
  author: string;
  subject: string;
}

interface LogSink {
  commit(head: CommitHead): void;
  /** A path changed by the current commit; the buffer is valid during the call only. */
  path(path: Buffer): void;
}

/** For `git log -z --raw`. Raw rows begin with a colon, so no file name can be taken for a header. */
export const logFormat = '--format=%H%x00%ct%x00%an%x00%s';
const headFields = 4;
/** Enough for the displayed part of a subject, at four bytes a character. */
const fieldBytesMax = 2_048;
const colon = 0x3a;
const newline = 0x0a;

/** Reads `git log -z --raw` in `logFormat`. */
export class LogReader {
  /** The input is no such log. */
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

/** Git puts a newline before the first raw row of a commit. */
function isRow(token: Buffer): boolean {
  return token[0] === colon || (token[0] === newline && token[1] === colon);
}
