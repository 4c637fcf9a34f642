/** Longer names and subjects are cut here. */
const tokenBytesMax = 64 * 1024;

const empty = Buffer.alloc(0);

/** Splits a stream at its zero bytes: the separators of git's `-z`, safe for any file name. */
export class NulTokens {
  readonly #take: (token: Buffer, isCut: boolean) => void;
  /** The beginning of a token that is not complete yet. */
  #begun = empty;

  /** `take`: the buffer is valid during the call only. `isCut`: the token was longer than `tokenBytesMax`. */
  constructor(take: (token: Buffer, isCut: boolean) => void) {
    this.#take = take;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, start)) {
      const token = this.#joined(chunk.subarray(start, end));
      this.#begun = empty;
      if (token.length > tokenBytesMax) this.#take(token.subarray(0, tokenBytesMax), true);
      else this.#take(token, false);
      start = end + 1;
    }
    if (start < chunk.length) this.#begun = Buffer.from(this.#joined(chunk.subarray(start)));
  }

  /** Keeps at most one byte more than the limit, which shows that a token is too long. */
  #joined(more: Buffer): Buffer {
    if (this.#begun.length === 0) return more;
    const room = tokenBytesMax + 1 - this.#begun.length;
    return room <= 0 ? this.#begun : Buffer.concat([this.#begun, more.subarray(0, room)]);
  }
}
