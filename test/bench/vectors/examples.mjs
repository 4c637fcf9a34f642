// What people said of functions: the text of a commit of those whose lines it wrote last, a comment of the function under it.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { load } from '../retrieval/product.mjs';

const { saidRole } = await load('src/pgc/source/role.js');
const { bodyTermsOf, identifiersOf } = await load('src/pgc/format/words.js');

const extensions = 'go java c h cc cpp cxx hh hpp rs py ts tsx js jsx mjs'.split(' ');
const functionKinds = new Set(['function', 'method', 'constructor']);
/** Code of others in a tree, also where no index says so. */
const foreign = /(?:^|\/)(?:third[_-]?party|vendor(?:ed)?|deps|bundled|node_modules|_vendor)\//i;
const functionLinesMax = 600;
const wordsMax = 3000;
const commitsMax = 30_000;
/** A commit that touches more says little about each. */
const filesMax = 60;
const functionsMax = 8;
/** Shorter lines, and those that stand more often in a file, are nobody's. */
const lineCharsMin = 8;
const lineCharsMax = 400;
const twinsMax = 3;
const textCharsMax = 800;
const textWordsMin = 3;
const commentWords = [4, 150];
const bodyWordsMin = 8;

export const wordsIn = (text) => identifiersOf(text).flatMap((each) => bodyTermsOf(each));

/** The functions of an indexed tree: `{ path, from, to, head, comments, body }`, the last three as lists of words. */
export function functionsOf({ shards }, root) {
  const functions = [];
  const lines = new Map();
  for (const { index } of shards)
    for (let symbol = 0; symbol < index.symbolCount; symbol += 1) {
      const row = index.symbol(symbol);
      if (row.declaration || !functionKinds.has(row.kind)) continue;
      const { path: file } = index.file(row.file);
      if (saidRole(index.info, file) !== '' || foreign.test(file)) continue;
      if (!lines.has(file)) lines.set(file, linesOf(path.join(root, file)));
      functions.push(functionAt(file, lines.get(file), row));
    }
  return { functions, lines };
}

function linesOf(file) {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

const commentLine = /^\s*(?:\/\/|\/\*|\*|#|"""|''')/;
const inPython = /"""[\s\S]*?"""|'''[\s\S]*?'''|#[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g;
const elsewhere =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g;

function functionAt(file, lines, { name, container, line_start: start, line_end: to }) {
  let from = start;
  while (from > 1 && commentLine.test(lines[from - 2] ?? '')) from -= 1;
  const text = lines.slice(from - 1, Math.min(to, from + functionLinesMax)).join('\n');
  const comments = [];
  const body = text.replaceAll(file.endsWith('.py') ? inPython : elsewhere, (found) => {
    if (!/^(?:\/\/|\/\*|"""|'''|#)/.test(found)) return found;
    comments.push(found);
    return ' ';
  });
  return {
    path: file,
    from: start,
    to,
    head: wordsIn(`${name} ${container} ${file}`),
    comments: wordsIn(comments.join('\n')).slice(0, wordsMax),
    body: wordsIn(body).slice(0, wordsMax),
  };
}

/** The comments of functions that have both a comment and enough besides it. */
export function commentTexts(functions) {
  return functions.flatMap(({ comments, body }, at) => {
    const words = [...new Set(comments)];
    if (words.length < commentWords[0] || words.length > commentWords[1]) return [];
    return body.length < bodyWordsMin
      ? []
      : [{ words, about: [{ function: at, share: 1 }], isComment: true }];
  });
}

/** The commits before `commit`, newest first; a line belongs to the newest one that wrote it. */
export async function commitTexts({ functions, lines }, mirror, commit) {
  const owners = ownersOf(functions, lines);
  const claimed = new Map([...owners.keys()].map((file) => [file, new Set()]));
  const texts = [];
  for await (const { message, written, fileCount } of commitsOf(mirror, commit, owners)) {
    const text = cleaned(message);
    if (written.length === 0 || fileCount > filesMax || noise.test(text.split('\n')[0])) continue;
    const words = [...new Set(wordsIn(withoutNames(text)))];
    const claims = [];
    const share = new Map();
    for (const { file, line } of written) {
      const own = owners.get(file).get(line);
      if (own === undefined || claimed.get(file).has(line)) continue;
      claims.push({ file, line });
      for (const at of own) share.set(at, (share.get(at) ?? 0) + 1);
    }
    if (share.size === 0 || share.size > functionsMax || words.length < textWordsMin) continue;
    for (const { file, line } of claims) claimed.get(file).add(line);
    const about = [...share].map(([at, count]) => ({ function: at, share: Math.sqrt(count) }));
    texts.push({ words, about, isComment: false });
  }
  return texts;
}

/** Of each file, the functions by the lines in them, the innermost ones. */
function ownersOf(functions, lines) {
  const inner = new Map();
  functions.forEach(({ path: file, from, to }, at) => {
    if (!inner.has(file)) inner.set(file, []);
    const rows = inner.get(file);
    for (let line = from; line <= to; line += 1) {
      const now = functions[rows[line]];
      if (now === undefined || now.to - now.from >= to - from) rows[line] = at;
    }
  });
  const owners = new Map();
  for (const [file, rows] of inner) {
    const byText = new Map();
    lines.get(file).forEach((line, at) => {
      const key = line.trim();
      if (rows[at + 1] === undefined || key.length < lineCharsMin) return;
      if (!byText.has(key)) byText.set(key, []);
      byText.get(key).push(rows[at + 1]);
    });
    for (const [key, all] of byText) if (all.length > twinsMax) byText.delete(key);
    owners.set(file, byText);
  }
  return owners;
}

const format = '%x01%B%x02';

async function* commitsOf(mirror, commit, owners) {
  const git = spawn(
    'git',
    [
      `--git-dir=${mirror}`,
      ...[
        '-c',
        'core.quotepath=off',
        'log',
        '-n',
        `${commitsMax}`,
        '--no-merges',
        '-M',
        '-p',
        '-U0',
      ],
      ...['--no-color', '--no-ext-diff', '--no-textconv', `--format=${format}`, commit, '--'],
      ...extensions.map((each) => `*.${each}`),
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  /** The present names of files that were renamed later. */
  const renamed = new Map();
  let current;
  let file;
  let from;
  let isMessage = false;
  for await (const line of createInterface({ input: git.stdout, crlfDelay: Infinity })) {
    if (line.startsWith('\u0001')) {
      if (current !== undefined) yield current;
      current = { message: '', written: [], fileCount: 0 };
      isMessage = true;
    }
    if (current === undefined) continue;
    if (isMessage) {
      current.message += `${line.replace('\u0001', '').replace('\u0002', '')}\n`;
      isMessage = !line.endsWith('\u0002');
    } else if (line.startsWith('diff --git ')) {
      file = undefined;
      current.fileCount += 1;
    } else if (line.startsWith('rename from ')) from = line.slice(12);
    else if (line.startsWith('rename to ')) {
      const to = line.slice(10);
      renamed.set(from, renamed.get(to) ?? to);
    } else if (line.startsWith('+++ ')) {
      const now = line.slice('+++ b/'.length);
      file = [now, renamed.get(now)].find((each) => owners.has(each));
    } else if (file !== undefined && line.startsWith('+')) {
      const text = line.slice(1).trim();
      if (text.length >= lineCharsMin && text.length < lineCharsMax)
        current.written.push({ file, line: text });
    }
  }
  if (current !== undefined) yield current;
}

/** First lines of commits that say nothing about what the code does. */
const noise =
  /^(?:merge|release|bump|version|v?\d+\.\d+|prepare (?:for|next)|\[maven|chore\(release|chore\(deps|build\(deps|auto-?format|revert)|\b(?:lint(?:er|ing)?|eslint|prettier|gofmt|rustfmt|fmt|clippy|reformat(?:ted|ting)?|formatting|indent(?:ation)?|whitespaces?|typos?|spelling|copyright|licen[cs]e headers?|checkstyle|code ?style|changelog|release notes|bump(?:s|ed)?)\b/i;
const trailer =
  /^\s*(?:[A-Z][A-Za-z]*(?:-[A-Za-z]+)+:|(?:co-authored|signed-off|reviewed|acked|tested|cc|git-svn-id|change-id)\b)/i;

function cleaned(message) {
  return message
    .replaceAll(/```[\s\S]*?(?:```|$)/g, ' ')
    .split('\n')
    .filter((line) => !trailer.test(line))
    .join('\n')
    .replaceAll(/https?:\/\/\S+|\S+@\S+\.\S+|#\d+|\b[0-9a-f]{8,40}\b/g, ' ')
    .trim()
    .slice(0, textCharsMax);
}

/** Who asks does not know the names in the code. */
function withoutNames(text) {
  return text.replaceAll(
    /`[^`]*`|\S*[\w$](?:_|[a-z0-9](?=[A-Z])|::|->|\(|\.\w|\/\w)\S*|\b_\w+|^[\w/.()-]+: /gm,
    ' ',
  );
}
