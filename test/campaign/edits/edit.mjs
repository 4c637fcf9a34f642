// What people do to code, at random and by text alone: some of it no longer compiles, as while somebody types.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

/** Where something is declared, by the ending of a file: its name, and what it takes. */
const declarations = {
  go: /^func (?:\([^)]*\) )?(\w+)\(([^()]*)\)/,
  ts: /^\s*(?:export )?(?:async )?(?:function )?(\w+)\(([^()]*)\)[^;]*\{$/,
  py: /^\s*(?:async )?def (\w+)\(([^()]*)\)/,
  java: /^\s*(?:public |protected |private |static |final )+[\w<>[\], ]+ (\w+)\(([^()]*)\)/,
  rs: /^\s*(?:pub(?:\([a-z]+\))? )?fn (\w+)\(([^()]*)\)/,
  c: /^[A-Za-z_][\w *()]*?\b(\w+)\(([^()]*)\)/,
  cc: /^\s*[A-Za-z_][\w *&:<>]*?\b(\w+)\(([^()]*)\)(?: const)? \{$/,
  h: /^\s*(?:virtual )?[A-Za-z_][\w *&:<>]*?\b(\w+)\(([^()]*)\)/,
};
const imports = /^(?:import\b|from\b|use\b|#include\b|\t"|\s*(?:const|let) .*require\()/;
const endings = Object.keys(declarations);

export function filesUnder(root) {
  const found = [];
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const ending = path.extname(entry.name).slice(1);
    if (entry.isFile() && endings.includes(ending))
      found.push(path.join(entry.parentPath, entry.name));
  }
  return found.sort();
}

/** Makes one edit under `root`; says what was done. */
export function edited(root, random) {
  const pick = (list) => list[random(list.length)];
  const ending = pick(endings);
  const files = filesUnder(root).filter((file) => file.endsWith(`.${ending}`));
  const file = pick(files);
  if (file === undefined) return undefined;
  const lines = readFileSync(file, 'utf8').split('\n');
  const of = { root, ending, files, file, lines, pick };
  const [name, make] = pick(Object.entries(edits));
  const said = make(of);
  return said && `${name}: ${path.relative(root, file)} ${said}`;
}

const edits = {
  body({ file, lines, pick }) {
    const within = lines.filter((line) => /^\s+\S.*\(/.test(line));
    if (within.length < 2) return undefined;
    lines.splice(lines.indexOf(pick(within)), 0, pick(within));
    return write(file, lines, 'one more call');
  },
  signature({ file, lines, pick, ending }) {
    const all = declaredIn(lines, ending);
    if (all.length < 2) return undefined;
    const [one, other] = [pick(all), pick(all)];
    lines[one.at] = lines[one.at].replace(`(${one.takes})`, () => `(${other.takes})`);
    return write(file, lines, one.name);
  },
  'rename where it is declared': ({ file, lines, pick, ending }) => {
    const one = pick(declaredIn(lines, ending));
    if (one === undefined) return undefined;
    lines[one.at] = lines[one.at].replace(new RegExp(`\\b${one.name}\\b`), `${one.name}Too`);
    return write(file, lines, one.name);
  },
  'rename everywhere': ({ files, lines, pick, ending }) => {
    const one = pick(declaredIn(lines, ending));
    if (one === undefined) return undefined;
    const name = new RegExp(`\\b${one.name}\\b`, 'g');
    for (const each of files) {
      const text = readFileSync(each, 'utf8');
      if (name.test(text)) writeFileSync(each, text.replace(name, `${one.name}Now`));
    }
    return one.name;
  },
  'delete lines': ({ file, lines, pick }) => {
    const from = pick([...lines.keys()]);
    lines.splice(from, 1 + (from % 7));
    return write(file, lines, `from ${from}`);
  },
  'change imports': ({ file, files, lines, pick }) => {
    const theirs = readFileSync(pick(files), 'utf8')
      .split('\n')
      .filter((line) => imports.test(line));
    const own = [...lines.keys()].filter((at) => imports.test(lines[at]));
    if (theirs.length === 0 || own.length === 0) return undefined;
    lines[pick(own)] = pick(theirs);
    return write(file, lines, '');
  },
  copy({ file, pick, files }) {
    const copy = path.join(path.dirname(pick(files)), `copied_${path.basename(file)}`);
    cpSync(file, copy);
    return `as ${path.basename(path.dirname(copy))}`;
  },
  move({ file, pick, files }) {
    const to = path.join(path.dirname(pick(files)), path.basename(file));
    if (existsSync(to)) return undefined;
    mkdirSync(path.dirname(to), { recursive: true });
    renameSync(file, to);
    return `to ${path.basename(path.dirname(to))}`;
  },
  delete({ file }) {
    rmSync(file);
    return '';
  },
};

function declaredIn(lines, ending) {
  return [...lines.entries()].flatMap(([at, line]) => {
    const [, name, takes] = declarations[ending].exec(line) ?? [];
    return name === undefined ? [] : [{ at, name, takes }];
  });
}

function write(file, lines, said) {
  writeFileSync(file, lines.join('\n'));
  return said || 'done';
}
