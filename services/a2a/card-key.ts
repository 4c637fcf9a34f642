import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';
import path from 'node:path';
import { keysFolder } from '../../src/config/keys.js';
import { invalid, readPrivate, writePrivate } from '../../src/config/private-file.js';

const curve = 'P-256';
const pkcs8 = { type: 'pkcs8', format: 'der' } as const;

/** The public half, as a JWK (RFC 7517). */
export interface PublishedKey {
  kty: string;
  crv: string;
  x: string;
  y: string;
  kid: string;
  use: 'sig';
  alg: 'ES256';
}

/** The key that signs the cards of this home, made at its first use (0600). Throws KEY_FILE_INVALID, STORE_UNAVAILABLE. */
export function ensureCardKey(home: string): { key: KeyObject; published: PublishedKey } {
  const file = path.join(keysFolder(home), 'a2a.jwk');
  if (readPrivate(file) === undefined) {
    // Not at once as a JWK: Node 20 stands still for ever when it collects garbage while it exports a key that it has just made.
    const { privateKey } = generateKeyPairSync('ec', {
      namedCurve: curve,
      publicKeyEncoding: { type: 'spki', format: 'der' },
      privateKeyEncoding: pkcs8,
    });
    const made = createPrivateKey({ key: privateKey, ...pkcs8 });
    // Of two servers that start at once only one makes it, and both read the same.
    writePrivate(file, `${JSON.stringify(made.export({ format: 'jwk' }))}\n`, { replace: false });
  }
  const key = keyIn(file);
  const { kty = '', crv = '', x = '', y = '' } = key.export({ format: 'jwk' });
  if (crv !== curve) throw invalid(file, `it is no key of the curve ${curve}`);
  // Its thumbprint (RFC 7638): the required members, in this order.
  const kid = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
  return { key, published: { kty, crv, x, y, kid, use: 'sig', alg: 'ES256' } };
}

function keyIn(file: string): KeyObject {
  try {
    return createPrivateKey({
      key: JSON.parse(readPrivate(file) ?? '') as JsonWebKey,
      format: 'jwk',
    });
  } catch {
    throw invalid(file, 'it holds no private key; remove it to have a new one');
  }
}
