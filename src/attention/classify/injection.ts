/** Instructions in what is data (PromptInjection: "instruction patterns in data fields"). */

/** Of one piece; what is beyond is looked at in further windows. */
const windowChars = 20_000;
const overlapChars = 400;
/** Encoded pieces of one text that are decoded. */
const encodedMax = 32;
const evidenceChars = 160;

/** What it says, shortened; undefined: nothing that instructs. */
export function instructionIn(text: string, patterns: readonly RegExp[]): string | undefined {
  for (const reading of [text, ...decodedParts(text)]) {
    const plain = plainOf(reading);
    for (let from = 0; from === 0 || from < plain.length; from += windowChars - overlapChars) {
      const window = plain.slice(from, from + windowChars);
      for (const pattern of patterns) {
        const found = pattern.exec(window);
        if (found !== null)
          return window
            .slice(found.index, found.index + evidenceChars)
            .replace(/\s+/g, ' ')
            .trim();
      }
    }
  }
  return undefined;
}

/** Lower case, one form of each letter, without what cannot be seen; line ends stay, as headers begin there. */
function plainOf(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\u{e0000}-\u{e007f}]/gu, '')
    .replace(/&lt;/gi, '<')
    .replace(/&gt;/gi, '>')
    .replace(/[^\S\n]+/g, ' ')
    .replace(/(\w)\n(?=[a-z])/g, '$1 ')
    .replace(/\*+|(?<!\w)[_~]{1,3}(?=\w)|(?<=\w)[_~]{1,3}(?!\w)/g, '')
    .toLowerCase();
}

function decodedParts(text: string): string[] {
  const parts: string[] = [];
  for (const [encoded] of text.matchAll(/[A-Za-z0-9+/_-]{24,8192}={0,2}/g)) {
    if (parts.length >= encodedMax) break;
    const decoded = Buffer.from(encoded, 'base64').toString('utf8');
    // Most words that look encoded are none.
    if (/^[\t\n\r -~]+$/.test(decoded) && decoded.includes(' ')) parts.push(decoded);
  }
  if (/%[0-9a-f]{2}/i.test(text)) {
    try {
      parts.push(decodeURIComponent(text));
    } catch {
      // It is no such text.
    }
  }
  return parts;
}
