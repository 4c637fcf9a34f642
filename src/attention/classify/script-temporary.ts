/** What a test of Python does below the folders that its runner makes for it: `tmp_path`, and what is derived from it. */

/** Names that are followed, and rounds of following them. */
const namesMax = 100;
const roundsMax = 4;
const callChars = 300;
/** Fixtures of pytest; anybody may define one of the same name, which is no such folder then. */
const fixtures = ['tmp_path', 'tmpdir'];

/** `at`: of the call; `found`: the call as far as its rule goes: `.unlink(`, `shutil.rmtree(`. */
export function removesTemporary(code: string, at: number, found: string): boolean {
  if (/\bmove/.test(found) || !/\btmp_path\b|\btmpdir\b/.test(code)) return false;
  const names = temporaryNames(code);
  const subject = found.startsWith('.')
    ? subjectOf(
        code
          .slice(Math.max(0, at - callChars), at)
          .split('\n')
          .at(-1) ?? '',
      )
    : firstArgument(code.slice(at + found.length, at + found.length + callChars));
  return subject !== undefined && isTemporary(subject, names);
}

/** What stands before `.unlink(`: a name, or an expression in brackets. */
function subjectOf(line: string): string | undefined {
  const bracket = /(?<![\w.\])])\(([^()\n]*)\)$/.exec(line)?.[1];
  return bracket ?? /(?<![\w.)\]])([A-Za-z_][\w.]*(?:\([^()\n]*\))?)$/.exec(line)?.[1];
}

/** Each is set to nothing but a temporary folder, or what lies below it. */
function temporaryNames(code: string): ReadonlySet<string> {
  const given = fixtures.filter(
    (name) =>
      new RegExp(`\\bdef\\s+\\w+\\s*\\([^)]*\\b${name}\\b`).test(code) &&
      !new RegExp(`\\bdef\\s+${name}\\b|(?<![\\w.])${name}\\s*=(?!=)|\\bas\\s+${name}\\b`).test(
        code,
      ),
  );
  const names = new Set(given);
  const settings = settingsOf(code);
  for (let round = 0; round < roundsMax; round += 1)
    for (const [name, values] of settings) {
      if (names.size >= namesMax || names.has(name)) continue;
      if (values.every((value) => isTemporary(value, names))) names.add(name);
    }
  return names;
}

/** By name all that it is set to; a name that comes from elsewhere too is set to what is not known. */
function settingsOf(code: string): Map<string, string[]> {
  const settings = new Map<string, string[]>();
  const add = (name: string, value: string): void => {
    settings.set(name, [...(settings.get(name) ?? []), value]);
  };
  for (const [, name = '', value = ''] of code.matchAll(
    /(?<![\w.])([A-Za-z_]\w*)\s*(?::\s*[\w.[\]]+\s*)?=(?!=)[^\S\n]*([^\n]{0,300})/g,
  ))
    add(name, value.trim());
  for (const [, name = '', value = ''] of code.matchAll(
    /\bfor\s+([A-Za-z_]\w*)\s+in\s+([^\n]{1,300}?)\s*(?::|\bif\b|\]|\))?\s*$/gm,
  ))
    add(name, value);
  for (const [, list = ''] of code.matchAll(/\b(?:def\s+\w+\s*\(|lambda\b)([^):\n]{0,400})/g))
    for (const [name] of list.matchAll(/[A-Za-z_]\w*/g)) add(name, '?');
  for (const [, name = ''] of code.matchAll(/\b(?:as|global|nonlocal)\s+([A-Za-z_]\w*)/g))
    add(name, '?');
  for (const [, list = ''] of code.matchAll(
    /^\s*(?:for\s+)?\(?(\w+(?:\s*,\s*\w+)+)\)?\s*(?:=|in\b)/gm,
  ))
    for (const [name] of list.matchAll(/[A-Za-z_]\w*/g)) add(name, '?');
  return settings;
}

/** A name of these, below it by literal names alone, or what is listed in it. */
function isTemporary(expression: string, names: ReadonlySet<string>): boolean {
  if (expression.includes('..') || expression.length > callChars) return false;
  const plain = expression.trim().replace(/\s*#.*$/, '');
  const wrapped =
    /^(?:str|Path|pathlib\.Path|sorted|list|os\.fspath|os\.listdir|reversed)\(([^()]*(?:\([^()]*\))?)\)$/.exec(
      plain,
    );
  if (wrapped !== null && !/^os\.listdir/.test(plain)) return isTemporary(wrapped[1] ?? '', names);
  const joined =
    /^os\.path\.join\(\s*([A-Za-z_]\w*)((?:\s*,\s*["'](?!\/)[^"'\n]*["'])*)\s*\)$/.exec(plain);
  if (joined !== null) return names.has(joined[1] ?? '');
  const below =
    /^([A-Za-z_]\w*)((?:\s*\/\s*["'](?!\/)[^"'\n]*["']|\.(?:joinpath|join|mkdir|ensure|iterdir|glob|rglob|listdir|visit|resolve)\((?:\s*["'](?!\/)[^"'\n]*["']\s*,?)*\))*)$/.exec(
      plain,
    );
  return below !== null && names.has(below[1] ?? '');
}

/** Up to its comma or its bracket, whatever brackets are in it. */
function firstArgument(text: string): string | undefined {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '(' || sign === '[') depth += 1;
    else if (depth > 0 && (sign === ')' || sign === ']')) depth -= 1;
    else if (depth === 0 && (sign === ',' || sign === ')')) return text.slice(0, at).trim();
    else if (sign === '\n') return undefined;
  }
  return undefined;
}
