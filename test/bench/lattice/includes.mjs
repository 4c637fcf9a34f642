// What a C file can see: everything it includes, found by the text alone. Where the text leaves open which file is
// meant (asm/, generated paths, -I of a makefile), all that may be meant are seen: too much rather than too little.
import { posix } from 'node:path';

const directive = /^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]/gm;
/** Given to the compiler by the makefiles, for every file of the kernel. */
const always = ['include/linux/kconfig.h', 'include/linux/compiler_types.h'];
const kernelRoots = ['include', 'include/uapi'];
const userRoots = ['tools/include', 'tools/include/uapi', 'tools/lib', 'tools/perf', 'scripts'];
const userFolder = /^(?:tools|scripts|usr|Documentation)\//;
const closuresMax = 256;

export class Includes {
  #source;
  #files;
  #byName = new Map();
  #direct = new Map();
  #closures = new Map();

  /** `files`: of the whole tree, relative. */
  constructor(source, files) {
    this.#source = source;
    this.#files = new Set(files);
    for (const file of files) {
      const name = posix.basename(file);
      if (this.#byName.has(name)) this.#byName.get(name).push(file);
      else this.#byName.set(name, [file]);
    }
  }

  /** Every file that is part of the file when it is compiled, itself included. */
  of(file) {
    const known = this.#closures.get(file);
    if (known !== undefined) return known;
    const seen = new Set([file, ...(userFolder.test(file) ? [] : always)]);
    // A set is walked to its end also while it grows.
    for (const each of seen) for (const next of this.#directOf(each, file)) seen.add(next);
    if (this.#closures.size >= closuresMax) this.#closures.clear();
    this.#closures.set(file, seen);
    return seen;
  }

  /** `unit`: for whom: what `asm/` means depends on it. */
  #directOf(file, unit) {
    const names = this.#direct.get(file) ?? this.#read(file);
    return names.flatMap(({ name, quoted }) => this.#resolve(file, unit, name, quoted));
  }

  #read(file) {
    const text = this.#source.file(file)?.raw.join('\n') ?? '';
    const names = [...text.matchAll(directive)].map(([, mark, name]) => ({
      name,
      quoted: mark === '"',
    }));
    this.#direct.set(file, names);
    return names;
  }

  #resolve(file, unit, name, quoted) {
    const beside = posix.normalize(posix.join(posix.dirname(file), name));
    if (quoted && this.#files.has(beside)) return [beside];
    const roots = userFolder.test(unit) ? [...userRoots, ...kernelRoots] : kernelRoots;
    const found = roots.map((root) => `${root}/${name}`).filter((each) => this.#files.has(each));
    if (name.startsWith('asm/') || name.startsWith('asm-generic/') || name.startsWith('uapi/'))
      found.push(...this.#ofArchitectures(unit, name));
    // What a program includes of its C library is not in the tree, whatever bears that name there.
    const isForeign = !quoted && userFolder.test(unit) && !name.includes('/');
    return found.length > 0 || isForeign ? found : this.#anywhere(unit, name);
  }

  #ofArchitectures(unit, name) {
    const own = /^arch\/(\w+)\//.exec(unit)?.[1];
    const generic = `include/${name.replace(/^asm\//, 'asm-generic/')}`;
    const isMeant = (each) => {
      const arch = /^arch\/(\w+)\/include\//.exec(each)?.[1];
      if (arch === undefined || !each.endsWith(`/${name}`)) return false;
      return own === undefined || own === arch || own === 'um' || own === 'arm64';
    };
    const all = (this.#byName.get(posix.basename(name)) ?? []).filter(isMeant);
    return this.#files.has(generic) ? [...all, generic] : all;
  }

  /** A makefile may name any folder: one of the same top-level folder, else any. */
  #anywhere(unit, name) {
    const ending = `/${name.replace(/^(?:\.\.?\/)+/, '')}`;
    const all = (this.#byName.get(posix.basename(name)) ?? []).filter((each) =>
      `/${each}`.endsWith(ending),
    );
    const top = unit.slice(0, unit.indexOf('/') + 1);
    const near = all.filter((each) => each.startsWith(top));
    return near.length > 0 ? near : all;
  }
}
