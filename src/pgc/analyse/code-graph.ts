import { BusError } from '../../errors/bus-error.js';
import { targetsOfCall, targetsOfCalls } from '../bind/call-graph.js';
import { boundSites, sitesOf, spoken } from '../bind/call-sites.js';
import { resolveSymbol } from '../bind/definitions.js';
import type { CallTargets } from '../bind/index-cache.js';
import type { CallRow, ShardIndex, SymbolRow } from '../format/shard-index.js';
import { candidateOf, isStandInOf } from '../bind/symbol-candidate.js';
import { isConstructor, withoutStandIns } from '../bind/visibility.js';
import { Edges, exactly, possibly, type Edge, type EdgeType, type Meant } from './edges.js';
import { FarTargets, type PlacedCandidate } from './far-targets.js';
import { Implementing } from './implementing.js';
import { extensionsIn, ModuleUses, type NamedUse } from './module-uses.js';
import { Nodes, type NodeKey } from './nodes.js';
import { TreeModules } from './tree-modules.js';
import { UsesByHolder } from './uses-by-holder.js';

/** Symbols that one question may be about; a path may hold more. */
export const targetsMax = 2_000;
/** Files whose variables are remembered; at the limit the memory starts anew. */
const filesRemembered = 20_000;
const typesWithMembers = new Set(['class', 'interface', 'trait']);
const functionKinds = new Set(['function', 'method']);
const structureKinds = new Set(['variable', 'constant']);
/** A variable and its lines. */
interface Structure {
  id: number;
  from: number;
  to: number;
}

/**
 * Which definition uses which, over all shards of a tree. Nodes are definitions, so two functions of one name are two
 * nodes, and each call site leads where `targetsOfCall` says, or else into another shard. Calls through a
 * pointer lead nowhere: which function it holds is known by its slot only. Nothing is built in advance.
 */
export class CodeGraph {
  readonly nodes: Nodes;
  readonly far: FarTargets;
  readonly #targets = new WeakMap<CallTargets, NodeKey[]>();
  readonly #slots = new Map<number, ReadonlyMap<NodeKey, CallRow[]>>();
  readonly #structures = new Map<string, Structure[]>();
  #modules: TreeModules | undefined;
  readonly #usesIn = new Map<number, UsesByHolder>();
  #uses: ModuleUses | undefined;
  #implementing: Implementing | undefined;

  constructor(readonly shards: readonly ShardIndex[]) {
    this.nodes = new Nodes(shards);
    this.far = new FarTargets(shards);
  }

  get modules(): TreeModules {
    return (this.#modules ??= new TreeModules(this.shards));
  }

  /**
   * The definitions that a reference names (`name`, `path#name`, `path:line`), or everything in a file; a
   * declaration where nothing defines the name. Throws NO_SUCH_SYMBOL, TOO_LARGE.
   */
  find(reference: string): NodeKey[] {
    const found = this.#inFile(reference) ?? this.#named(reference);
    if (found.length === 0) throw new BusError('NO_SUCH_SYMBOL', { symbol: reference });
    const limit = targetsMax;
    if (found.length > limit)
      throw new BusError('TOO_LARGE', {
        what: 'a set',
        bytes: found.length,
        unit: 'symbols',
        limit,
      });
    return found;
  }

  /** Whether the tree holds the thing itself, and not only a declaration of it. */
  isDefinition(node: NodeKey): boolean {
    return this.nodes.at(node).row?.declaration === false;
  }

  /** Everything that uses a node directly, each once, in the order of shards and files. */
  consumersOf(node: NodeKey): Edge[] {
    const edges = new Edges(node);
    const { shard, document, row, index } = this.nodes.at(node);
    // Who imports a file for one thing does not use the others, so what is not in a symbol ends the way.
    if (row === undefined) return [];
    const target = { ...candidateOf(index, document), shard };
    const files = new Set<string>();
    const headings = new Set<string>();
    for (const use of this.#moduleUses().extensionsOf(target)) {
      const { path } = this.nodes.index(use.shard).file(use.file);
      files.add(path);
      headings.add(`${path}:${use.line}`);
      this.#addUse(edges, 'extends', use);
    }
    for (const { shard: from, call } of this.#sitesOf(node)) {
      const { path } = this.nodes.index(from).file(call.file);
      files.add(path);
      // The head of a type mentions what it is built on.
      if (isUse(call) && call.caller < 0 && headings.has(`${path}:${call.line}`)) continue;
      const meant = this.#meantBy(from, call, node);
      edges.add(this.#userOf(from, call), typeOf(call), [path, call.line], meant);
    }
    for (const [user, place] of this.#linked().standingFor(node))
      edges.add(user, 'implements', place);
    for (const use of this.#moduleUses().importsOf(target))
      if (!files.has(this.nodes.index(use.shard).file(use.file).path))
        this.#addUse(edges, 'imports', use);
    return edges.all();
  }

  /**
   * Everything that a node calls, holds in its fields or builds on, each once, in the order of the text. A
   * function in a field whose name its shard neither defines, declares nor calls is known as a consumer only.
   */
  dependenciesOf(node: NodeKey): Edge[] {
    const edges = new Edges(node);
    const { shard, row, index, file } = this.nodes.at(node);
    if (row === undefined) return [];
    const { path } = index.file(file);
    const twins = this.nodes.symbolsOf(node);
    const calls = twins.flatMap((each) => index.callsFrom(each));
    const uses = twins.flatMap((each) => this.#usesOf(shard).of(each));
    for (const call of [...calls, ...uses.filter((use) => this.#isBound(shard, use))])
      for (const target of this.targets(shard, call))
        edges.add(target, typeOf(call), [path, call.line], this.#meantBy(shard, call, target));
    for (const slot of this.#slotsIn(shard).get(node) ?? [])
      for (const target of this.targets(shard, slot)) edges.add(target, 'slot', [path, slot.line]);
    for (const use of twins.flatMap((each) => extensionsIn(index, shard, each)))
      for (const { shard: at, id } of this.#moduleUses().namedBy(use))
        edges.add(this.nodes.of(at, id), 'extends', [path, use.line]);
    for (const [stood, place] of this.#linked().stoodFor(node))
      edges.add(stood, 'implements', place);
    return edges.all();
  }

  /** Where a call of a shard leads: definitions, or a declaration of what the tree does not define. */
  targets(shard: number, call: CallRow): NodeKey[] {
    const found = targetsOfCall(this.nodes.index(shard), call);
    let known = this.#targets.get(found);
    if (known === undefined) {
      known = this.#leadingTo(shard, call, found);
      this.#targets.set(found, known);
    }
    return known;
  }

  /** The same for all calls of one name, in their order: those of one file that must lead to the same share one list. */
  targetsOfAll(shard: number, calls: readonly CallRow[]): readonly (readonly NodeKey[])[] {
    const known = new Map<CallTargets, Map<number, readonly NodeKey[]>>();
    return targetsOfCalls(this.nodes.index(shard), calls).map((found, at) => {
      const call = calls[at];
      if (call === undefined) return [];
      // What lies in another shard is decided by the includes of the file.
      const file = found.lookups.length === 0 ? -1 : call.file;
      const ofFiles = known.get(found) ?? new Map<number, readonly NodeKey[]>();
      const nodes = ofFiles.get(file) ?? this.#leadingTo(shard, call, found);
      known.set(found, ofFiles.set(file, nodes));
      return nodes;
    });
  }

  /** Methods within the text of a type, which is changed with them. */
  membersOf(node: NodeKey): NodeKey[] {
    const { index, shard, row } = this.nodes.at(node);
    if (row === undefined || !typesWithMembers.has(row.kind)) return [];
    return index
      .symbolsOf(row.file)
      .filter((id) => {
        const { container, line_start: line } = index.symbolPlace(id);
        return container === row.name && line >= row.line_start && line <= row.line_end;
      })
      .map((id) => this.nodes.of(shard, id));
  }

  /** Where a function is put into fields of structures. */
  slotsOf(node: NodeKey): { shard: number; file: number; line: number }[] {
    return this.#sitesOf(node, true).map(({ shard, call: { file, line } }) => ({
      shard,
      file,
      line,
    }));
  }

  /** Call sites of a node's name of which nothing says where they lead: any of them may mean it. */
  undecidedSites(node: NodeKey): number {
    const { row } = this.nodes.at(node);
    if (row === undefined) return 0;
    const name = calledName(row);
    return this.shards
      .map((index, shard) =>
        index
          .callsTo(name)
          .filter((call) => index.bound?.bindingOf(call.id) !== 'outside')
          .filter((call) => this.targets(shard, call).length === 0),
      )
      .reduce((sum, calls) => sum + calls.length, 0);
  }

  #inFile(path: string): NodeKey[] | undefined {
    for (const [shard, index] of this.shards.entries()) {
      const file = index.fileAt(path);
      if (file === undefined) continue;
      const symbols = index.symbolsOf(file).filter((id) => !index.symbol(id).declaration);
      const nodes = symbols.map((id) => this.nodes.of(shard, id));
      return [...new Set([...nodes, this.nodes.ofFile(shard, file)])];
    }
    return undefined;
  }

  #named(reference: string): NodeKey[] {
    const all = this.shards.flatMap((index, shard) =>
      resolveSymbol(index, reference).map((id) => ({ ...candidateOf(index, id), shard })),
    );
    const real = withoutStandIns(all, all).filter((each) => !each.declaration);
    const containers = new Set(real.map(({ container }) => container));
    // A method of an interface is nowhere more than declared.
    const defined = [
      ...real,
      ...all.filter(
        ({ declaration, container }) =>
          declaration && container !== '' && !containers.has(container) && real.length > 0,
      ),
    ];
    const meant = defined.length > 0 ? defined : this.#declarationOf(all);
    return [...new Set(meant.map(({ shard, id }) => this.nodes.of(shard, id)))];
  }

  /** The declaration that stands for all, as calls reach it. */
  #declarationOf(all: readonly PlacedCandidate[]): PlacedCandidate[] {
    const [first] = all;
    if (first === undefined) return [];
    const declared = this.far.declared(first.symbol);
    return declared.length > 0 ? declared : [first];
  }

  #leadingTo(shard: number, call: CallRow, { inside, lookups, binding }: CallTargets): NodeKey[] {
    const near = inside.map((id) => this.nodes.of(shard, id));
    if (lookups.length === 0) return near;
    const far = lookups
      .flatMap((lookup) => this.far.of(shard, call, lookup))
      // What stands in elsewhere is no better than what stands in here.
      .filter(({ shard: at, id }) => near.length === 0 || !isStandInOf(this.nodes.index(at), id));
    const farther = far.map(({ shard: at, id }) => this.nodes.of(at, id));
    if (binding !== 'unbound') return [...near, ...farther];
    if (far.length > 0) return farther;
    if (near.length > 0) return near;
    const declared = lookups.flatMap(({ name }) => this.far.declared(name));
    return declared.map(({ shard: at, id }) => this.nodes.of(at, id));
  }

  /** Calls and slots that lead to a node; what is private is used in its own file only. */
  #sitesOf(node: NodeKey, isSlotOnly = false): { shard: number; call: CallRow }[] {
    const { shard, row } = this.nodes.at(node);
    if (row === undefined) return [];
    const isPrivate = this.nodes.isPrivate(node);
    const name = calledName(row);
    return this.shards.flatMap((index, from) => {
      const slots = isPrivate && from !== shard ? [] : index.slotsOf(row.name);
      const named = isSlotOnly ? [] : sitesOf(index, name, true);
      // A constructor is called by the name of its class, or of one that is built on that.
      const made = isSlotOnly || name === row.name ? [] : boundSites(index, row.name, true);
      return [...new Map([...named, ...made].map((call) => [call.id, call])).values(), ...slots]
        .filter((call) => {
          const isBound = this.#isBound(from, call);
          // What the binder has seen it knows better than a rule about what is private.
          const isSeen = !isPrivate || (from === shard && call.file === row.file);
          return isBound || (isSeen && !isUse(call));
        })
        .filter((call) => this.targets(from, call).includes(node))
        .map((call) => ({ shard: from, call }));
    });
  }

  #isBound(shard: number, { id }: CallRow): boolean {
    const binding = id < 0 ? undefined : this.nodes.index(shard).bound?.bindingOf(id);
    return binding !== undefined && binding !== 'unbound';
  }

  #usesOf(shard: number): UsesByHolder {
    let known = this.#usesIn.get(shard);
    if (known === undefined)
      this.#usesIn.set(shard, (known = new UsesByHolder(this.nodes.index(shard))));
    return known;
  }

  /** How surely a site means a node that it leads to. */
  #meantBy(shard: number, call: CallRow, node: NodeKey): Meant {
    const { bound } = this.nodes.index(shard);
    if (bound === undefined || !this.#isBound(shard, call))
      return this.targets(shard, call).length > 1 ? possibly : exactly;
    const binding = bound.bindingOf(call.id);
    // Of several functions any may be called; what holds them is used.
    if (binding === 'possible' && functionKinds.has(this.nodes.at(node).row?.kind ?? ''))
      return possibly;
    if (binding !== 'dispatch') return exactly;
    const { symbol, container, file_path } = this.nodes.facts(node);
    const through = bound.targetsOf(call.id).map((each) => bound.target(each));
    const isNamed = through.some(
      (each) => each.name === symbol && each.container === container && each.path === file_path,
    );
    return isNamed ? exactly : { certainty: 'dispatch', via: spoken(through[0]) };
  }

  /** The function of a call; for a slot, the structure that holds the field. */
  #userOf(shard: number, call: CallRow): NodeKey {
    if (call.caller >= 0) return this.nodes.of(shard, call.caller);
    const around =
      call.kind === 'slot'
        ? this.#structuresIn(shard, call.file).findLast(
            ({ from, to }) => from <= call.line && call.line <= to,
          )
        : undefined;
    return around === undefined
      ? this.nodes.ofFile(shard, call.file)
      : this.nodes.of(shard, around.id);
  }

  /** Functions in fields, by what holds the field; the index knows them by the name of the function. */
  #slotsIn(shard: number): ReadonlyMap<NodeKey, CallRow[]> {
    const known = this.#slots.get(shard);
    if (known !== undefined) return known;
    const index = this.nodes.index(shard);
    const byUser = new Map<NodeKey, CallRow[]>();
    for (const name of calledNames(index)) {
      for (const slot of index.slotsOf(name)) {
        const user = this.#userOf(shard, slot);
        const others = byUser.get(user);
        if (others === undefined) byUser.set(user, [slot]);
        else others.push(slot);
      }
    }
    for (const slots of byUser.values()) slots.sort((one, other) => one.line - other.line);
    this.#slots.set(shard, byUser);
    return byUser;
  }

  /** Variables of a file, in order of the text. */
  #structuresIn(shard: number, file: number): Structure[] {
    const key = `${shard} ${file}`;
    let known = this.#structures.get(key);
    if (known === undefined) {
      const index = this.nodes.index(shard);
      known = index
        .symbolsOf(file)
        .map((id) => ({ id, row: index.symbol(id) }))
        .filter(({ row }) => structureKinds.has(row.kind))
        .map(({ id, row }) => ({ id, from: row.line_start, to: row.line_end }));
      if (this.#structures.size >= filesRemembered) this.#structures.clear();
      this.#structures.set(key, known);
    }
    return known;
  }

  #addUse(edges: Edges, type: EdgeType, { shard, file, symbol, line }: NamedUse): void {
    const user = symbol >= 0 ? this.nodes.of(shard, symbol) : this.nodes.ofFile(shard, file);
    edges.add(user, type, [this.nodes.index(shard).file(file).path, line]);
  }

  #linked(): Implementing {
    return (this.#implementing ??= new Implementing(this.nodes, this.far));
  }

  #moduleUses(): ModuleUses {
    return (this.#uses ??= new ModuleUses(this.shards, this.far, this.modules));
  }
}

/** What is called is either a symbol of the shard or unresolved in it. */
export function calledNames(index: ShardIndex): Set<string> {
  const names = new Set(index.symbolNames());
  for (const { name } of index.unresolved()) names.add(name);
  return names;
}

function typeOf({ kind }: CallRow): EdgeType {
  if (kind === 'slot' || kind === 'value' || kind === 'type') return kind;
  return kind === 'construct' ? 'constructs' : 'calls';
}

function isUse({ kind }: CallRow): boolean {
  return kind === 'value' || kind === 'type';
}

function calledName({ name, container }: SymbolRow): string {
  return isConstructor(name) && container !== '' ? container : name;
}
