/** A foreign text as one line of at most so many characters. */
export function oneLine(text: string, charsMax: number): string {
  return text
    .slice(0, charsMax)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
}

/** JSON of others: an object, or undefined. */
export function objectIn(body: Uint8Array, bytesMax: number): Record<string, unknown> | undefined {
  if (body.length > bytesMax) return undefined;
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
