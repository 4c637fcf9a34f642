import type { OpenedTree } from '../search/open-index.js';
import type { OverlayItems, OverlayItem } from '../overlay/overlay-file.js';
import type { CodeGraph } from './code-graph.js';
import type { NodeFacts, NodeKey } from './nodes.js';

/** Files whose items are remembered; at the limit the memory starts anew. */
const filesRemembered = 20_000;
/** Surfaces whose subject is a function that a field of a structure holds: it is open, not the structure. */
const heldInSlots = new Set([
  'surface-ioctl',
  'surface-netlink',
  'surface-file-write',
  'surface-sockopt',
]);
/** Files of tests, by their name. */
export const testPath =
  /(?:^|\/)(?:tests?|testing|selftests|kunit|__tests__|spec)\/|(?:^|\/)test_[^/]+$|[._-](?:test|spec|kunit)\.\w+$/;

/** What a node is to others, by the first rule that fits; see `roleOf`. */
export type Role = 'test' | 'entry' | 'handler' | 'api' | 'internal';

/** O2 by nodes: what is dangerous there, and where foreign data comes in. */
export class Surfaces {
  readonly #files = new Map<string, ReadonlyMap<NodeKey, OverlayItem[]>>();

  private constructor(
    readonly graph: CodeGraph,
    /** By alias. */
    readonly overlays: ReadonlyMap<string, OverlayItems>,
    /** Aliases of shards without O2. */
    readonly missing: readonly string[],
  ) {}

  /** Throws INDEX_CORRUPT. */
  static async open(tree: OpenedTree, graph: CodeGraph): Promise<Surfaces> {
    const files = await tree.overlay('O2');
    const overlays = new Map(files.map((each) => [each.info.alias, each]));
    const missing = tree.shards
      .map(({ info }) => info.alias)
      .filter((alias) => !overlays.has(alias));
    return new Surfaces(graph, overlays, missing);
  }

  /** Weaknesses in a node: everything of O2 that is more than information. */
  threatsOf(node: NodeKey): OverlayItem[] {
    return this.#itemsOf(node).filter(
      ({ rule, severity }) => severity !== 'info' && !rule.startsWith('surface-'),
    );
  }

  /** Where a node is open to others: surfaces in it, and those that its slots make of it. */
  surfacesOf(node: NodeKey): OverlayItem[] {
    const inside = this.#itemsOf(node).filter(
      ({ rule }) => rule.startsWith('surface-') && !heldInSlots.has(rule),
    );
    const { symbol } = this.graph.nodes.facts(node);
    const held = this.graph
      .slotsOf(node)
      .flatMap(({ shard, file, line }) =>
        [...this.#file(shard, file).values()]
          .flat()
          .filter(
            (item) =>
              heldInSlots.has(item.rule) &&
              item.subject === symbol &&
              item.line_start <= line &&
              line <= item.line_end,
          ),
      );
    return [...inside, ...held];
  }

  /**
   * `test`: its path says so, or its text. `entry`: a program begins there. `handler`: it is put into a structure of
   * operations, or others' data comes in there. `api`: others may use it. `internal`: the rest.
   */
  roleOf(node: NodeKey): Role {
    const facts = this.graph.nodes.facts(node);
    if (this.#isTest(node, facts)) return 'test';
    const surfaces = this.surfacesOf(node);
    if (isProgram(facts) || surfaces.some(({ rule }) => rule === 'surface-entry')) return 'entry';
    if (surfaces.length > 0 || this.graph.slotsOf(node).length > 0) return 'handler';
    return facts.exported ? 'api' : 'internal';
  }

  /** Why a node can be reached from outside; undefined when it cannot. Tests cannot. */
  opening(node: NodeKey): { rule: string; reason: string; place: string } | undefined {
    const facts = this.graph.nodes.facts(node);
    if (this.#isTest(node, facts)) return undefined;
    const [item] = this.surfacesOf(node);
    if (item !== undefined) {
      const { rule, text, file_path, line_start } = item;
      return { rule, reason: text, place: `${file_path}:${line_start}` };
    }
    if (!isProgram(facts)) return undefined;
    const place = `${facts.file_path}:${facts.line}`;
    return { rule: 'surface-entry', reason: 'entry point of a program', place };
  }

  #isTest(node: NodeKey, { file_path }: NodeFacts): boolean {
    return testPath.test(file_path) || this.graph.nodes.saidRole(node) === 'test';
  }

  #itemsOf(node: NodeKey): readonly OverlayItem[] {
    const { shard, file } = this.graph.nodes.at(node);
    return this.#file(shard, file).get(node) ?? [];
  }

  #file(shard: number, file: number): ReadonlyMap<NodeKey, OverlayItem[]> {
    const key = `${shard} ${file}`;
    let known = this.#files.get(key);
    if (known === undefined) {
      known = this.#read(shard, file);
      if (this.#files.size >= filesRemembered) this.#files.clear();
      this.#files.set(key, known);
    }
    return known;
  }

  #read(shard: number, file: number): ReadonlyMap<NodeKey, OverlayItem[]> {
    const { nodes } = this.graph;
    const { info } = nodes.index(shard);
    const { path } = nodes.index(shard).file(file);
    const byNode = new Map<NodeKey, OverlayItem[]>();
    for (const item of this.overlays.get(info.alias)?.itemsAt(path) ?? []) {
      const node = nodes.around(shard, file, item.line_start, item.symbol);
      const known = byNode.get(node);
      if (known === undefined) byNode.set(node, [item]);
      else known.push(item);
    }
    return byNode;
  }
}

function isProgram({ symbol, kind, container }: NodeFacts): boolean {
  return symbol === 'main' && kind === 'function' && container === '';
}
