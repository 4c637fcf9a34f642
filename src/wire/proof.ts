import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * HMAC-SHA-256(secret, nonce NUL agent NUL incarnation). Bound to the nonce of this session, so that it
 * cannot be replayed, and to the name, so that it proves no other.
 */
export function proofOf(
  secret: Buffer,
  nonce: Uint8Array,
  agent: string,
  incarnation: number,
): Buffer {
  return createHmac('sha256', secret).update(nonce).update(`\0${agent}\0${incarnation}`).digest();
}

/** Compares in constant time. */
export function proves(proof: Uint8Array, expected: Buffer): boolean {
  return proof.length === expected.length && timingSafeEqual(proof, expected);
}
