import { cut, word, type Examination, type Spot } from './examination.js';
import { bareScript } from './script-text.js';
import { writesTo } from './write-effects.js';

/** Where a script of another language writes: what it names itself, and what it builds out of the folder of its user. */

/** Calls of one script that are looked at; those beyond count as outside. */
const callsMax = 200;
const callChars = 1_000;
const shownChars = 200;
/** Names handed on to names: more rounds say nothing more. */
const roundsMax = 4;
const namesMax = 100;

interface Call {
  expression: RegExp;
  /** The target is the first argument; else it stands before the call, or anywhere in it. */
  first: boolean;
  /** A mode among the arguments tells whether it writes. */
  mode?: RegExp;
  appends?: boolean;
  /** The target is what stands before it, and no argument. */
  before?: boolean;
}

const modes = /["'](?:[wax]|r\+|rb\+|r\+b)[bt+]{0,3}["']/;

const calls: Record<string, Call[]> = {
  python: [
    { expression: /(?<![\w.])(?:io\.|codecs\.|gzip\.)?open\s*\(/g, first: true, mode: modes },
    {
      expression: /\.open\s*\((?=[^()\n]{0,200}["'](?:[wax]|r\+))/g,
      first: false,
      before: true,
      mode: modes,
    },
    {
      expression: /\.(?:write_text|write_bytes|touch|mkdir|chmod)\s*\(/g,
      first: false,
      before: true,
    },
    { expression: /\.(?:symlink_to|hardlink_to|replace|rename)\s*\(/g, first: false },
    {
      expression:
        /\b(?:shutil\.(?:copy\w*|move)|os\.(?:rename|replace|symlink|link|chmod|makedirs|mkdir)|np\.save\w*)\s*\(/g,
      first: false,
    },
  ],
  javascript: [
    {
      expression:
        /\b(?:writeFile|writeFileSync|outputFile|outputFileSync|writeJson|writeJsonSync|createWriteStream|truncate)\s*\(|\bBun\.write\s*\(|\bDeno\.write\w*\s*\(/g,
      first: true,
    },
    { expression: /\b(?:appendFile|appendFileSync)\s*\(/g, first: true, appends: true },
    { expression: /\bopen(?:Sync)?\s*\(/g, first: true, mode: modes },
    {
      expression:
        /\b(?:copyFile|copyFileSync|cp|cpSync|rename|renameSync|symlink|symlinkSync|link|linkSync|chmod|chmodSync|mkdir|mkdirSync|copySync|moveSync)\s*\(/g,
      first: false,
    },
  ],
  ruby: [
    { expression: /\b(?:File|IO)\.(?:write|binwrite)\s*\(?/g, first: true },
    { expression: /\bFile\.(?:open|new)\s*\(?/g, first: true, mode: modes },
    {
      expression:
        /\b(?:FileUtils\.(?:cp\w*|mv|move|copy\w*|ln\w*|install|touch|mkdir\w*|chmod\w*)|File\.(?:rename|symlink|chmod))\s*\(?/g,
      first: false,
    },
    { expression: /\.write\s*\(/g, first: false, before: true },
  ],
  php: [
    { expression: /\bfile_put_contents\s*\(/g, first: true },
    { expression: /\bfopen\s*\(/g, first: true, mode: modes },
    {
      expression: /\b(?:copy|rename|symlink|link|move_uploaded_file|touch|mkdir|chmod)\s*\(/g,
      first: false,
    },
  ],
  perl: [
    { expression: /\bopen\s*\(?\s*(?:my\s+)?\$?\w+\s*,(?=\s*["'](?:\+?>|\+<))/g, first: false },
    { expression: /\b(?:copy|move|rename|symlink|link|mkdir)\b\s*\(?/g, first: false },
  ],
  r: [
    {
      expression:
        /\b(?:writeLines|write|write\.\w+|saveRDS|save|sink|cat|file\.copy|file\.rename|file\.symlink|file\.create|file\.append|dir\.create)\s*\(/g,
      first: false,
    },
  ],
  lua: [{ expression: /\bio\.open\s*\(/g, first: true, mode: modes }],
  go: [
    { expression: /\b(?:os|ioutil)\.(?:WriteFile|Create|OpenFile)\s*\(/g, first: true },
    { expression: /\bos\.(?:Rename|Symlink|Link|Chmod|Mkdir|MkdirAll)\s*\(/g, first: false },
  ],
  rust: [
    { expression: /\b(?:fs::write|File::create)\s*\(/g, first: true },
    {
      expression:
        /\b(?:fs::(?:copy|rename|hard_link|create_dir\w*|set_permissions)|symlink|OpenOptions::new)\s*\(/g,
      first: false,
    },
  ],
  jvm: [
    {
      expression:
        /\b(?:Files\.(?:write\w*|copy|move|create\w+|newBufferedWriter)|FileWriter|FileOutputStream|PrintWriter)\s*\(|\.(?:writeText|appendText|write|append|renameTo|copyTo|text\s*=)\s*\(?/g,
      first: false,
    },
  ],
  elixir: [
    { expression: /\bFile\.(?:write|open|cp\w*|rename|ln\w*|mkdir\w*)!?\s*\(/g, first: false },
  ],
};

/** The folder of the user, or what lies beside the root, in any of these languages. */
const outsideSource =
  /\bPath\.home\s*\(|\bexpanduser\s*\(|\benviron\b[^\n]{0,8}["']HOME["']|\bgetenv\s*\(\s*["']HOME["']|\bhomedir\s*\(|\benv\.HOME\b|\bDir\.home\b|\bENV\s*(?:\.fetch\s*)?[[({]\s*["']?HOME\b|\bUserHomeDir\s*\(|\bhome_dir\s*\(|\bvar\w*\s*\(\s*"HOME"|["']user\.home["']|\bpath\.expand\s*\(|\bSystem\.user_home|\bget_env\s*\(\s*"HOME"|["'`]~\/|["'`]\/(?:etc|usr|var\/(?!tmp)|home|root|opt|srv|boot|lib|bin|sbin|mnt|media|Library|Users)\b|["'`](?:\.\.\/){1,20}\.\.\/|\$HOME\b/;
/** What runs by itself later, whoever names it. */
const startupName =
  /["'`/](?:\.(?:bashrc|bash_profile|profile|zshrc|zshenv|zprofile|gitconfig|config\/autostart|config\/systemd|config\/fish)|authorized_keys|crontabs?|cron\.\w+|LaunchAgents|rc\.local|sudoers|\.git\/hooks|sitecustomize\.py|usercustomize\.py|\.pth)\b/;

export async function scriptWrites(
  source: string,
  language: string,
  exam: Examination,
  spot: Spot,
): Promise<void> {
  const known = calls[language];
  if (known === undefined || !exam.spend('chars', source.length)) return;
  const { code, bare } = bareScript(source, language);
  const outside = outsideNames(code);
  const namesStartup = startupName.test(code);
  let seen = 0;
  for (const call of known)
    for (const { index, 0: found } of code.matchAll(call.expression)) {
      if (bare[index] !== code[index]) continue;
      seen += 1;
      if (seen > callsMax) return;
      await written({ call, code, index, found, outside, namesStartup, language }, exam, spot);
    }
}

interface Written {
  call: Call;
  code: string;
  index: number;
  found: string;
  outside: ReadonlySet<string>;
  namesStartup: boolean;
  language: string;
}

async function written(of: Written, exam: Examination, spot: Spot): Promise<void> {
  const { call, code, index, found, outside, namesStartup, language } = of;
  const inside = argumentsAt(code, index + found.length);
  if (call.mode !== undefined && !call.mode.test(inside) && !hasHiddenMode(inside)) return;
  if (call.mode !== undefined && !call.mode.test(inside) && !call.first) return;
  const before = code.slice(code.lastIndexOf('\n', index) + 1, index).slice(-shownChars);
  const whole = `${before}${found}${inside}`;
  const shown = [word(language), word(cut(whole.trim(), shownChars))];
  const literal = call.first ? literalAt(inside) : undefined;
  if (literal !== undefined) {
    const isAppending = call.appends === true || /["']a[bt+]{0,2}["']/.test(inside);
    const writing = { words: shown, isAppending, isRedirect: true, content: undefined };
    return await writesTo(word(literal), writing, exam, spot);
  }
  const receiver = receiverOf(before, found);
  const other = call.before === true ? receiver : `${receiver} ${inside}`;
  const target = call.first ? firstOf(inside) : other;
  const isOutside = outsideSource.test(target) || names(target).some((each) => outside.has(each));
  if (!isOutside && !(namesStartup && names(target).length > 0)) return;
  const subject = { tool: language, target: spot.file };
  exam.found({
    ...{ signal: 'ScopeEscalation', rule: 'outside-root', words: shown, spot, ...subject },
    says: 'writes outside of the root',
  });
  if (namesStartup)
    exam.found({
      ...{ signal: 'SecurityBoundary', rule: 'startup-file', words: shown, spot, ...subject },
      says: 'writes what runs by itself later',
    });
}

/** `open(path, mode)`: it may be any. */
function hasHiddenMode(inside: string): boolean {
  return /^[^,]{1,200},\s*(?:mode\s*=\s*|flag\s*[:=]\s*)?[A-Za-z_]\w*\s*$/.test(inside);
}

/** Names that are set from the folder of the user, from each other, or are given to a function as such. */
function outsideNames(code: string): Set<string> {
  const found = new Set<string>();
  if (!outsideSource.test(code)) return found;
  const settings = [
    ...code.matchAll(
      /(?:^|[;{(\s])(?:const|let|var|my|val|final|def|local)?\s*\$?([A-Za-z_]\w*)(?:\s*,\s*(?:err|_))?\s*(?::\s*[\w.<>[\] ]{1,40})?\s*(?::?=(?![=>~])|<-)\s*([^\n;]{1,300})/gm,
    ),
  ].slice(0, 2_000);
  const parameters = [
    ...code.matchAll(/\b(?:def|function|func|fn|fun|sub)\s+(\w+)\s*\(([^()\n]{1,300})\)/g),
  ].slice(0, namesMax);
  for (let round = 0; round < roundsMax; round += 1) {
    const before = found.size;
    for (const [, name = '', value = ''] of settings)
      if (outsideSource.test(value) || names(value).some((each) => found.has(each)))
        if (found.size < namesMax) found.add(name);
    for (const [, name = '', list = ''] of parameters)
      if (isGivenOutside(name, code, found))
        for (const each of names(list)) if (found.size < namesMax) found.add(each);
    if (found.size === before) break;
  }
  return found;
}

function isGivenOutside(name: string, code: string, outside: ReadonlySet<string>): boolean {
  const given = code.matchAll(
    new RegExp(`(?<!def |function |func |fn |fun |sub )\\b${name}\\s*\\(`, 'g'),
  );
  for (const { index, 0: found } of given) {
    const inside = argumentsAt(code, index + found.length);
    if (outsideSource.test(inside) || names(inside).some((each) => outside.has(each))) return true;
  }
  return false;
}

function names(text: string): string[] {
  const plain = text.replace(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/g, ' ');
  const inTexts = [...text.matchAll(/\{\s*([A-Za-z_]\w*)|\$\{?([A-Za-z_]\w*)/g)];
  return [
    ...(plain.match(/(?<![\w.])[A-Za-z_]\w*/g) ?? []),
    ...inTexts.map((each) => each[1] ?? each[2] ?? ''),
  ];
}

/** What stands between its brackets; without brackets, the line. */
function argumentsAt(code: string, from: number): string {
  const window = code.slice(from, from + callChars);
  let depth = 1;
  for (const { 0: piece, index } of window.matchAll(
    /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|[()]/g,
  )) {
    if (piece === '(') depth += 1;
    else if (piece === ')') depth -= 1;
    if (depth === 0) return window.slice(0, index);
  }
  return window.split('\n')[0] ?? '';
}

function literalAt(inside: string): string | undefined {
  const found = /^\s*[rb]?(?:"([^"\\$#{}]*)"|'([^'\\{}]*)')\s*(?:,|$)/.exec(inside);
  return found?.[1] ?? found?.[2];
}

function firstOf(inside: string): string {
  let depth = 0;
  for (let at = 0; at < inside.length; at += 1) {
    const sign = inside[at] ?? '';
    if ('([{'.includes(sign)) depth += 1;
    else if (')]}'.includes(sign)) depth -= 1;
    else if (sign === ',' && depth === 0) return inside.slice(0, at);
  }
  return inside;
}

/** `(home / ".bashrc").open(…)`: what stands before the point. */
function receiverOf(before: string, found: string): string {
  if (!found.startsWith('.')) return '';
  return /[\w.$"'`/()[\]~ +-]*$/.exec(before)?.[0] ?? '';
}
