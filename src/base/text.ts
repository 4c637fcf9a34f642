/** Shorter texts prove nothing: a log may hold a few control characters. */
const strangeMin = 16;
/** One control or broken character is allowed per so many characters; with more the file is binary. */
const strangeShare = 10;

/**
 * The beginning of a text, at most `max` characters, cut before a word that would be halved: half a credential is not
 * recognised as one. In scripts without spaces no word is dropped; credentials are not written in them.
 */
export function cutAtWord(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  let end = charsMax;
  if (isVisibleAscii(text, end)) while (end > 0 && isVisibleAscii(text, end - 1)) end -= 1;
  return text.slice(0, end);
}

function isVisibleAscii(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code > 0x20 && code < 0x7f;
}

/** Whether this looks like text, not binary data. */
export function isText(text: string): boolean {
  let strange = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const isControl =
      code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d && code !== 0x1b;
    if (isControl || code === 0x7f || code === 0xfffd) strange += 1;
  }
  return strange <= strangeMin || strange * strangeShare <= text.length;
}
