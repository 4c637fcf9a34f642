import { NumberColumn } from '../../format/bytes.js';
import { nameHash } from '../../format/name-hash.js';
import type { CProgram } from './c-program.js';
import { nameKinds } from './name-table.js';

/** `source` is put into `target`. */
export interface Flow {
  path: string;
  source: string;
  target: string;
}

/** What decides whether a flow is followed: bits. */
const traits = { always: 1, member: 2, local: 4, through: 8, macro: 16 } as const;
const callable = nameKinds.function | nameKinds.macro;
const parameterRoot = /^(\w+)@\.(\d+)(.?)/;

/**
 * What is put where, in all texts. Most of it is data: a flow is followed where its source may hold a function, which its last name
 * tells without a look at types.
 */
export class Flows {
  /** By flow, in order of the files. */
  readonly #sources = new NumberColumn();
  readonly #targets = new NumberColumn();
  readonly #roots = new NumberColumn();
  readonly #traits = new NumberColumn();
  /** First flow of each file, and the end. */
  readonly #starts = new NumberColumn();
  readonly #files: { shard: number; file: number; path: string }[] = [];
  readonly #otherNames = new Map<string, boolean>();
  #isFollowed = new Uint8Array(0);

  /** Last names of parameters, and local variables, through which calls go; closed over what they are given. */
  readonly called = new Set<number>();
  /** Parameters of macros whose type matters: what follows them is a member. */
  readonly #typed = new Set<number>();

  constructor(readonly program: CProgram) {
    for (const [shard, index] of program.shards.entries()) {
      for (let file = 0; file < index.fileCount; file += 1) {
        const path = program.pathOf(shard, file);
        if (path !== '') this.#read({ shard, file, path });
      }
      this.#readSites(shard);
    }
    this.#starts.push(this.#sources.length);
    this.#isFollowed = new Uint8Array(this.#sources.length);
    this.#closeCalled();
    this.#closeTyped();
  }

  #read(its: { shard: number; file: number; path: string }): void {
    this.#files.push(its);
    this.#starts.push(this.#sources.length);
    for (const { source, target } of this.flowsOf(its)) {
      this.#typed.add(typedRoot(source)).add(typedRoot(target));
      const from = tailOf(source);
      const to = tailOf(target);
      this.#sources.push(from ?? 0);
      this.#targets.push(to ?? 0);
      this.#roots.push(rootOf(source));
      this.#traits.push(this.#traitsOf(source, from) | this.#targetTraits(target));
    }
  }

  #traitsOf(source: string, tail: number | undefined): number {
    if (tail === undefined) return 0;
    if (/^\w+$/.test(source))
      return (this.program.names.kindsOf(tail) & callable) === 0 ? 0 : traits.always;
    if (/(?<!@)\.\d+$/.test(source)) return traits.always;
    const [whole, name = ''] = parameterRoot.exec(source) ?? [];
    if (whole === source && this.#isOtherName(name)) return traits.always;
    return /\.[A-Za-z_]\w*$/.test(source) ? traits.member : 0;
  }

  /** A macro may stand for another function, whose parameters are meant. */
  #isOtherName(name: string): boolean {
    let is = this.#otherNames.get(name);
    if (is === undefined) {
      const mayBe = (this.program.names.kindsOf(nameHash(name)) & nameKinds.macro) !== 0;
      is =
        mayBe &&
        this.program
          .symbolsNamed(name)
          .some((each) => each.kind === 'macro' && this.program.typeOf(each).startsWith('='));
      this.#otherNames.set(name, is);
    }
    return is;
  }

  #targetTraits(target: string): number {
    if (!/@\.\d+$/.test(target)) return 0;
    const [whole, name = ''] = parameterRoot.exec(target) ?? [];
    const kinds = whole === target ? this.program.names.kindsOf(nameHash(name)) : 0;
    return (
      traits.local |
      ((kinds & callable) === 0 ? traits.through : 0) |
      ((kinds & nameKinds.macro) === 0 ? 0 : traits.macro)
    );
  }

  /** What calls and slots go through. */
  #readSites(shard: number): void {
    const index = this.program.shards[shard];
    for (let site = 0; site < (index?.siteCount ?? 0); site += 1) {
      const expression = index?.expressionOf(site) ?? '';
      if (!expression.includes('@')) continue;
      this.#typed.add(typedRoot(expression));
      const tail = tailOf(expression);
      if (tail !== undefined && /@\.\d+$/.test(expression)) this.called.add(tail);
    }
    for (const { expression } of index?.slots(this.program.isValue) ?? [])
      this.#typed.add(typedRoot(expression));
  }

  /** What is put into a parameter that is called may be called there. */
  #closeCalled(): void {
    for (let size = -1; size !== this.called.size;) {
      size = this.called.size;
      for (let flow = 0; flow < this.#sources.length; flow += 1) {
        const its = this.#traits.at(flow);
        if ((its & traits.local) === 0) continue;
        const target = this.#targets.at(flow) | 0;
        // Which functions a call through a pointer reaches, is not known yet.
        if ((its & traits.through) !== 0) this.called.add(target);
        if (this.called.has(target) && (its & traits.member) === 0)
          this.called.add(this.#sources.at(flow) | 0);
      }
    }
  }

  #closeTyped(): void {
    for (let size = -1; size !== this.#typed.size;) {
      size = this.#typed.size;
      for (let flow = 0; flow < this.#sources.length; flow += 1)
        if (this.#isOfMacro(flow)) this.#typed.add(this.#roots.at(flow) | 0);
    }
  }

  #isOfMacro(flow: number): boolean {
    return (
      (this.#traits.at(flow) & traits.macro) !== 0 && this.#typed.has(this.#targets.at(flow) | 0)
    );
  }

  /** What macros are given for parameters whose types matter. */
  *ofMacros(): Generator<Flow> {
    yield* this.#chosen((flow) => this.#isOfMacro(flow));
  }

  /** Those that were not followed yet, whose source has one of these last names, or may be a function itself. */
  *next(tails: ReadonlySet<number>): Generator<Flow> {
    yield* this.#chosen((flow) => {
      if (this.#isFollowed[flow] === 1) return false;
      const its = this.#traits.at(flow);
      const isDue =
        (its & traits.always) !== 0 ||
        tails.has(this.#sources.at(flow) | 0) ||
        ((its & traits.member) !== 0 &&
          (its & traits.local) !== 0 &&
          this.called.has(this.#targets.at(flow) | 0));
      if (isDue) this.#isFollowed[flow] = 1;
      return isDue;
    });
  }

  *#chosen(is: (flow: number) => boolean): Generator<Flow> {
    for (const [at, its] of this.#files.entries()) {
      const chosen: number[] = [];
      const first = this.#starts.at(at);
      for (let flow = first; flow < this.#starts.at(at + 1); flow += 1)
        if (is(flow)) chosen.push(flow - first);
      if (chosen.length === 0) continue;
      const all = [...this.flowsOf(its)];
      for (const each of chosen) yield all[each] as Flow;
    }
  }

  *flowsOf({ shard, file, path }: { shard: number; file: number; path: string }): Generator<Flow> {
    for (const { role, name, type } of this.program.shards[shard]?.ownTypesOf(file) ?? [])
      if (role === 'assigned') yield { path, source: name, target: type };
  }
}

/** The parameter at the root of an expression; 0: none. */
function rootOf(expression: string): number {
  const [, name, at] = parameterRoot.exec(expression) ?? [];
  return name === undefined ? 0 : nameHash(`${name}@${at}`);
}

/** The same where a member of it is meant. */
function typedRoot(expression: string): number {
  const [, name, at, next] = parameterRoot.exec(expression) ?? [];
  return name === undefined || next === '' ? 0 : nameHash(`${name}@${at}`);
}

/**
 * The hash of the last name of an expression, with the numbers of parameters behind it: of `{struct file}.ops.open` that of `open`,
 * of `visit@.0` that of `visit@0`. Undefined: it is not kept anywhere.
 */
export function tailOf(expression: string): number | undefined {
  const [, before = '', parameters = ''] = /^(.*?)((?:@\.\d+)*)$/.exec(expression) ?? [];
  const [, sign, name] = /(^|.)(\b\w+)$/.exec(before) ?? [];
  if (name === undefined || (sign !== '' && sign !== '.')) return undefined;
  return nameHash(parameters.replaceAll('@.', '@'), nameHash(name));
}
