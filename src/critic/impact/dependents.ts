import type { SymbolFact } from '../../pgc/format/facts.js';
import { CodeReader, type SourceCode } from '../../pgc/mine/code-reader.js';
import type { CallSite } from '../../pgc/shapes.js';
import type { Ground } from '../ground.js';
import { parameterRange } from '../claims/look-up-signatures.js';
import { Asking } from './asking.js';
import type { Change } from './change.js';
import { parsed } from './facts.js';
import type { Loss } from './loss.js';
import type { Asked } from './once-per-artifact.js';
import { listed, plural } from './phrases.js';
import type { Unit } from './unit.js';

/** Names of one change that the index is asked about, and files of users that are parsed. */
const namesMax = 24;
const filesMax = 24;
const citedMax = 4;

interface Place {
  path: string;
  line: number;
}

/**
 * What the rest of the tree still uses as it was: names that are gone, parameters that changed, fields that a result no
 * longer has. Nothing where the index cannot be asked.
 */
export async function leftBehind(
  change: Change,
  { signal }: Asked,
  ground: Ground,
): Promise<Loss[]> {
  await using reader = new CodeReader();
  const users = new Users(ground, signal, change.path, reader);
  const found: Loss[] = [];
  for (const symbol of goneFrom(change).slice(0, namesMax)) {
    const places = await users.of(symbol);
    if (places.length > 0) found.push(nameGone(change, symbol, places));
  }
  for (const { before, after } of change.pairs) {
    if (before.symbol === undefined || after.symbol === undefined) continue;
    if (parametersOf(before) !== parametersOf(after)) {
      const left = await users.callsWith(
        before,
        (given) => !fits(after, given) && fits(before, given),
      );
      if (left.length > 0) found.push(argumentsLeft(change, before, after, left));
    }
    for (const field of fieldsGone(before, after)) {
      const places = await users.readersOf(before, field.name);
      if (places.length > 0) found.push(fieldGone(change, before, field, places));
    }
  }
  return found;
}

const notOffered = new Set(['section', 'import', 'module']);

/** Exported definitions that the artifact does not have. */
function goneFrom({ before, after, pairs }: Change): SymbolFact[] {
  const keyOf = ({ container, name }: SymbolFact): string => `${container}.${name}`;
  const offered = new Set(after.code.facts.symbols.filter(({ exported }) => exported).map(keyOf));
  const containers = new Set(after.code.facts.symbols.map(({ name }) => name));
  const gone = new Map<string, SymbolFact>();
  for (const symbol of before.code.facts.symbols) {
    const { name, container, exported, kind } = symbol;
    if (!exported || notOffered.has(kind) || name === '' || gone.has(keyOf(symbol))) continue;
    // A member that goes with its class is reported with the class.
    const isLeft = container !== '' && !containers.has(container);
    const isKept = pairs.some(
      (pair) =>
        pair.before.symbol === symbol &&
        pair.after.name === name &&
        pair.after.symbol?.exported === true,
    );
    if (!offered.has(keyOf(symbol)) && !isLeft && !isKept) gone.set(keyOf(symbol), symbol);
  }
  return [...gone.values()];
}

/** Users of definitions of one file, in the rest of the tree. */
class Users {
  readonly #files = new Map<string, Promise<SourceCode | undefined>>();
  readonly #asking: Asking;
  #importers: Promise<string[]> | undefined;

  constructor(
    readonly ground: Ground,
    readonly signal: AbortSignal,
    readonly path: string,
    readonly reader: CodeReader,
  ) {
    this.#asking = new Asking(signal);
  }

  /** Calls in other files; of what cannot be called, imports of its name. */
  async of({ name, kind, container }: SymbolFact): Promise<Place[]> {
    const sites = await this.#calls(name, container);
    const others = sites.filter(({ file_path }) => file_path !== this.path);
    if (others.length > 0) return others.map(({ file_path, line }) => ({ path: file_path, line }));
    if (container !== '' || /^(?:struct|field|enumerator)$/.test(kind)) return [];
    return this.#importsOf(name);
  }

  /** Calls outside of the artifact whose number of arguments `isLeft`. */
  async callsWith({ symbol, name }: Unit, isLeft: (given: number) => boolean): Promise<Place[]> {
    const left: Place[] = [];
    const sites = await this.#calls(name, symbol?.container ?? '');
    for (const { file_path: path, line, kind } of sites.slice(0, filesMax * 2)) {
      if (path === this.path || kind === 'slot') continue;
      const code = await this.#parsed(path);
      const call = code?.parts.calls.find((each) => each.name === name && each.line === line);
      if (call === undefined || call.arguments.some((each) => each.startsWith('...'))) continue;
      if (isLeft(call.arguments.length)) left.push({ path, line });
    }
    return left;
  }

  /** Lines in files of callers that read a property of this name. */
  async readersOf({ symbol, name }: Unit, field: string): Promise<Place[]> {
    if (symbol === undefined || symbol.container !== '' || field.length < fieldCharsMin) return [];
    const sites = await this.#calls(name, '');
    const paths = new Set(sites.map(({ file_path }) => file_path));
    paths.delete(this.path);
    const found: Place[] = [];
    for (const path of [...paths].slice(0, filesMax)) {
      const [line] = (await this.#parsed(path))?.parts.reads.get(field) ?? [];
      if (line !== undefined) found.push({ path, line });
    }
    return found;
  }

  async #calls(name: string, container: string): Promise<CallSite[]> {
    const isMember = container !== '';
    const place = `${this.path}#${isMember ? `${container}.` : ''}${name}`;
    const answer = await this.#asking.ask((options) =>
      this.ground.questions.callers({ symbol: place }, options),
    );
    const sites = (answer?.callers ?? []).filter(({ kind }) => kind !== 'slot' || !isMember);
    if (!isMember || !sites.some(({ kind }) => kind === 'member')) return sites;
    // A call of a member has only its name: where other classes define it too, either may be meant.
    const all = await this.#asking.ask((options) =>
      this.ground.questions.callers({ symbol: name }, options),
    );
    const defined = (all?.definitions ?? []).filter(({ declaration }) => !declaration);
    return defined.length > 1 ? sites.filter(({ kind }) => kind !== 'member') : sites;
  }

  /** Imports of the name from this file. */
  async #importsOf(name: string): Promise<Place[]> {
    const stem = stemOf(this.path);
    const found: Place[] = [];
    for (const path of await (this.#importers ??= this.#users())) {
      const code = await this.#parsed(path);
      const line = code?.facts.imports.find(
        ({ target, names }) =>
          stemOf(target) === stem && names.some((each) => each.split(':')[0] === name),
      )?.line;
      if (line !== undefined) found.push({ path, line });
    }
    return found;
  }

  async #users(): Promise<string[]> {
    const request = { symbol: this.path, max_depth: 1, direction: 'up' as const };
    const answer = await this.#asking.ask((options) =>
      this.ground.analyses.blastRadius(request, options),
    );
    const paths = (answer?.consumers ?? []).map(({ file_path }) => file_path);
    return [...new Set(paths)].filter((path) => path !== this.path).slice(0, filesMax);
  }

  #parsed(path: string): Promise<SourceCode | undefined> {
    let code = this.#files.get(path);
    if (code === undefined) this.#files.set(path, (code = this.#parse(path)));
    return code;
  }

  async #parse(path: string): Promise<SourceCode | undefined> {
    const text = this.#asking.isCut() ? undefined : await this.ground.read(path);
    return parsed(this.reader, path, text);
  }
}

/** A shorter name may be anything. */
const fieldCharsMin = 4;

/** `./store.js`, `src/store.ts` → store. */
function stemOf(path: string): string {
  return (path.split('/').at(-1) ?? path).replace(/\.\w+$/, '');
}

function parametersOf({ symbol }: Unit): string {
  return /\(.*\)$/s.exec(symbol?.signature ?? '')?.[0] ?? '()';
}

/** Whether so many arguments fit its parameters. */
function fits({ symbol }: Unit, given: number): boolean {
  const { min, max } = parameterRange(symbol?.signature ?? '') ?? { min: 0, max: Infinity };
  return given >= min && given <= max;
}

type Field = Unit['returned'][number]['fields'][number];

/** Keys of the object literals that it returned, and of none that it returns now. */
function fieldsGone(before: Unit, after: Unit): Field[] {
  const now = new Set(after.returned.flatMap(({ fields }) => fields.map(({ name }) => name)));
  if (now.size === 0 || after.returned.some(({ isOpen }) => isOpen)) return [];
  const gone = before.returned.flatMap(({ fields }) => fields.filter(({ name }) => !now.has(name)));
  return [...new Map(gone.map((each) => [each.name, each])).values()];
}

function sitesOf(places: readonly Place[]): string {
  return listed(
    places.map(({ path, line }) => `${path}:${line}`),
    citedMax,
  );
}

function lossOf(
  change: Change,
  line: number,
  users: readonly Place[],
  part: Pick<Loss, 'kind' | 'text' | 'remedy' | 'words'>,
): Loss {
  const at = change.lineAfter(line);
  return {
    ...{ ...part, severity: 'major', line: at, line_end: at },
    places: [...users.slice(0, citedMax), { path: change.path, line }],
  };
}

function nameGone(change: Change, { name, line_start }: SymbolFact, users: readonly Place[]): Loss {
  const verb = users.length === 1 ? 'uses' : 'use';
  return lossOf(change, line_start, users, {
    ...{ kind: 'name-gone', words: `gone ${name}` },
    text: `\`${name}\` is no longer exported, and ${plural(users.length, 'place')} of the tree still ${verb} it: ${sitesOf(users)}.`,
    remedy: `Change those with it, or keep \`${name}\` until they are changed.`,
  });
}

function argumentsLeft(change: Change, before: Unit, after: Unit, users: readonly Place[]): Loss {
  const verb = users.length === 1 ? 'does' : 'do';
  return {
    ...lossOf(change, before.line, users, {
      ...{ kind: 'arguments-left', words: `parameters ${before.key}` },
      text: `\`${after.name}\` takes ${parametersOf(after)} now instead of ${parametersOf(before)}, and ${plural(users.length, 'call')} outside of this file ${verb} not fit: ${sitesOf(users)}.`,
      remedy: 'Change those calls with it, or keep accepting what they pass.',
    }),
    ...{ line: after.line, line_end: after.line },
  };
}

function fieldGone(change: Change, { name }: Unit, field: Field, users: readonly Place[]): Loss {
  const verb = users.length === 1 ? 'reads' : 'read';
  return lossOf(change, field.line, users, {
    ...{ kind: 'field-gone', words: `field ${name} ${field.name}` },
    text: `The result of \`${name}\` has no \`${field.name}\` any more, and ${plural(users.length, 'calling file')} still ${verb} it: ${sitesOf(users)}.`,
    remedy: `Return \`${field.name}\` again, or change its readers.`,
  });
}
