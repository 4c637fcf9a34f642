/** Less than this is no proof: a log may hold a few signs of a terminal. */
const strangeMin = 16;
/** Of so many signs one may be a control character or broken: the rest is a picture, not a text. */
const strangeShare = 10;

/**
 * The beginning of a text, at most so many characters, without the word that the cut would halve: half a credential is not
 * known for one. Of scripts without spaces no word is lost, for no credential is written in them.
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

/** Whether somebody can have written this, or a program for people to read. */
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
