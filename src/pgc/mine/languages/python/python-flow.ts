import { unknown } from '../../../format/expression.js';
import { joined, ofClass } from './python-expressions.js';

/** What names, and paths such as `self.x`, stand for at one point of the text: one expression for each way that leads there. */
export type Flow = Map<string, readonly string[]>;

/** More ways are not worth their effort. */
const waysMax = 6;
/** A path is known only where it was set on every way. */
const isPath = (name: string): boolean => name.includes('.');

/** A function, a class or an import in a function. */
const isLocalDefinition = /^\w+#\d+$/;

/** A module, a class, a function, or an expression with variables of its own. */
interface Frame {
  kind: 'module' | 'class' | 'function' | 'inner';
  /** All that is bound in it, anywhere. */
  names: Set<string>;
  /** Names that belong to the module. */
  globals: ReadonlySet<string>;
  /** What its functions and classes are called, for those who use them above. */
  definitions: ReadonlyMap<string, string>;
  flow: Flow;
  /** Nothing comes behind a `return`. */
  isDead: boolean;
  /** The class whose method a function is, by the name by which it is meant. */
  own: string;
  /** Of a class: the name by which it is meant. */
  key: string;
}

/** The variables of one text of Python while its statements come in order. */
export class PythonFlow {
  readonly #frames: Frame[] = [];

  enter(frame: Partial<Frame> & Pick<Frame, 'kind'>): void {
    const empty = {
      ...{ names: new Set<string>(), globals: new Set<string>(), own: this.own, key: '' },
      definitions: new Map<string, string>(),
    };
    this.#frames.push({ ...empty, flow: new Map(), isDead: false, ...frame });
  }

  leave(): void {
    this.#frames.pop();
  }

  /** Inside a function: what is defined there is visible nowhere else. */
  get isLocal(): boolean {
    return this.#frames.some(({ kind }) => kind === 'function');
  }

  get isModule(): boolean {
    return this.#top.kind === 'module';
  }

  get isClass(): boolean {
    return this.#top.kind === 'class';
  }

  /** The class whose method is around. */
  get own(): string {
    return this.#frames.at(-1)?.own ?? '';
  }

  get #top(): Frame {
    const top = this.#frames.findLast(({ kind }) => kind !== 'inner');
    if (top === undefined) throw new Error('no frame');
    return top;
  }

  set(name: string, expression: string): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined) return;
    this.#forgetBelow(frame.flow, name);
    frame.flow.set(name, [expression]);
    if (frame.kind === 'inner') frame.names.add(name);
  }

  /** Says more of what a name or a path stands for, inside an expression. */
  assume(path: string, expression: string): void {
    this.#frames.at(-1)?.flow.set(path, [expression]);
  }

  /** Of a variable that is set inside an expression. */
  setOutside(name: string, expression: string): void {
    this.#forgetBelow(this.#top.flow, name);
    this.#top.flow.set(name, [expression]);
  }

  /** Says more of what a name or a path stands for here. */
  narrow(path: string, expression: string): void {
    this.#top.flow.set(path, [expression]);
  }

  /** What was known of `x.y` says nothing of another `x`. */
  #forgetBelow(flow: Flow, name: string): void {
    for (const path of flow.keys()) if (path.startsWith(`${name}.`)) flow.delete(path);
  }

  isGlobal(name: string): boolean {
    return this.#top.globals.has(name) || this.isModule;
  }

  /** What a name stands for; undefined when it is that of the module. */
  find(name: string): string | undefined {
    let isOuter = false;
    for (const frame of this.#frames.toReversed()) {
      if (isOuter && (frame.kind === 'class' || frame.kind === 'module')) continue;
      const known = frame.flow.get(name);
      if (known !== undefined) return isOuter ? ofClass(joined(known), frame.own) : joined(known);
      if (frame.globals.has(name)) return undefined;
      if (frame.names.has(name) && frame.kind !== 'module')
        return frame.definitions.get(name) ?? unknown;
      if (frame.kind !== 'inner') isOuter = true;
    }
    return undefined;
  }

  /** What a name is called outside of functions; undefined: it is a variable of one. */
  nameOutside(name: string): string | undefined {
    let isOuter = false;
    for (const frame of this.#frames.toReversed()) {
      if (frame.kind === 'module' || frame.globals.has(name)) return name;
      if (frame.kind === 'class') {
        if (!isOuter && frame.flow.has(name)) return `${frame.key}.${name}`;
      } else if (frame.names.has(name)) {
        const [known = frame.definitions.get(name) ?? ''] = frame.flow.get(name) ?? [];
        return isLocalDefinition.test(known) ? known : undefined;
      }
      if (frame.kind !== 'inner') isOuter = true;
    }
    return undefined;
  }

  /** What was last assigned to a path such as `self.x`, in the same function. */
  findPath(path: string): string | undefined {
    for (const frame of this.#frames.toReversed()) {
      const known = frame.flow.get(path);
      if (known !== undefined) return joined(known);
      if (frame.kind !== 'inner') return undefined;
    }
    return undefined;
  }

  /** Nothing behind this place is reached in the block around it. */
  die(): void {
    this.#top.isDead = true;
  }

  /** Where the next way begins. */
  fork(): Flow {
    return new Map(this.#top.flow);
  }

  /** Goes on from there; gives where the way that ends here came to, undefined if it does not come on. */
  turn(to: Flow): Flow | undefined {
    const top = this.#top;
    const end = top.isDead ? undefined : top.flow;
    top.flow = new Map(to);
    top.isDead = false;
    return end;
  }

  /** Goes on from where several ways meet. */
  meet(ways: readonly (Flow | undefined)[]): void {
    const top = this.#top;
    const [first, ...others] = ways.filter((each) => each !== undefined);
    if (first === undefined) top.isDead = true;
    else top.flow = others.reduce(both, first);
  }
}

function both(one: Flow, other: Flow): Flow {
  const flow: Flow = new Map();
  for (const [name, ways] of one) {
    const others = other.get(name);
    if (others === undefined && isPath(name)) continue;
    flow.set(
      name,
      others === undefined ? ways : [...new Set([...ways, ...others])].slice(0, waysMax),
    );
  }
  for (const [name, ways] of other) if (!one.has(name) && !isPath(name)) flow.set(name, ways);
  return flow;
}
