// Changes of code that a question can see: each leaves a name behind that was nowhere before.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { declarations, endings, filesUnder, functions } from '../../campaign/edits/edit.mjs';
import { hashOf } from '../lookup/random.mjs';

/** A body begins so soon after its head. */
const headLinesMax = 3;
const include = /^\s*#\s*include\s*[<"]([^">]+)[">]/gm;
const cLike = /\.(?:c|cc|cpp|cxx|h|hh|hpp)$/;

/** Files with a function into whose body something can be put, in an order by chance. */
export function editable(root, seed = 1) {
  return filesUnder(root)
    .map((file) => path.relative(root, file))
    .filter((file) => !file.endsWith('.h') && endings.includes(endingOf(file)))
    .sort((a, b) => hashOf(seed, a) - hashOf(seed, b));
}

/** The first `count` of them that can be changed, changed so that each calls `name`. */
export function callFrom(root, files, count, name) {
  const done = [];
  for (const file of files) {
    if (done.length === count) break;
    if (callIn(path.join(root, file), name)) done.push(file);
  }
  return done;
}

/**
 * Puts a call of `name` into the first body; false: there is none that is plain to see. Not into what C
 * switches off. Of C++ it is the global name: another one that stands nowhere may be that of a base class from elsewhere.
 */
function callIn(file, name) {
  const ending = endingOf(file);
  const lines = readFileSync(file, 'utf8').split('\n');
  const opens = ending === 'py' ? /:\s*$/ : /\{\s*$/;
  const called = /^(?:cc|cpp|cxx)$/.test(ending) ? `::${name}` : name;
  const isLive = liveLines(lines);
  for (let at = 0; at < lines.length; at += 1) {
    if (cLike.test(file) && !isLive[at]) continue;
    // As C is written where a type has a line of its own.
    if (at > 0 && lines[at] === '{' && /^\w.*\)$/.test(lines[at - 1])) {
      lines.splice(at + 1, 0, `\t${called}();`);
      writeFileSync(file, lines.join('\n'));
      return true;
    }
    if (!declarations[ending].test(lines[at])) continue;
    for (let head = at; head < at + headLinesMax; head += 1) {
      if (/;\s*$/.test(lines[head] ?? ';')) break;
      if (!opens.test(lines[head])) continue;
      const indent = `${/^\s*/.exec(lines[at])[0]}${ending === 'py' ? '    ' : '\t'}`;
      lines.splice(head + 1, 0, `${indent}${called}()${ending === 'py' ? '' : ';'}`);
      writeFileSync(file, lines.join('\n'));
      return true;
    }
  }
  return false;
}

/** Whether each line is read: outside of `#if 0`. */
function liveLines(lines) {
  const off = [];
  return lines.map((line) => {
    const [, word, rest = ''] = /^\s*#\s*(if\w*|el\w+|endif)\b(.*)$/.exec(line) ?? [];
    if (word?.startsWith('if')) off.push(word === 'if' && /^\s+0\s*(?:\/|$)/.test(rest));
    else if (word === 'endif') off.pop();
    else if (word !== undefined) off.splice(-1, 1, false);
    return !off.includes(true);
  });
}

export function addFunction(root, file, name) {
  appendFileSync(path.join(root, file), `\n${functions[endingOf(file)](name, `${name}_else`)}\n`);
}

/** The header that most files include by name: `{ file, by }`; undefined where there is none. */
export function widestHeader(root) {
  const files = filesUnder(root).map((file) => path.relative(root, file));
  const included = new Map();
  for (const file of files.filter((each) => cLike.test(each)))
    for (const [, target] of readFileSync(path.join(root, file), 'utf8').matchAll(include))
      included.set(target, (included.get(target) ?? 0) + 1);
  const headers = files.filter((file) => file.endsWith('.h')).sort((a, b) => a.length - b.length);
  for (const [target, by] of [...included].sort(([, a], [, b]) => b - a)) {
    const file = headers.find((each) => each === target || each.endsWith(`/${target}`));
    if (file !== undefined && structureIn(path.join(root, file)) !== undefined) return { file, by };
  }
  return undefined;
}

/** Changes of a header, from the least to the most that they may mean to others. */
export const headerChanges = {
  'words of a comment': (file, name) => {
    const lines = readFileSync(file, 'utf8').split('\n');
    lines.splice(structureIn(file).at, 0, `/* Here ${name} is meant. */`);
    writeFileSync(file, lines.join('\n'));
    return { asks: name, in: file };
  },
  'a macro more': (file, name) => {
    const lines = readFileSync(file, 'utf8').split('\n');
    lines.splice(structureIn(file).at, 0, `#define ${name}(x) ((x) + 1)`);
    writeFileSync(file, lines.join('\n'));
    return { defines: name };
  },
  'a member more': (file, name) => {
    const lines = readFileSync(file, 'utf8').split('\n');
    const { at, member } = structureIn(file);
    const [own] = /\w+(?=;$)/.exec(lines[member]);
    lines.splice(member + 1, 0, lines[member].replace(`${own};`, `${own}_${name};`));
    lines.splice(at, 0, `#define ${name}(x) ((x)->${own}_${name})`);
    writeFileSync(file, lines.join('\n'));
    return { defines: name };
  },
};

/** Where the first structure with a plain member begins, and that member. */
function structureIn(file) {
  const lines = readFileSync(file, 'utf8').split('\n');
  const at = lines.findIndex(
    (line, row) =>
      /^(?:struct|class) \w+.*\{$/.test(line) &&
      lines.slice(row + 1, row + 20).some((each) => /^\s+\w[\w *]*\w;$/.test(each)),
  );
  if (at < 0) return undefined;
  const within = lines.slice(at + 1).findIndex((line) => /^\s+\w[\w *]*\w;$/.test(line));
  return { at, member: at + 1 + within };
}

/** Names of functions that are declared in these lines, as long as names of no other thing are. */
export function declaredIn(lines, ending) {
  const names = lines.flatMap((line) => {
    const name = declarations[ending].exec(line)?.[1] ?? /^(\w+)\([^;]*\)$/.exec(line)?.[1];
    return name === undefined ? [] : [name];
  });
  return names.filter((name) => name.length > 8);
}

export function endingOf(file) {
  return path.extname(file).slice(1);
}
