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
export const declarations = {
  go: /^func (?:\([^)]*\) )?(\w+)\(([^()]*)\)/,
  ts: /^\s*(?:export )?(?:async )?(?:function )?(\w+)\(([^()]*)\)[^;]*\{$/,
  py: /^\s*(?:async )?def (\w+)\(([^()]*)\)/,
  java: /^\s*(?:public |protected |private |static |final )+[\w<>[\], ]+ (\w+)\(([^()]*)\)/,
  rs: /^\s*(?:pub(?:\([a-z]+\))? )?fn (\w+)\(([^()]*)\)/,
  c: /^[A-Za-z_][\w *()]*?\b(\w+)\(([^()]*)\)/,
  cc: /^\s*[A-Za-z_][\w *&:<>]*?\b(\w+)\(([^()]*)\)(?: const)? \{$/,
  h: /^\s*(?:virtual )?[A-Za-z_][\w *&:<>]*?\b(\w+)\(([^()]*)\)/,
};
/** A function without a meaning, named and calling as given. */
export const functions = {
  go: (name, calls) => `func ${name}() {\n\t${calls}()\n}`,
  ts: (name, calls) => `export function ${name}() {\n  ${calls}();\n}`,
  py: (name, calls) => `def ${name}():\n    ${calls}()`,
  java: (name, calls) => `class Of${name} {\n  void ${name}() {\n    ${calls}();\n  }\n}`,
  rs: (name, calls) => `fn ${name}() {\n    ${calls}();\n}`,
  c: (name, calls) => `void ${name}(void)\n{\n\t${calls}();\n}`,
  cc: (name, calls) => `void ${name}() {\n  ${calls}();\n}`,
  h: (name, calls) => `static inline void ${name}(void) { ${calls}(); }`,
};
const member = /^\s+[A-Za-z_][\w<>:*&[\], .]*[ *&]\w+;$/;
const imports = /^(?:import\b|from\b|use\b|#include\b|\t"|\s*(?:const|let) .*require\()/;
export const endings = Object.keys(declarations);

export function filesUnder(root) {
  const found = [];
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const ending = path.extname(entry.name).slice(1);
    if (entry.isFile() && endings.includes(ending))
      found.push(path.join(entry.parentPath, entry.name));
  }
  return found.sort();
}

/** Makes one edit under `root`; says what was done. `original`: the tree as it was, to go back to. */
export function edited(root, random, original = root) {
  const pick = (list) => list[random(list.length)];
  const ending = pick(endings);
  const files = filesUnder(root).filter((file) => file.endsWith(`.${ending}`));
  const file = pick(files);
  if (file === undefined) return undefined;
  const lines = readFileSync(file, 'utf8').split('\n');
  const of = { root, original, ending, files, file, lines, pick };
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
  'another function': ({ file, lines, pick, ending }) => {
    const calls = pick(declaredIn(lines, ending))?.name;
    if (calls === undefined) return undefined;
    const name = `${calls}Again${lines.length}`;
    return write(file, [...lines, functions[ending](name, calls), ''], name);
  },
  'delete a function': ({ file, lines, pick, ending }) => {
    const all = declaredIn(lines, ending);
    const one = pick(all);
    if (one === undefined) return undefined;
    const next = all.find(({ at }) => at > one.at)?.at ?? lines.length;
    lines.splice(one.at, next - one.at);
    return write(file, lines, one.name);
  },
  'another type of a member': ({ file, lines, pick }) => {
    const all = [...lines.keys()].filter((at) => member.test(lines[at]));
    if (all.length < 2) return undefined;
    lines[pick(all)] = lines[pick(all)];
    return write(file, lines, '');
  },
  'as it was': ({ root, original, file }) => {
    const before = path.join(original, path.relative(root, file));
    if (before === file || !existsSync(before)) return undefined;
    cpSync(before, file);
    return 'done';
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
  'rename a file': ({ file, lines }) => {
    const to = path.join(path.dirname(file), `its${lines.length}_${path.basename(file)}`);
    renameSync(file, to);
    return `to ${path.basename(to)}`;
  },
  delete({ file }) {
    rmSync(file);
    return 'done';
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
