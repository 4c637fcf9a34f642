// Patterns of Nosey Parker: written over several lines, with remarks.

/** The same pattern without the flag `x`: blanks and remarks are gone. */
export function withoutComments(pattern) {
  const text = pattern.trim();
  if (!/^\(\?[a-z]*x/.test(text)) return text;
  let out = '';
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '\\') {
      out += char + text[(at += 1)];
    } else if (char === '[') {
      const end = classEnd(text, at);
      out += text.slice(at, end + 1);
      at = end;
    } else if (text.startsWith('(?#', at)) {
      at = text.indexOf(')', at);
    } else if (char === '#') {
      at = (text.indexOf('\n', at) + 1 || text.length + 1) - 1;
    } else if (!/\s/.test(char)) {
      out += char;
    }
  }
  return out.replace(/^(?:\(\?[a-z]+\))+/, (flags) => {
    const others = flags.replace(/[^a-z]|x/g, '');
    return others === '' ? '' : `(?${others})`;
  });
}

/**
 * Words of which one stands in whatever the pattern matches, in small letters: its longest row of letters, or its group of
 * such rows. Empty: there is none.
 */
export function keywordsOf(pattern) {
  const found = parts(pattern.replace(/^\(\?[a-z]+\)/, ''));
  const best = found.sort((one, other) => shortest(other) - shortest(one))[0];
  return best !== undefined && shortest(best) >= 3
    ? [...new Set(best.map((each) => each.toLowerCase()))]
    : [];
}

const shortest = (words) => Math.min(...words.map(({ length }) => length));

/** Rows of letters, and groups of them, of which none may be missing. */
function parts(pattern) {
  const found = [];
  let row = '';
  const flush = () => {
    if (row !== '') found.push([row]);
    row = '';
  };
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at];
    if (char === '|') return [];
    if (char === '(') {
      flush();
      const end = groupEnd(pattern, at);
      const inner = pattern.slice(at + 1, end).replace(/^\?:/, '');
      if (!isOptional(pattern, end + 1)) {
        if (/^[\w.\\+-]+(?:\|[\w.\\+-]+)+$/.test(inner) && !/\\[a-z]/i.test(inner))
          found.push(inner.replaceAll('\\', '').split('|'));
        else if (!inner.startsWith('?')) found.push(...parts(inner));
      }
      at = end;
    } else if (char === '[') {
      flush();
      at = classEnd(pattern, at);
    } else if (char === '\\' && /[a-z]/i.test(pattern[at + 1])) {
      flush();
      at += pattern[at + 1] === 'x' ? 3 : 1;
    } else if (char === '{') {
      at = pattern.indexOf('}', at);
      flush();
    } else if (/[.*+?^$]/.test(char)) {
      flush();
    } else {
      const letter = char === '\\' ? pattern[(at += 1)] : char;
      if (isOptional(pattern, at + 1)) flush();
      else row += letter;
    }
  }
  flush();
  return found;
}

function isOptional(pattern, at) {
  return /^(?:[?*]|\{0?,)|^\{0\}/.test(pattern.slice(at));
}

function groupEnd(pattern, from) {
  let depth = 0;
  for (let at = from; at < pattern.length; at += 1) {
    if (pattern[at] === '\\') at += 1;
    else if (pattern[at] === '[') at = classEnd(pattern, at);
    else if (pattern[at] === '(') depth += 1;
    else if (pattern[at] === ')' && (depth -= 1) === 0) return at;
  }
  throw new Error(`no end of the group: ${pattern}`);
}

function classEnd(pattern, from) {
  let at = from + 1;
  if (pattern[at] === '^') at += 1;
  if (pattern[at] === ']') at += 1;
  for (; at < pattern.length; at += 1) {
    if (pattern[at] === '\\') at += 1;
    else if (pattern.startsWith('[:', at)) at = pattern.indexOf(':]', at) + 1;
    else if (pattern[at] === ']') return at;
  }
  throw new Error(`no end of the class: ${pattern}`);
}
