import { generateKeyPairSync } from 'node:crypto';
import type { Zod } from '../base/lazy-schema.js';

/**
 * Keys by which NATS knows its users (https://github.com/nats-io/nkeys): Ed25519, written as a prefix for the kind,
 * 32 bytes and a CRC16, in base32. A seed has two prefixes: that of all seeds, then that of the kind.
 */
const kindSeed = 18 << 3;
const kindUser = 20 << 3;
const keyBytes = 32;
const crcBytes = 2;

/** What a server knows a user by, `U…`, and what the user signs with, `SU…`. */
export interface Nkey {
  publicKey: string;
  seed: string;
}

export function newNkey(): Nkey {
  // Both forms end with the key. As a JWK it would not always come: Node 20 stands still for ever when it collects garbage while it
  // exports a key that it has just made.
  const { publicKey, privateKey } = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
  });
  return {
    publicKey: encoded(publicPrefix, publicKey.subarray(-keyBytes)),
    seed: encoded(seedPrefix, privateKey.subarray(-keyBytes)),
  };
}

const publicPrefix = [kindUser];
/** The kind is split: its upper three bits stand in the first byte. */
const seedPrefix = [kindSeed | (kindUser >> 5), (kindUser & 31) << 3];

export const nkeyPublic = (z: Zod) =>
  z.string().refine((text) => isEncoded(text, publicPrefix), 'is no public nkey of a user');
export const nkeySeed = (z: Zod) =>
  z.string().refine((text) => isEncoded(text, seedPrefix), 'is no nkey seed of a user');

function encoded(prefix: readonly number[], key: Buffer): string {
  const bytes = Buffer.from([...prefix, ...key]);
  const crc = Buffer.alloc(crcBytes);
  crc.writeUInt16LE(crc16(bytes));
  return base32(Buffer.concat([bytes, crc]));
}

function isEncoded(text: string, prefix: readonly number[]): boolean {
  const bytes = bytesOf(text);
  const body = bytes.subarray(0, -crcBytes);
  return (
    body.length === prefix.length + keyBytes &&
    prefix.every((byte, at) => body[at] === byte) &&
    bytes.readUInt16LE(body.length) === crc16(body) &&
    base32(bytes) === text
  );
}

/** CRC-16/XMODEM. */
function crc16(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1)
      crc = ((crc << 1) ^ ((crc & 0x8000) === 0 ? 0 : 0x1021)) & 0xffff;
  }
  return crc;
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648, without padding. */
function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => letters[parseInt(group.padEnd(5, '0'), 2)]).join('');
}

/** Letters that are none count as zeros; what is written back then differs. */
function bytesOf(text: string): Buffer {
  const bits = Array.from(text)
    .map((letter) => Math.max(0, letters.indexOf(letter)).toString(2).padStart(5, '0'))
    .join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((group) => parseInt(group, 2)));
}
