import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { BusError } from '../errors/bus-error.js';

/** Roles that may decide for others. A command run by an executor shares the user, so the socket's folder does not prove them. */
export const provenRoles = ['manager', 'operator'] as const;

const secretBytes = 32;

function secretFile(home: string, role: string): string {
  return path.join(home, 'bus', 'keys', `${role}.key`);
}

/** The broker's side: reads the secret of each proven role, making those that are missing (mode 0600). Throws STORE_UNAVAILABLE. */
export function ensureSecrets(home: string): Map<string, Buffer> {
  const secrets = new Map<string, Buffer>();
  for (const role of provenRoles) {
    const file = secretFile(home, role);
    try {
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      try {
        // Exclusive: of two brokers that start at once only one makes it, and both read the same.
        writeFileSync(file, `${randomBytes(secretBytes).toString('hex')}\n`, {
          mode: 0o600,
          flag: 'wx',
        });
      } catch (error) {
        if ((error as { code?: string }).code !== 'EEXIST') throw error;
      }
      secrets.set(role, parsed(readFileSync(file, 'utf8')));
    } catch (error) {
      throw new BusError(
        'STORE_UNAVAILABLE',
        { path: file, detail: error instanceof Error ? error.message : String(error) },
        { cause: error },
      );
    }
  }
  return secrets;
}

/** A client's side: undefined when there is none or it may not be read; the broker then refuses the role. */
export function readSecret(home: string, role: string): Buffer | undefined {
  try {
    return parsed(readFileSync(secretFile(home, role), 'utf8'));
  } catch {
    return undefined;
  }
}

function parsed(text: string): Buffer {
  const secret = Buffer.from(text.trim(), 'hex');
  if (secret.length !== secretBytes)
    throw new Error('the key file is damaged; remove it and restart the broker');
  return secret;
}
