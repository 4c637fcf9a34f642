/** No name and no subject that anyone wants is longer; the rest of one that is gets dropped. */
export const tokenBytesMax = 64 * 1024;

const empty = Buffer.alloc(0);

/** Cuts a stream at its zero bytes: what git separates with `-z`, whatever else stands in a name. */
export class NulTokens {
  readonly #take: (token: Buffer, isCut: boolean) => void;
  /** The beginning of a token whose end has not come yet. */
  #begun = empty;

  /** `take` gets a view that is good for the call; `isCut`: the token was longer than `tokenBytesMax`. */
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

  /** Grows to one byte more than a token may have, which tells that it is too long. */
  #joined(more: Buffer): Buffer {
    if (this.#begun.length === 0) return more;
    const room = tokenBytesMax + 1 - this.#begun.length;
    return room <= 0 ? this.#begun : Buffer.concat([this.#begun, more.subarray(0, room)]);
  }
}
