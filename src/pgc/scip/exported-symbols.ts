import { isCode } from '../format/facts.js';
import type { BoundTarget } from '../format/bound-calls.js';
import type { CallRow, ShardIndex, SymbolPlace } from '../format/shard-index.js';
import { nameText } from './symbol-text.js';

/** As `scip.proto` numbers them; others are not said. */
const kinds: Readonly<Record<string, number>> = {
  ...{ class: 7, constant: 8, constructor: 9, enum: 11, field: 15, function: 17, interface: 21 },
  ...{
    macro: 25,
    method: 26,
    module: 29,
    namespace: 30,
    struct: 49,
    trait: 53,
    type: 54,
    union: 59,
  },
  variable: 61,
};
const methods: readonly string[] = ['function', 'method', 'constructor'];
const types: readonly string[] = ['class', 'interface', 'struct', 'enum', 'trait', 'type', 'union'];

export function kindOf(kind: string): number {
  return kinds[kind] ?? 0;
}

/** What the definitions of all shards are called in a SCIP index. */
export class ExportedSymbols {
  readonly #package: string;
  /** By path, container, name and kind. */
  readonly #texts = new Map<string, string>();
  /** By text: what it stands for. */
  readonly #implemented = new Map<string, Set<string>>();

  #sites: ReadonlyMap<number, ReadonlyMap<string, readonly CallRow[]>> = new Map();
  #sitesShard = -1;

  constructor(
    project: string,
    readonly shards: readonly ShardIndex[],
  ) {
    this.#package = `sigma . ${blanks(project)} . `;
    for (const { bound } of shards) {
      if (bound === undefined) continue;
      for (const [what, by] of bound.implementations()) {
        const text = this.ofTarget(bound.target(by));
        const known = this.#implemented.get(text) ?? new Set<string>();
        this.#implemented.set(text, known);
        known.add(this.ofTarget(bound.target(what)));
      }
    }
  }

  /** Empty: files of this kind have no symbols to refer to. */
  ofSymbol(shard: number, symbol: number): string {
    const index = this.shards[shard];
    if (index === undefined) return '';
    const place = index.symbolPlace(symbol);
    const { path, language } = index.file(place.file);
    return isCode(language) ? this.ofTarget({ ...place, path }) : '';
  }

  ofTarget({ path, container, name, kind }: Pick<BoundTarget, 'path'> & Named): string {
    const key = `${path}\0${container}\0${name}\0${kind}`;
    let text = this.#texts.get(key);
    if (text === undefined) {
      const folders = path.split('/').map((each) => `${nameText(each)}/`);
      const around = container.split('.').map((each) => (each === '' ? '' : `${nameText(each)}#`));
      text = this.#package + folders.join('') + around.join('') + nameText(name) + suffixOf(kind);
      this.#texts.set(key, text);
    }
    return text;
  }

  /** Calls and uses of a file by `line name`. One shard after the other: those of the last one are kept. */
  sitesOf(shard: number, file: number): ReadonlyMap<string, readonly CallRow[]> {
    if (this.#sitesShard !== shard) this.#sites = bySite(this.shards[shard]);
    this.#sitesShard = shard;
    return this.#sites.get(file) ?? noSites;
  }

  implementedBy(text: string): string[] {
    return [...(this.#implemented.get(text) ?? [])];
  }
}

const noSites: ReadonlyMap<string, readonly CallRow[]> = new Map();

function bySite(index: ShardIndex | undefined): Map<number, Map<string, CallRow[]>> {
  const found = new Map<number, Map<string, CallRow[]>>();
  for (const sites of index === undefined ? [] : [index.calls(), index.uses()])
    for (const each of sites) {
      const ofFile = found.get(each.file) ?? new Map<string, CallRow[]>();
      found.set(each.file, ofFile);
      const key = `${each.line} ${each.callee}`;
      const known = ofFile.get(key);
      if (known === undefined) ofFile.set(key, [each]);
      else known.push(each);
    }
  return found;
}

type Named = Pick<SymbolPlace, 'container' | 'name' | 'kind'>;

function suffixOf(kind: string): string {
  if (methods.includes(kind)) return '().';
  if (types.includes(kind)) return '#';
  if (kind === 'macro') return '!';
  return kind === 'module' || kind === 'namespace' ? '/' : '.';
}

/** A blank within a part of a symbol is two. */
function blanks(text: string): string {
  return text === '' ? '.' : text.replaceAll(' ', '  ');
}
