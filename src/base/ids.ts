import { randomBytes, randomInt } from 'node:crypto';

/** 80 random bits as 20 hex digits, with a prefix for the kind: `msg-5f3a…`. */
export function newId(prefix: string): string {
  return `${prefix}-${randomBytes(10).toString('hex')}`;
}

/** Ids that are unique in one process run, cheap enough for one per message. */
export class IdSequence {
  #prefix = '';
  #next = 0;

  next(): string {
    if (this.#next % idsPerPrefix === 0) this.#prefix = randomPrefix();
    const id = `${this.#prefix}${(this.#next % idsPerPrefix).toString(36)}`;
    this.#next += 1;
    return id;
  }
}

/** So that ids have twelve characters at most: V8 makes a longer one of two pieces, and joins them when it is read. */
const idsPerPrefix = 36 ** 4;

/** 47 random bits. Letters and digits alone: an id may be typed behind a command. */
function randomPrefix(): string {
  const signs = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  return Array.from({ length: 8 }, () => signs[randomInt(signs.length)]).join('');
}

const namePattern = /^[a-z0-9](?:[a-z0-9_-]{0,94}[a-z0-9])?$/;
const dottedPattern = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
const dottedCharsMax = 200;

/** Agent ids, aliases and roles: lower case, digits, `_` and `-`; at most 96 characters. No dot: they are tokens of topics. */
export function isName(text: string): boolean {
  return namePattern.test(text);
}

/** Service names and topics: tokens joined by dots, at most 200 characters. */
export function isDottedName(text: string): boolean {
  return text.length <= dottedCharsMax && dottedPattern.test(text);
}
