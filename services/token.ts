import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import path from 'node:path';
import { invalid, readPrivate, writePrivate } from '../src/config/private-file.js';

const tokenBytes = 32;
const pattern = /^[0-9a-f]{64}$/;

/** Of one server, by its name: who may use one may not use the other. */
export function tokenFile(home: string, server: string): string {
  return path.join(home, server, 'token');
}

/** The token of this server of this home, made at its first use (0600). Throws KEY_FILE_INVALID, STORE_UNAVAILABLE. */
export function ensureToken(home: string, server: string): string {
  const file = tokenFile(home, server);
  // Of two servers that start at once only one makes it, and both read the same.
  if (readPrivate(file) === undefined)
    writePrivate(file, `${randomBytes(tokenBytes).toString('hex')}\n`, { replace: false });
  const token = readPrivate(file)?.trim() ?? '';
  if (!pattern.test(token)) throw invalid(file, 'it holds no token; remove it to have a new one');
  return token;
}

/** Whether an `Authorization` header carries the token. How long that takes does not tell how much of it was right. */
export function carries(header: string | undefined, token: string): boolean {
  const given = /^Bearer +([^\s]+)$/i.exec(header ?? '')?.[1] ?? '';
  const [one, other] = [given, token].map((each) => createHash('sha256').update(each).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}
