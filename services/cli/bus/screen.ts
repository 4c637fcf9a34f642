const enter = '\u001b[?1049h\u001b[?25l';
const leave = '\u001b[?25h\u001b[?1049l';
const home = '\u001b[H';
const clearToEndOfLine = '\u001b[K';
const clearBelow = '\u001b[J';

/** The alternate screen of a terminal; however the process ends, the user's own screen comes back. */
export class Screen implements Disposable {
  readonly #stream: NodeJS.WriteStream;
  readonly #restore = (): void => void this.#stream.write(leave);

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    stream.write(enter);
    // Also after `process.exit`, which a second Ctrl-C or an unexpected failure may bring.
    process.once('exit', this.#restore);
  }

  get size(): { columns: number; rows: number } {
    const { columns, rows } = this.#stream;
    return { columns: columns || 80, rows: rows || 24 };
  }

  /** Drawn over what was there, in one write: nothing flickers. What does not fit is cut. */
  draw(lines: string[]): void {
    const { columns, rows } = this.size;
    const shown = lines.slice(0, rows).map((line) => line.slice(0, columns) + clearToEndOfLine);
    this.#stream.write(home + shown.join('\r\n') + clearBelow);
  }

  [Symbol.dispose](): void {
    process.off('exit', this.#restore);
    this.#restore();
  }
}
