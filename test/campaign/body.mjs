import { createHash } from 'node:crypto';
import { Chance } from './random.mjs';

const poolBytes = 64 * 1024;
/** Half of the messages are small, as most signals are; the other half about as large as a question with its context. */
const small = { low: 80, high: 120 };
const large = { low: 700, high: 1_400 };

/** Message bodies that differ from one another, made from a seed and the sender's name. */
export class Bodies {
  #pool;
  #sender;
  #seed;

  constructor(sender, seed) {
    this.#sender = sender;
    this.#seed = seed;
    const chance = new Chance(seed);
    this.#pool = Buffer.from(Array.from({ length: poolBytes }, () => chance.between(0, 255)));
  }

  /** The same for the same number, in every process. */
  of(number) {
    const chance = new Chance(this.#seed ^ (number * 0x9e3779b1));
    const { low, high } = chance.next() < 0.5 ? small : large;
    const bytes = chance.between(low, high);
    const from = chance.between(0, poolBytes - bytes);
    const head = Buffer.from(`${this.#sender} ${number} `);
    return Buffer.concat([head, this.#pool.subarray(from, from + bytes - head.length)]);
  }
}

/** 64 bits of SHA-256 in hex: enough to tell one body from another. */
export const digestOf = (body) => createHash('sha256').update(body).digest('hex').slice(0, 16);
