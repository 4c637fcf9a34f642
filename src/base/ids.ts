import { randomBytes } from 'node:crypto';

/** 80 random bits as 20 hex digits, with a prefix for the kind: `msg-5f3a…`. */
export function newId(prefix: string): string {
  return `${prefix}-${randomBytes(10).toString('hex')}`;
}

/** Ids that are unique in one process run, cheap enough for one per message. */
export class IdSequence {
  readonly #prefix = randomBytes(6).toString('hex');
  #next = 0;

  next(): string {
    this.#next += 1;
    return `${this.#prefix}${this.#next.toString(36)}`;
  }
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
