import { Transform, type TransformCallback } from 'node:stream';

const newline = 10;

/** Passes whole lines on, and drops those that are longer than `bytesMax`; each is reported once. */
export class LineLimit extends Transform {
  readonly #bytesMax: number;
  readonly #onDropped: () => void;
  #held: Buffer[] = [];
  #bytes = 0;
  #isDropping = false;

  constructor(bytesMax: number, onDropped: () => void) {
    super();
    this.#bytesMax = bytesMax;
    this.#onDropped = onDropped;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      this.#take(chunk.subarray(from, end + 1));
      this.#endLine();
      from = end + 1;
    }
    this.#take(chunk.subarray(from));
    done();
  }

  #take(part: Buffer): void {
    if (this.#isDropping || part.length === 0) return;
    this.#bytes += part.length;
    if (this.#bytes <= this.#bytesMax) {
      this.#held.push(part);
      return;
    }
    this.#isDropping = true;
    this.#held = [];
    this.#onDropped();
  }

  #endLine(): void {
    if (!this.#isDropping) this.push(Buffer.concat(this.#held));
    this.#held = [];
    this.#bytes = 0;
    this.#isDropping = false;
  }
}
