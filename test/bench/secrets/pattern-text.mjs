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

/** A mark of an issuer, at the beginning: `\b(ghp_`, `(?P<token>glpat-`. */
const marked =
  /^(?:\(\?[a-z]+\))?(?:\\b)?(\((?:\?P<\w+>)?)?(?:\(\?[a-z]+\))?(?:[A-Za-z0-9]{1,19}(?:_|\\?-)|[A-Za-z]{4})/;
const ending = /(\])\{(\d+)(?:,\d*)?\}(\)?)(?:\\b|\(\?:[^()]*\|\$\))$/;

/** Issuers make their tokens longer: of what has a mark of its own, more letters than the pattern says belong to it too. */
export function ofAnyLength(pattern) {
  const [start, open] = marked.exec(pattern) ?? [];
  const [end, , , close] = ending.exec(pattern) ?? [];
  if (start === undefined || end === undefined) return pattern;
  const inside = pattern.slice(start.length, -end.length);
  const isOne =
    open === undefined
      ? close === '' && !inside.includes('(')
      : close === ')' && isBalanced(inside);
  return isOne ? pattern.replace(ending, '$1{$2,}$3') : pattern;
}

/** What is repeated without an end is taken to be no longer: keys of many lines are shorter. */
const unboundedChars = 10_000;

/** Letters of the longest text that the pattern matches: so far from its keyword it is looked for. */
export function reachOf(pattern) {
  const [length] = longest(pattern, 0);
  return Math.min(length, unboundedChars);
}

function longest(pattern, from) {
  let [best, row, last] = [0, 0, 0];
  for (let at = from; at < pattern.length;) {
    const char = pattern[at];
    if (char === ')') return [Math.max(best, row), at];
    if (char === '|') {
      [best, row, last, at] = [Math.max(best, row), 0, 0, at + 1];
      continue;
    }
    const [times] = /^(?:[*+?]|\{\d*(?:,\d*)?\})\??/.exec(pattern.slice(at)) ?? [];
    if (times !== undefined && at > from) {
      row += last * (timesOf(times) - 1);
      at += times.length;
      continue;
    }
    [last, at] = atomAt(pattern, at);
    row += last;
  }
  return [Math.max(best, row), pattern.length];
}

/** Its letters, and where it ends. */
function atomAt(pattern, at) {
  const rest = pattern.slice(at);
  const [flags] = /^\(\?[a-z-]+\)/i.exec(rest) ?? [];
  if (flags !== undefined) return [0, at + flags.length];
  const [open] = /^\((?:\?(?:P?<\w+>|[a-z-]*:))?/i.exec(rest) ?? [];
  if (open !== undefined) {
    const [length, end] = longest(pattern, at + open.length);
    return [length, end + 1];
  }
  if (rest[0] === '[') return [1, classEnd(pattern, at) + 1];
  if (rest[0] === '^' || rest[0] === '$') return [0, at + 1];
  if (/^\\[bBAz]/.test(rest)) return [0, at + 2];
  if (/^\\x[0-9a-f]{2}/i.test(rest)) return [1, at + 4];
  return [1, at + (rest[0] === '\\' ? 2 : 1)];
}

function timesOf(text) {
  if (/^[*+]/.test(text)) return unboundedChars;
  if (text.startsWith('?')) return 1;
  const [, least, comma, most] = /^\{(\d*)(,?)(\d*)\}/.exec(text);
  return comma === '' ? Number(least) : most === '' ? unboundedChars : Number(most);
}

/** No group ends in it that began before. */
function isBalanced(pattern) {
  let depth = 0;
  for (let at = 0; at < pattern.length; at += 1) {
    if (pattern[at] === '\\') at += 1;
    else if (pattern[at] === '[') at = Math.max(at, classEnd(pattern, at));
    else if (pattern[at] === '(') depth += 1;
    else if (pattern[at] === ')' && (depth -= 1) < 0) return false;
  }
  return depth === 0;
}

/** Of any text: a rule that has only such keywords would be tried on every line. */
const everywhere = new Set(['key', 'value']);
const keywordsMax = 40;

/**
 * Words of which one stands in whatever the pattern matches, in small letters: of the sets that none of its matches can do
 * without, the one whose shortest word is longest. Empty: there is none.
 */
export function keywordsOf(pattern) {
  return best(branches(pattern, 0).sets) ?? [];
}

function best(sets) {
  const usable = sets.filter(
    (words) =>
      shortest(words) >= 3 &&
      words.length <= keywordsMax &&
      !words.some((each) => everywhere.has(each)),
  );
  return usable.sort((one, other) => shortest(other) - shortest(one))[0];
}

const shortest = (words) => Math.min(...words.map(({ length }) => length));

/** Up to the end of the group: what each of its branches needs, as one set, where each of them needs something. */
function branches(pattern, from) {
  const all = [];
  for (let at = from; ;) {
    const { sets, end } = row(pattern, at);
    all.push(sets);
    if (pattern[end] !== '|') {
      const only = all.length === 1;
      const each = only ? [] : all.map(best);
      const joined = each.includes(undefined) || only ? [] : [[...new Set(each.flat())]];
      return { sets: only ? sets : joined, end };
    }
    at = end + 1;
  }
}

/** Rows of letters, and groups, of which none may be missing, up to the end of the branch. */
function row(pattern, from) {
  const sets = [];
  let letters = '';
  let at = from;
  const flush = () => {
    if (letters !== '') sets.push([letters.toLowerCase()]);
    letters = '';
  };
  for (; at < pattern.length && !'|)'.includes(pattern[at]); at += 1) {
    const char = pattern[at];
    if (char === '(') {
      flush();
      const [open] = /^\((?:\?(?:P?<\w+>|[a-z-]*:))?/i.exec(pattern.slice(at));
      const [flags] = /^\(\?[a-z-]+\)/.exec(pattern.slice(at)) ?? [];
      const inner =
        flags === undefined
          ? branches(pattern, at + open.length)
          : { sets: [], end: at + flags.length - 1 };
      at = inner.end;
      if (!isOptional(pattern, at + 1)) sets.push(...inner.sets);
    } else if (char === '[') {
      flush();
      at = classEnd(pattern, at);
    } else if (char === '{') {
      flush();
      at = pattern.indexOf('}', at);
    } else if (/[.*+?^$]/.test(char) || (char === '\\' && /[a-z]/i.test(pattern[at + 1]))) {
      flush();
      if (char === '\\') at += pattern[at + 1] === 'x' ? 3 : 1;
    } else {
      const letter = char === '\\' ? pattern[(at += 1)] : char;
      if (isOptional(pattern, at + 1)) flush();
      else letters += letter;
    }
  }
  flush();
  return { sets, end: at };
}

function isOptional(pattern, at) {
  return /^(?:[?*]|\{0?,)|^\{0\}/.test(pattern.slice(at));
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
  return pattern.length;
}
