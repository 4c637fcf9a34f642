/**
 * Path patterns of MAINTAINERS and CODEOWNERS. They come from the tree, so they are untrusted: matching backtracks to
 * the last star only, in time proportional to pattern × path, where a regular expression could take exponential time.
 */
export interface PathGlob {
  /** A folder that contains all matches; empty: anywhere. */
  under: string;
  matches(path: string): boolean;
}

/** One character of a name: a literal, any one, one of a class, or any number. */
type Token = string | { any: 'one' | 'many' } | { oneOf: string; isNot: boolean };
/** One name of a path, or `**`: any number of names. */
type Part = readonly Token[] | '**';

export interface GlobRules {
  /** `[a-z]` and `[!a-z]` are classes. */
  classes: boolean;
  /** Whether everything below a match matches too: if its last name has no wildcard (`plain`), `always` or `never`. */
  below: 'plain' | 'always' | 'never';
}

/**
 * `text` is relative to the root; a slash at its end means everything below. Throws RangeError for a class without an
 * end.
 */
export function pathGlob(text: string, { classes, below }: GlobRules): PathGlob {
  const isFolder = text.endsWith('/');
  const names = text.replace(/^\/+|\/+$/g, '').split('/');
  const parts = names.map((name): Part => (name === '**' ? '**' : tokensOf(name, classes)));
  const isPlain = (part: Part): boolean =>
    part !== '**' && part.every((token) => typeof token === 'string');
  const firstWild = parts.findIndex((part) => !isPlain(part));
  const last = parts.at(-1) ?? [];
  const reach: Reach = isFolder
    ? 'below'
    : below === 'always' || (below === 'plain' && isPlain(last))
      ? 'both'
      : 'itself';
  return {
    under: plainText(
      parts.slice(0, Math.min(firstWild < 0 ? Infinity : firstWild, parts.length - 1)),
    ),
    matches: (path) => partsMatch(parts, path.split('/'), reach),
  };
}

/** Whether the pattern matches a path itself, only what is below a match, or both. */
type Reach = 'itself' | 'below' | 'both';

function plainText(parts: readonly Part[]): string {
  return parts.map((part) => (part === '**' ? '' : part.map(String).join(''))).join('/');
}

function tokensOf(name: string, classes: boolean): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < name.length; at += 1) {
    const char = name.charAt(at);
    if (char === '*') {
      const before = tokens.at(-1);
      const isMore = typeof before === 'object' && 'any' in before && before.any === 'many';
      if (!isMore) tokens.push({ any: 'many' });
    } else if (char === '?') tokens.push({ any: 'one' });
    else if (char === '\\' && at + 1 < name.length) tokens.push(name.charAt((at += 1)));
    else if (char === '[' && classes) {
      const isNot = /[!^]/.test(name.charAt(at + 1));
      // A bracket directly after the opening one is a member.
      const end = name.indexOf(']', at + (isNot ? 3 : 2));
      if (end < 0) throw new RangeError(`${name} has a [ without its ]`);
      tokens.push({ oneOf: membersOf(name.slice(at + (isNot ? 2 : 1), end)), isNot });
      at = end;
    } else tokens.push(char);
  }
  return tokens;
}

/** `a-cx` → `abcx` */
function membersOf(text: string): string {
  return text.replace(/(.)-(.)/gs, (_, first: string, last: string) => {
    const [from, to] = [
      first.charCodeAt(0),
      Math.min(last.charCodeAt(0), first.charCodeAt(0) + 127),
    ];
    return Array.from({ length: Math.max(0, to - from + 1) }, (__, n) =>
      String.fromCharCode(from + n),
    ).join('');
  });
}

function partsMatch(parts: readonly Part[], names: readonly string[], reach: Reach): boolean {
  // Below a folder there is at least one more name.
  const ends = (at: number): boolean =>
    at === names.length ? reach !== 'below' : reach !== 'itself';
  return wildMatch(
    parts.length,
    names.length,
    (at) => parts[at] === '**',
    (at, name) => nameMatches(parts[at] as readonly Token[], names[name] ?? ''),
    ends,
  );
}

function nameMatches(tokens: readonly Token[], name: string): boolean {
  return wildMatch(
    tokens.length,
    name.length,
    (at) => isMany(tokens[at]),
    (at, char) => tokenMatches(tokens[at] ?? '', name.charAt(char)),
    (at) => at === name.length,
  );
}

/**
 * R. Krauss, "Matching Wildcards", 2008: on a mismatch, let the last star take one more element. Only the last star
 * matters, because everything before it has matched already. `ends`: whether a match may end at this position.
 */
function wildMatch(
  patternLength: number,
  textLength: number,
  isStar: (at: number) => boolean,
  fits: (at: number, text: number) => boolean,
  ends: (text: number) => boolean,
): boolean {
  let at = 0;
  let text = 0;
  let star = -1;
  let taken = 0;
  for (;;) {
    if (at === patternLength) {
      if (ends(text)) return true;
    } else if (isStar(at)) {
      star = at;
      taken = text;
      at += 1;
      continue;
    } else if (text < textLength && fits(at, text)) {
      at += 1;
      text += 1;
      continue;
    }
    if (star < 0 || taken >= textLength) return false;
    taken += 1;
    at = star + 1;
    text = taken;
  }
}

function isMany(token: Token | undefined): boolean {
  return typeof token === 'object' && 'any' in token && token.any === 'many';
}

function tokenMatches(token: Token, char: string): boolean {
  if (typeof token === 'string') return token === char;
  if ('any' in token) return true;
  return token.oneOf.includes(char) !== token.isNot;
}
