// What is true of calls in a tree of C, said by cscope, universal-ctags and the text; the product has no part in it.
import { execFile } from 'node:child_process';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CSource, wordPattern } from '../kernel/c-source.mjs';
import { useOf } from '../lookup/call-text.mjs';
import { CscopeLines } from '../lookup/cscope-lines.mjs';
import { Sample } from '../lookup/random.mjs';
import { tagsOf } from '../lookup/tags.mjs';
import { Includes } from './includes.mjs';

/** Files of text kept in memory. */
const filesMax = 800;
/** In place of ctags' `f`. */
const onceTag = 'once';
const greppedBytesMax = 64 * 1024 * 1024;
/** Between `static` and the name that it belongs to. */
const headLinesMax = 6;
const userFolder = /^(?:tools|scripts|usr|Documentation)\//;
const bootFolder =
  /^arch\/(\w+)\/(?:boot|purgatory|realmode|tools|vdso|kernel\/vdso\w*|entry\/vdso)\//;
const hostedInclude = /^\s*#\s*include\s*<(?:stdio|stdlib|unistd)\.h>/;
const kernelInclude = /^\s*#\s*include\s*<linux\/(?:module|kernel|init|export|slab)\.h>/;
const moduleInclude = /^\s*#\s*include\s*<linux\/module\.h>/;
/** Architectures that are compiled together. */
const together = new Set(['arm arm64', 'um x86', 'x86 um', 'arm64 arm']);

export class Oracle {
  /** Names that ctags has once, as a function: `{ file, line }`. */
  once = new Map();

  static async open(peers, root) {
    const oracle = new Oracle(peers, root);
    await oracle.#readFunctions();
    oracle.#includedSources = await sourcesIncluded(peers);
    return oracle;
  }

  #peers;
  #includedSources;
  #programs = new Map();

  constructor(peers, root) {
    this.#peers = peers;
    this.root = root;
    this.source = new CSource(root, filesMax);
    const files = peers.files().map((file) => file.slice(root.length + 1));
    this.includes = new Includes(this.source, files);
    this.files = files;
  }

  async cscope() {
    return (this.lines ??= new CscopeLines(await this.#peers.cscope(), this.root));
  }

  close() {
    this.lines?.close();
  }

  async #readFunctions() {
    for await (const { name, tag, file, line } of tagsOf(await this.#functions(), this.root))
      if (tag === onceTag) this.once.set(name, { file, line });
  }

  /** Rows as of ctags, of functions only, with a letter of their own for those whose name nothing else has. */
  async #functions() {
    const kept = path.join(this.#peers.folder, 'functions');
    if (existsSync(kept)) return kept;
    const tags = await this.#peers.tags();
    const counts = new Map();
    for await (const { name, tag } of tagsOf(tags, this.root))
      if (tag === 'f') counts.set(name, (counts.get(name) ?? 0) + 1);
    for await (const { name, tag } of tagsOf(tags, this.root))
      if (tag !== 'f' && counts.has(name)) counts.set(name, 2);
    const rows = [];
    for await (const { name, tag, file, line } of tagsOf(tags, this.root)) {
      if (tag !== 'f') continue;
      const letter = counts.get(name) === 1 ? onceTag : tag;
      rows.push(`${name}\t${letter}\t${line}\t${this.root}/${file}\n`);
    }
    writeFileSync(`${kept}.new`, rows.join(''));
    renameSync(`${kept}.new`, kept);
    return kept;
  }

  /** `count` functions with a body in .c files, uniformly drawn: `{ name, file, line }`. */
  async functions(seed, count) {
    const sample = new Sample(seed, count);
    for await (const { name, file, line } of tagsOf(await this.#functions(), this.root))
      if (file.endsWith('.c')) sample.add(`${file}#${name}:${line}`, { name, file, line });
    return sample.values();
  }

  /** Every definition of these names that ctags has, as function or macro. */
  async definitions(names) {
    const wanted = new Map(names.map((name) => [name, []]));
    for await (const { name, tag, file, line } of tagsOf(await this.#peers.tags(), this.root))
      if (tag === 'f' || tag === 'd') wanted.get(name)?.push({ tag, file, line });
    return wanted;
  }

  /** Calls inside one function, of names that are one function in the tree: `{ file, line, name, to }`. */
  async callsOf(caller) {
    const end = this.source.endOf(caller.file, caller.line);
    const rows = (await (await this.cscope()).callees(caller.name)).filter(
      ({ file, line }) => file === caller.file && line >= caller.line && line <= end,
    );
    return rows.flatMap((row) => {
      const to = this.once.get(row.name);
      return to === undefined || row.name === caller.name ? [] : [{ ...row, to }];
    });
  }

  /** Whether cscope's own question for global definitions has this place and no other. */
  async isOnce(name, { file, line }) {
    const rows = await (await this.cscope()).definitions(name);
    return rows.length === 1 && rows[0].file === file && rows[0].line === line;
  }

  /**
   * Why the line is not surely a call of that function; undefined when it is. Rules of what the text says, in this
   * order; none looks at the product.
   */
  doubt(caller, { file, line, name, to }) {
    const use = useOf(this.source, file, line, name);
    if (use !== 'call') return `the text shows a ${use}`;
    if (this.#isLeftOut(file, line)) return 'inside #if 0';
    if (this.#isVariable(caller, name)) return 'a variable of that name in the caller';
    return this.hidden(file, to, name);
  }

  /** Why a definition cannot be meant from a file; undefined when it can. */
  hidden(from, to, name) {
    if (from === to.file || this.includes.of(from).has(to.file)) return undefined;
    // What includes it brings headers of its own: nothing can be said of these.
    const isPart = from.endsWith('.h') || this.#includedSources.has(baseOf(from));
    if (to.file.endsWith('.h')) return isPart ? undefined : 'the header is not included';
    if (isPart) return undefined;
    if (this.source.definesAt(to.file, to.line, name) === 'macro') return 'a macro of another file';
    if (this.isStatic(to, name)) return 'static in another file';
    return this.#unlinked(from, to.file);
  }

  isStatic({ file, line }, name) {
    const code = this.source.file(file)?.code ?? [];
    const first = Math.max(0, line - 1 - headLinesMax);
    const text = code.slice(first, line + headLinesMax).join('\n');
    const before = code.slice(first, line - 1).join('\n').length;
    const at = wordPattern(name).exec(text.slice(Math.max(0, before)))?.index ?? 0;
    const head = text.slice(0, Math.max(0, before) + at);
    return /\bstatic\b/.test(/[^;{}]*$/.exec(head.replace(/^\s*#.*$/gm, ';'))[0]);
  }

  /** Two files that are never parts of one program. */
  #unlinked(from, to) {
    const [one, other] = [this.#programOf(from), this.#programOf(to)];
    if (one !== other) return `another program (${one}, ${other})`;
    const [here, there] = [from, to].map((file) => /^arch\/(\w+)\//.exec(file)?.[1]);
    const apart = here !== undefined && there !== undefined && here !== there;
    return apart && !together.has(`${here} ${there}`) ? 'another architecture' : undefined;
  }

  #programOf(file) {
    const known = this.#programs.get(file);
    if (known !== undefined) return known;
    const raw = this.source.file(file)?.raw ?? [];
    const has = (pattern) => raw.some((line) => pattern.test(line));
    // A few files are compiled for both.
    const isHosted = has(hostedInclude) && !has(kernelInclude);
    const boot = bootFolder.exec(file)?.[0];
    // Modules that test a driver are kept with the tools.
    const isUser = userFolder.test(file) && !(has(moduleInclude) && !has(hostedInclude));
    const program = isHosted || isUser ? 'user space' : (boot ?? 'kernel');
    this.#programs.set(file, program);
    return program;
  }

  #isVariable({ file, line, name: caller }, name) {
    const body = this.source
      .file(file)
      .code.slice(line - 1, this.source.endOf(file, line))
      .join('\n');
    return (
      caller !== name && new RegExp(`\\(\\s*\\*\\s*${name}\\s*(?:\\[[^\\]]*\\]\\s*)?\\)`).test(body)
    );
  }

  #isLeftOut(file, line) {
    const open = [];
    for (const each of this.source.file(file).raw.slice(0, line)) {
      const [, word, rest] = /^\s*#\s*(if|ifdef|ifndef|else|elif|endif)\b(.*)/.exec(each) ?? [];
      if (word === undefined) continue;
      if (word === 'endif') open.pop();
      else if (word === 'else' || word === 'elif') open[open.length - 1] = false;
      else open.push(word === 'if' && /^\s*\(?\s*0\s*\)?\s*(?:\/\*.*)?$/.test(rest));
    }
    return open.some(Boolean);
  }
}

const baseOf = (file) => file.slice(file.lastIndexOf('/') + 1);

/** Base names of .c files that another file includes. */
async function sourcesIncluded({ list }) {
  const script =
    'tr "\\n" "\\0" < "$1" | xargs -0 grep -aohE \'^[[:space:]]*#[[:space:]]*include[[:space:]]*"[^"]*[.]c"\' --';
  const text = await new Promise((resolve, reject) => {
    const options = { maxBuffer: greppedBytesMax, env: { ...process.env, LC_ALL: 'C' } };
    // grep ends with 1, hence xargs with 123, where a batch has no line.
    execFile('sh', ['-c', script, 'sh', list], options, (error, stdout) =>
      error !== null && error.code !== 123 ? reject(error) : resolve(stdout),
    );
  });
  return new Set(text.split('\n').flatMap((row) => baseOf(/"([^"]+)"/.exec(row)?.[1] ?? '') || []));
}
