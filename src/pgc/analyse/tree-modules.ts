import { filesByModule, importsInto } from '../bind/index-cache.js';
import { forwardOf } from '../bind/scope.js';
import type { ShardIndex } from '../format/shard-index.js';

/** Re-exports that are followed. */
const forwardsMax = 4;
/** Modules searched for one name, because barrels may re-export each other. */
const modulesMax = 256;

/** A name, and the modules that may hold it. */
export interface NameInModules {
  name: string;
  modules: readonly string[];
}

/** A file of a language with modules. */
interface Holder {
  module: string;
  index: ShardIndex;
  file: number;
}

/** Which files of a tree the modules are that its files import. */
export class TreeModules {
  /** By the last part of their names. */
  readonly #byTail = new Map<string, Holder[]>();

  constructor(shards: readonly ShardIndex[]) {
    for (const index of shards) {
      for (const [module, file] of filesByModule(index)) {
        const tail = tailOf(module);
        const known = this.#byTail.get(tail);
        if (known === undefined) this.#byTail.set(tail, [{ module, index, file }]);
        else known.push({ module, index, file });
      }
    }
  }

  /** Paths of the files that are one of the modules. */
  filesOf(modules: readonly string[]): string[] {
    return modules
      .flatMap((module) => this.#holders(module))
      .map(({ index, file }) => index.file(file).path);
  }

  /** The name as it is, then what the modules that pass it on make of it, nearest first. */
  *throughForwards(wanted: NameInModules): Generator<NameInModules> {
    yield wanted;
    const searched = new Set<string>();
    let level = [wanted];
    for (let depth = 0; depth < forwardsMax && level.length > 0; depth += 1) {
      level = level.flatMap((each) => this.#forwards(each, searched));
      yield* level;
    }
  }

  #forwards({ name, modules }: NameInModules, searched: Set<string>): NameInModules[] {
    const anew = modules.filter((module) => {
      const key = `${module}\0${name}`;
      if (searched.has(key) || searched.size >= modulesMax) return false;
      searched.add(key);
      return true;
    });
    return anew
      .flatMap((module) => this.#holders(module))
      .flatMap(({ index, file }) => {
        const forward = forwardOf(importsInto(index, file), name);
        if (forward === undefined || forward.modules.length === 0) return [];
        const { original } = forward;
        return [{ name: original === 'default' ? name : original, modules: forward.modules }];
      });
  }

  /** One that begins with two stars is any that ends so. */
  #holders(module: string): Holder[] {
    const sameTail = this.#byTail.get(tailOf(module)) ?? [];
    return module.startsWith('**/')
      ? sameTail.filter((each) => `/${each.module}`.endsWith(module.slice(2)))
      : sameTail.filter((each) => each.module === module);
  }
}

function tailOf(module: string): string {
  return module.slice(module.lastIndexOf('/') + 1);
}
