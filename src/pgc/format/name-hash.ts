/** FNV-1a. */
export const hashStart = 0x811c9dc5 | 0;
export const hashPrime = 0x01000193;

/** 32 bits of a name (FNV-1a over its UTF-8 bytes): two names may have the same. `before`: the hash of what stands before it. */
export function nameHash(name: string, before = hashStart): number {
  let hash = before;
  for (let at = 0; at < name.length; at += 1) {
    const code = name.charCodeAt(at);
    if (code > 0x7f) return hashOfBytes(Buffer.from(name.slice(at), 'utf8'), hash);
    hash = Math.imul(hash ^ code, hashPrime);
  }
  return hash;
}

function hashOfBytes(bytes: Uint8Array, before: number): number {
  let hash = before;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, hashPrime);
  return hash;
}
