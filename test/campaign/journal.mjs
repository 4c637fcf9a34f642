import { closeSync, fdatasync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';

const sync = promisify(fdatasync);

/**
 * A log of one process that its next incarnation reads. What `append` has returned from survives SIGKILL: the
 * kernel has it. What `synced` has resolved for survives the power as well.
 */
export class Journal {
  #file;

  constructor(path) {
    this.#file = openSync(path, 'a+');
    const bytes = readFileSync(path);
    // The end of a line that was torn by the kill before.
    ftruncateSync(this.#file, bytes.lastIndexOf(0x0a) + 1);
  }

  append(...lines) {
    writeSync(this.#file, lines.map((line) => `${line}\n`).join(''));
  }

  synced() {
    return sync(this.#file);
  }

  close() {
    closeSync(this.#file);
  }
}

/** Every whole line, split at its blanks; none when there is no file yet. */
export function readJournal(path) {
  let text;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split(' '));
}
