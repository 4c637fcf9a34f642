import type { CallSite, CodedError, Definition, Lookup, ShardPort } from '../../pgc/shapes.js';
import { isConstructor, visibleDefinitions, type Use } from '../../pgc/bind/visibility.js';
import { fanOut } from '../fan-out.js';
import type { Directory } from './directory.js';

/** Names in one request to a shard. */
const batchMax = 2_000;

/** A call that leaves the shard of an agent. */
export interface FarUse extends Use {
  agent: string;
}

/** The lookup of a call site whose target is not in its shard; undefined: the target is known or cannot be found. */
export function farUseOf(site: CallSite, includes: readonly string[]): FarUse | undefined {
  const { lookup, file_path, agent } = site;
  if (lookup === null || site.definition !== '') return undefined;
  return { agent, path: file_path, includes, lookup };
}

/** Definitions in other shards than the calling one; each name is requested once. */
export class FarDefinitions {
  readonly errors: CodedError[] = [];
  readonly #known = new Map<string, Definition[]>();

  constructor(
    readonly ports: ReadonlyMap<string, ShardPort>,
    readonly directory: Directory,
    readonly signal?: AbortSignal,
    /** Agents that got a request. */
    readonly asked = new Set<string>(),
  ) {}

  /** Requests the definitions for these uses. A name without an owner lies outside the lattice. */
  async learn(uses: readonly FarUse[]): Promise<void> {
    const wanted = new Map<string, Set<string>>();
    for (const { agent, lookup } of uses) {
      const name = keyOf(lookup);
      for (const owner of this.directory.find(lookup, agent)) {
        const key = `${owner} ${name}`;
        if (this.#known.has(key)) continue;
        const known = this.directory.definitions.get(key);
        this.#known.set(key, known === undefined ? [] : [...known]);
        if (known !== undefined) continue;
        wanted.set(owner, (wanted.get(owner) ?? new Set()).add(name));
      }
    }
    const ports = [...wanted.keys()].flatMap((agent) => this.ports.get(agent) ?? []);
    for (const port of ports) this.asked.add(port.agent);
    const { answers, errors } = await fanOut(ports, this.signal, async (port) => {
      const names = [...(wanted.get(port.agent) ?? [])];
      const found: Definition[] = [];
      for (let at = 0; at < names.length; at += batchMax)
        found.push(...(await port.definitions(names.slice(at, at + batchMax), this.signal)));
      return { owner: port.agent, names, found };
    });
    this.errors.push(...errors);
    for (const { owner, names, found } of answers) {
      for (const each of found) this.#add(owner, each);
      for (const name of names) {
        const key = `${owner} ${name}`;
        this.directory.definitions.set(key, [...(this.#known.get(key) ?? [])]);
      }
    }
  }

  #add(owner: string, definition: Definition): void {
    const { symbol, container } = definition;
    const name = isConstructor(symbol) && container !== '' ? `${container}.${symbol}` : symbol;
    const key = `${owner} ${name}`;
    const known = this.#known.get(key);
    if (known === undefined) this.#known.set(key, [definition]);
    else if (!known.some((other) => isSamePlace(definition, other))) known.push(definition);
  }

  /** What a use means among what was learned, best first. */
  of(use: FarUse): Definition[] {
    const name = keyOf(use.lookup);
    const agents = this.directory.find(use.lookup, use.agent);
    const candidates = agents.flatMap((agent) => this.#known.get(`${agent} ${name}`) ?? []);
    return visibleDefinitions(use, candidates);
  }
}

/** Every class has constructors of the same name. */
function keyOf({ name, container }: Lookup): string {
  return isConstructor(name) && container !== '' ? `${container}.${name}` : name;
}

function isSamePlace(one: Definition, other: Definition): boolean {
  return one.file_path === other.file_path && one.line === other.line;
}
