/** Flags, the begin of a word, and the groups that open there. */
const head = /^(?:\(\?i\))?\\b((?:\((?:\?(?:P<\w+>|:))?)*)/;

/**
 * Whether all that a pattern finds begins with this word, where a word begins. Then it need not be searched for: it is there
 * where the word is, or not.
 */
export function beginsWith(pattern: string, word: string): boolean {
  const [start, groups = ''] = head.exec(pattern) ?? [];
  if (start === undefined) return false;
  const rest = pattern.slice(start.length);
  if (!/^\w/.test(word) || !rest.toLowerCase().startsWith(word)) return false;
  const opened = groups.match(/\(/g)?.length ?? 0;
  let depth = opened;
  for (let at = 0; at < rest.length; at += 1) {
    const sign = rest.charAt(at);
    if (sign === '\\') at += 1;
    else if (sign === '[') at = endOfClass(rest, at);
    else if (sign === '(') depth += 1;
    // Something else may stand there instead.
    else if (sign === '|' && depth <= opened) return false;
    else if (sign === ')') {
      if (depth <= opened && /^(?:[?*]|\{0)/.test(rest.slice(at + 1))) return false;
      depth -= 1;
    }
  }
  return true;
}

function endOfClass(pattern: string, open: number): number {
  // A bracket that comes first is one of the letters.
  let at = pattern.startsWith('^', open + 1) ? open + 2 : open + 1;
  if (pattern.charAt(at) === ']') at += 1;
  for (; at < pattern.length && pattern.charAt(at) !== ']'; at += 1)
    if (pattern.charAt(at) === '\\') at += 1;
  return at;
}
