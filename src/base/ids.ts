import { randomBytes } from 'node:crypto';

/** 80 random bits as 20 hex digits, prefixed with what it names: `msg-5f3a…`. */
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

const namePattern = /^[a-z0-9](?:[a-z0-9._-]{0,94}[a-z0-9])?$/;

/** Agent ids, aliases and service names: lower case, digits, `.`, `_`, `-`; at most 96 characters; no `..`. */
export function isName(text: string): boolean {
  return namePattern.test(text) && !text.includes('..');
}
