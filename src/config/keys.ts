import { createHmac, randomBytes } from 'node:crypto';
import path from 'node:path';
import type { z } from 'zod';
import { lazily, type Zod } from '../base/lazy-schema.js';
import { BusError } from '../errors/bus-error.js';
import { invalid, readPrivate, writePrivate } from './private-file.js';

/**
 * The broker's own keys, below `<home>/bus/keys` (0700, each file 0600):
 *
 *     server.curve          CURVE key pair of the broker; only tcp needs it
 *     <role>.key            secret of a role that must prove itself, also on this machine
 *     names.key             makes the keys that the names of this home's agents are bound to
 *     a2a.jwk               signs the agent cards that the A2A server shows
 *     agents/<agent>.json   who may come from other machines, see agent-keys.ts
 */
export function keysFolder(home: string): string {
  return path.join(home, 'bus', 'keys');
}

/**
 * Roles that others trust: they decide, judge, or say what the code is. A command run by an executor shares the user, so access to the
 * socket's folder does not prove them.
 */
export const provenRoles = ['manager', 'operator', 'critic', 'pgc', 'client'] as const;
export type ProvenRole = (typeof provenRoles)[number];

const secretBytes = 32;
const hexPattern = /^[0-9a-f]{64}$/;
export const hexSecret = (z: Zod) => z.string().regex(hexPattern, 'is not 32 bytes in hex');
/** 32 bytes in Z85 (RFC 32). */
export const curveKey = (z: Zod) =>
  z.string().regex(/^[0-9a-zA-Z.\-:+=^!/*?&<>()[\]{}@%$#]{40}$/, 'is not a CURVE key in Z85');

export interface CurvePair {
  publicKey: string;
  secretKey: string;
}

const serverShape = lazily((z) =>
  z.strictObject({
    curve_public: curveKey(z),
    curve_secret: curveKey(z),
    created: z.string(),
  }),
);

export function newSecret(): string {
  return randomBytes(secretBytes).toString('hex');
}

// --- the broker's CURVE key pair

function serverFile(home: string): string {
  return path.join(keysFolder(home), 'server.curve');
}

/** Keeps the pair that is there: a new one would lock every client out. Throws STORE_UNAVAILABLE, KEY_FILE_INVALID. */
export function ensureServerKeys(
  home: string,
  make: () => CurvePair,
  nowMs: number,
): CurvePair & { isNew: boolean } {
  const known = readServerKeys(home);
  if (known !== undefined) return { ...known, isNew: false };
  const pair = make();
  const isNew = writePrivate(
    serverFile(home),
    asText({
      curve_public: pair.publicKey,
      curve_secret: pair.secretKey,
      created: new Date(nowMs).toISOString(),
    }),
    { replace: false },
  );
  return { ...(readServerKeys(home) ?? pair), isNew };
}

/** Undefined before `sigma keys init`. Throws KEY_FILE_INVALID. */
export function readServerKeys(home: string): CurvePair | undefined {
  const file = serverFile(home);
  const text = readPrivate(file);
  if (text === undefined) return undefined;
  const { curve_public, curve_secret } = parsed(file, text, serverShape);
  return { publicKey: curve_public, secretKey: curve_secret };
}

/** Throws KEYS_MISSING, KEY_FILE_INVALID. */
export function serverKeysFor(home: string, address: string): CurvePair {
  const keys = readServerKeys(home);
  if (keys === undefined)
    throw new BusError('KEYS_MISSING', { address, detail: 'the broker has no key pair' });
  return keys;
}

// --- secrets of roles

function roleFile(home: string, role: string): string {
  return path.join(keysFolder(home), `${role}.key`);
}

/** The broker's side: makes the secrets of proven roles that are missing. Throws STORE_UNAVAILABLE, KEY_FILE_INVALID. */
export function ensureRoleSecrets(home: string): void {
  for (const role of [...provenRoles, namesSecret] as const) {
    if (readRoleSecret(home, role) !== undefined) continue;
    // Of two brokers that start at once only one makes it, and both read the same.
    writePrivate(roleFile(home, role), `${newSecret()}\n`, { replace: false });
  }
}

/** No role: the secret that keys of names follow from. */
const namesSecret = 'names';

/**
 * The key of a name that a process of this home has on the bus; it follows from the name, so that nothing is kept. Undefined where the
 * secret cannot be read: the process is none of this home.
 */
export function readNameKey(home: string, agent: string): Buffer | undefined {
  try {
    const secret = readRoleSecret(home, namesSecret);
    return secret && createHmac('sha256', secret).update(agent).digest();
  } catch {
    return undefined;
  }
}

/** From now on the old one proves nothing; sessions that stand are not touched. Throws STORE_UNAVAILABLE. */
export function rotateRoleSecret(home: string, role: ProvenRole): void {
  writePrivate(roleFile(home, role), `${newSecret()}\n`, { replace: true });
}

/** Undefined when there is none. Throws KEY_FILE_INVALID. */
export function readRoleSecret(
  home: string,
  role: ProvenRole | typeof namesSecret,
): Buffer | undefined {
  const file = roleFile(home, role);
  const text = readPrivate(file)?.trim();
  if (text === undefined) return undefined;
  if (!hexPattern.test(text)) throw invalid(file, 'it is damaged');
  return Buffer.from(text, 'hex');
}

/** For a client: undefined when there is no readable key; the broker then refuses the role. */
export function readSecret(home: string, role: string): Buffer | undefined {
  try {
    return isProvenRole(role) ? readRoleSecret(home, role) : undefined;
  } catch {
    return undefined;
  }
}

export function isProvenRole(role: string): role is ProvenRole {
  return (provenRoles as readonly string[]).includes(role);
}

// --- key files

export function asText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Whether a parsed file is of the kind that has this field. */
export function hasField(value: unknown, field: string): boolean {
  return typeof value === 'object' && value !== null && field in value;
}

/**
 * `shapeOf` tells the kind of a file by its value. What is wrong is named by its place, never by its content.
 * Throws KEY_FILE_INVALID.
 */
export function parsed<T>(
  file: string,
  text: string,
  shapeOf: (value: unknown) => z.ZodType<T>,
): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(file, 'it is not JSON');
  }
  const result = shapeOf(value).safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const where = issue?.path.join('.') ?? '';
  throw invalid(file, `${where}${where && ' '}${issue?.message ?? 'is damaged'}`);
}
