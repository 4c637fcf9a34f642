import { createHash, type Hash } from 'node:crypto';

/** Counts and digests the entries of a store, in key order. */
export class Contents {
  entries = 0;
  bytes = 0;
  readonly #hash: Hash = createHash('sha256');
  readonly #length = Buffer.alloc(4);

  add(key: string, value: Buffer): void {
    const keyBytes = Buffer.from(key);
    this.entries += 1;
    this.bytes += keyBytes.length + value.length;
    // Without lengths, bytes could move from a key to its value unseen.
    this.#addPart(keyBytes);
    this.#addPart(value);
  }

  /** Hex. Ends it: nothing can be added afterwards. */
  digest(): string {
    return this.#hash.digest('hex');
  }

  #addPart(part: Buffer): void {
    this.#length.writeUInt32BE(part.length);
    this.#hash.update(this.#length).update(part);
  }
}
