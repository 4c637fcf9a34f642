/** What a script has made itself, and nobody else has: what it removes of that is no loss. */

/** Places where a name is set that are looked at. */
const settingsMax = 20;
/** Of an expression that a name is set to. */
const expressionChars = 200;

/** Makers of new folders and files, by the names of those who own them: no script's own function of that name. */
const makers: Record<string, RegExp> = {
  python:
    /^(?:(?:pathlib\.)?Path\s*\(\s*)?tempfile\.(?:mkdtemp|mkstemp|TemporaryDirectory|NamedTemporaryFile)\s*\(/,
  javascript:
    /^(?:await\s+)?(?:fs|fsp|fsPromises|fs\.promises|require\(\s*["'](?:node:)?fs(?:\/promises)?["']\s*\))\.mkdtemp(?:Sync)?\s*\(/,
  ruby: /^(?:Dir\.mktmpdir|Tempfile\.(?:new|create))\b/,
  perl: /^(?:File::Temp::)?(?:tempdir|tempfile)\s*\(|^File::Temp->new/,
  php: /^tempnam\s*\(|^tmpfile\s*\(/,
  r: /^temp(?:file|dir)\s*\(/,
  go: /^(?:os\.(?:MkdirTemp|CreateTemp)|ioutil\.Temp(?:Dir|File))\s*\(/,
  rust: /^(?:tempfile::)?(?:tempdir|TempDir::new|tempfile|NamedTempFile::new)\s*\(/,
  jvm: /^(?:java\.nio\.file\.)?Files\.createTemp(?:Directory|File)\s*\(|^File\.createTempFile\s*\(/,
};
/** Names by which modules bring these along without saying where they come from. */
const bareMakers: Record<string, { call: RegExp; from: RegExp }> = {
  python: {
    call: /^(?:mkdtemp|mkstemp|TemporaryDirectory|NamedTemporaryFile)\s*\(/,
    from: /^[ \t]*from\s+tempfile\s+import\b/m,
  },
  javascript: {
    call: /^(?:await\s+)?mkdtemp(?:Sync)?\s*\(/,
    from: /\bmkdtemp(?:Sync)?\b[^;\n]{0,200}(?:from\s*|require\(\s*)["'](?:node:)?fs(?:\/promises)?["']/,
  },
};

/**
 * Whether what is removed is one name that the script sets to nothing but what it makes for itself: `rmtree(root)` behind
 * `root = tempfile.mkdtemp()`. `at`: of the call, behind its name; `found`: the call as far as its rule goes.
 */
export function removesOwn(code: string, at: number, found: string, language: string): boolean {
  // What is moved may lie over something else.
  if (/\bmove/.test(found)) return false;
  const name = removedName(code, at, found);
  if (name === undefined || definesMaker(code, language)) return false;
  return isSetOnlyTo(name, code, language);
}

function removedName(code: string, at: number, found: string): string | undefined {
  const behind = code.slice(at + found.length, at + found.length + expressionChars);
  // `made.unlink()`: what is removed stands before it.
  if (found.startsWith('.') || /^\.\w/.test(found)) {
    const before = code.slice(Math.max(0, at - expressionChars), at);
    return /(?<![\w.)\]$])([A-Za-z_]\w*)$/.exec(before)?.[1];
  }
  const open = found.endsWith('(') ? '' : '\\s*\\(?';
  const argument = new RegExp(`^${open}\\s*(?:\\$|my\\s+\\$)?([A-Za-z_]\\w*)\\s*(?:[,);]|$)`);
  return argument.exec(behind)?.[1];
}

function definesMaker(code: string, language: string): boolean {
  if (makers[language] === undefined) return true;
  return /\b(?:def|function|fn|func|sub|class)\s+(?:mkdtemp\w*|mkstemp|tempfile|tempdir|TempDir|fs|Files)\b|\b(?:tempfile|mkdtemp(?:Sync)?|fs)\s*=(?!=|\s*(?:await\s+)?(?:require|import))/.test(
    code,
  );
}

function isSetOnlyTo(name: string, code: string, language: string): boolean {
  const own = `(?<![\\w.])\\$?${name}`;
  // Set by a loop, as a parameter, in a list of names, by an operator: it may be anything.
  const elsewhere = new RegExp(
    `\\bfor\\b[^\\n]{0,80}\\b${name}\\b[^\\n]{0,80}\\b(?:in|of)\\b|\\b(?:def|function|fn|func|sub|lambda)\\b[^\\n:{]{0,200}\\b${name}\\b|\\b${name}\\b[^\\n()]{0,80}\\)?\\s*=>|${own}\\s*(?:\\+|-|\\*|/|%|\\||&|\\?\\?|\\|\\|)=|${own}\\s*:=(?!\\s*(?:os|ioutil)\\.)|(?:,\\s*${name}|${name}\\s*,[^=\\n()]{0,80}|[[{]\\s*${name}\\b[^=\\n]{0,80}[\\]}])\\s*(?::?=|<-)(?!=)|\\b(?:global|nonlocal|catch|each|import)\\b[^\\n]{0,40}\\b${name}\\b|\\|\\s*${name}\\s*\\|`,
  );
  const isGo = language === 'go';
  const text = isGo
    ? code.replace(new RegExp(`${own}\\s*,\\s*(?:err|_)\\s*:?=`, 'g'), `${name} =`)
    : code;
  if (elsewhere.test(text)) return false;
  const settings = [
    ...text.matchAll(
      new RegExp(`${own}\\s*(?::\\s*[\\w.<>\\[\\] ]{1,40})?\\s*(?::?=(?![=>~])|<-)\\s*`, 'g'),
    ),
  ];
  const bound = [...text.matchAll(new RegExp(`\\bas\\s+${name}\\b`, 'g'))];
  if (settings.length + bound.length === 0 || settings.length > settingsMax) return false;
  const isMade = settings.every(({ 0: setting, index }) => {
    const from = index + setting.length;
    return makes(text.slice(from, from + expressionChars), text, language);
  });
  const isBound = bound.every(({ index }) => {
    const line = text.slice(text.lastIndexOf('\n', index) + 1, index);
    return makes(line.trim().replace(/^(?:async\s+)?with\s+/, ''), text, language);
  });
  return isMade && isBound;
}

function makes(expression: string, code: string, language: string): boolean {
  if (makers[language]?.test(expression) === true) return hasNothingBehind(expression);
  const bare = bareMakers[language];
  const isBare = bare?.call.test(expression) === true && bare.from.test(code);
  return isBare && hasNothingBehind(expression);
}

/** `mkdtemp() + "/../x"` is another folder. */
function hasNothingBehind(expression: string): boolean {
  const line = expression.split(/[\n;]/)[0] ?? '';
  let depth = 0;
  let behind = '';
  for (let at = 0; at < line.length && behind === ''; at += 1) {
    if (line[at] === '(') depth += 1;
    else if (line[at] === ')') depth -= 1;
    if (line[at] === ')' && depth === 0) behind = line.slice(at + 1);
  }
  return !/^[^\S\n]*\)?[^\S\n]*(?:[+/%[]|or\b|and\b|if\b|\?|\|\||&&|\.(?!name\b|path\b))|\.\./.test(
    behind,
  );
}
