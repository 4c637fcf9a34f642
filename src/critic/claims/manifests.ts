import path from 'node:path';
import { parse } from 'smol-toml';

/** What a file says of the package that a folder is. */
export interface Package {
  file: string;
  /** Empty: it has none. */
  name: string;
  version: string;
  /** Programs that it installs. */
  programs: string[];
}

type Values = Record<string, unknown>;

/** By the name of the file; each reads what its tool reads. */
const readers: Readonly<Record<string, (text: string) => Omit<Package, 'file'>>> = {
  'package.json': (text) => {
    const { name: full, version, bin } = JSON.parse(text) as Values;
    const name = textOf(full);
    const short = name.replace(/^@[^/]*\//, '');
    return { name, version: textOf(version), programs: [short, ...keysOf(bin)] };
  },
  'Cargo.toml': (text) => {
    const { package: own, bin } = parse(text) as Values;
    const { name, version } = valuesOf(own);
    const bins = Array.isArray(bin) ? bin.map((each) => textOf(valuesOf(each).name)) : [];
    return { name: textOf(name), version: textOf(version), programs: [textOf(name), ...bins] };
  },
  'pyproject.toml': (text) => {
    const { project, tool } = parse(text) as Values;
    const poetry = valuesOf(valuesOf(tool).poetry);
    const own = project === undefined ? poetry : valuesOf(project);
    const { name, version, scripts } = own;
    return {
      ...{ name: textOf(name), version: textOf(version) },
      programs: [textOf(name), ...keysOf(scripts)],
    };
  },
  'go.mod': (text) => {
    const [, module = ''] = /^module\s+"?([^\s"]+)/m.exec(text) ?? [];
    // A folder `v2` is a version of the module, and names no program.
    const name = path.posix.basename(module.replace(/\/v\d+$/, ''));
    return { name: module, version: '', programs: [name] };
  },
};

export const manifestNames: readonly string[] = Object.keys(readers);

/** Undefined: it cannot be read, or is of no package. */
export function packageIn(file: string, text: string): Package | undefined {
  try {
    const its = readers[path.posix.basename(file)]?.(text);
    if (its === undefined || its.name === '') return undefined;
    return { file, ...its, programs: its.programs.filter((each) => each !== '') };
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function valuesOf(value: unknown): Values {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function keysOf(value: unknown): string[] {
  return Object.keys(valuesOf(value));
}
