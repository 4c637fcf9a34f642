import { readFileSync } from 'node:fs';
import path from 'node:path';

const file = path.join(import.meta.dirname, 'rulings.json');

/**
 * What a reader of the source found where two sides differ: `right`, the side that has it is right; `wrong`, it is
 * not. One per `what side name path:line`; a new seed draws new names, which are not ruled until somebody looks.
 */
export class Rulings {
  #rows = JSON.parse(readFileSync(file, 'utf8'));

  /** Undefined: nobody looked. */
  of(what, side, { name, file: place, line }) {
    return this.#rows[`${what} ${side} ${name} ${place}:${line}`];
  }
}
