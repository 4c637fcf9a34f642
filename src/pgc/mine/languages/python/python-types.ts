import { bounded, unknown } from '../../../format/expression.js';

/** What the names in annotations of one text mean. */
export interface PythonNames {
  /** What a local name stands for; undefined: it is looked up outside of functions. */
  find(name: string): string | undefined;
  /** What the modules of types call a name of this text; undefined: it is none of theirs. */
  typing(name: string): string | undefined;
}

/** An annotation as `expression.ts` writes types. Strings in it are read like what is written out. */
export function pythonType(text: string, names: PythonNames): string {
  if (text.length > annotationCharsMax) return unknown;
  return bounded(new Annotation(text, names).union());
}

const annotationCharsMax = 1_000;
const depthMax = 16;

/** Types of the standard library by what they are for a reader of types. */
const kindOf = new Map(
  Object.entries({
    list:
      'list set frozenset deque List Sequence MutableSequence Iterable Iterator Collection Container Set FrozenSet ' +
      'AbstractSet MutableSet Deque Reversible Generator AsyncIterable AsyncIterator AsyncGenerator KeysView ValuesView',
    map: 'dict defaultdict OrderedDict Dict Mapping MutableMapping DefaultDict ChainMap',
    promise: 'Awaitable Coroutine Future Task',
    tuple: 'tuple Tuple',
    union: 'Union Optional',
    same: 'ClassVar Final Annotated Required NotRequired ReadOnly Unpack InitVar TypeGuard',
    type: 'type Type',
    function: 'Callable',
    context:
      'ContextManager AbstractContextManager AsyncContextManager AbstractAsyncContextManager',
    text: 'Literal LiteralString',
    own: 'Self',
    any: 'Any object NoReturn Never',
  }).flatMap(([kind, list]) => list.split(' ').map((name) => [name, kind] as const)),
);

/** Whether a name of the modules of types takes other types. */
export function isTypeForm(name: string): boolean {
  return kindOf.has(name);
}

class Annotation {
  #at = 0;
  #depth = 0;

  constructor(
    readonly text: string,
    readonly names: PythonNames,
  ) {}

  /** `A | B` */
  union(): string {
    const types = [this.#one()];
    while (this.#take('|')) types.push(this.#one());
    return unionOf(types);
  }

  #one(): string {
    this.#blanks();
    const quoted = /^[a-zA-Z]{0,2}("""|'''|"|')([\s\S]*?)\1/.exec(this.text.slice(this.#at));
    if (quoted !== null) {
      this.#at += quoted[0].length;
      return pythonType(quoted[2] ?? '', this.names);
    }
    if (this.#take('(')) {
      const inner = this.union();
      this.#take(')');
      return inner;
    }
    if (this.#take('[')) return this.#list().join(',');
    if (this.#take('...')) return '...';
    this.#take('*');
    const name = /^[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*/u.exec(this.text.slice(this.#at))?.[0];
    if (name === undefined) {
      this.#at += 1;
      return unknown;
    }
    this.#at += name.length;
    const args = this.#take('[') ? this.#list() : [];
    return this.#named(name.replaceAll(/\s/g, ''), args);
  }

  /** Up to the closing bracket. */
  #list(): string[] {
    const types: string[] = [];
    this.#depth += 1;
    while (!this.#take(']') && this.#at < this.text.length) {
      const start = this.#at;
      types.push(this.#depth > depthMax ? unknown : this.union());
      this.#take(',');
      if (this.#at === start) this.#at += 1;
    }
    this.#depth -= 1;
    return types;
  }

  #named(name: string, args: readonly string[]): string {
    if (name === 'None') return '';
    const special = this.names.typing(name);
    const kind = special === undefined ? undefined : kindOf.get(special);
    if (kind !== undefined) return specialType(kind, special ?? '', args);
    const dot = name.indexOf('.');
    const first = dot < 0 ? name : name.slice(0, dot);
    const local = this.names.find(first);
    const its = local === undefined ? first : (typeNamed(local) ?? unknown);
    if (its === unknown) return unknown;
    const given = args.map((each) => (each === '' || each === '...' ? unknown : each));
    return `${its}${dot < 0 ? '' : name.slice(dot)}${listed(given)}`;
  }

  #take(mark: string): boolean {
    this.#blanks();
    if (!this.text.startsWith(mark, this.#at)) return false;
    this.#at += mark.length;
    return true;
  }

  #blanks(): void {
    while (/\s/.test(this.text.charAt(this.#at))) this.#at += 1;
  }
}

/** A local name that stands for a class. */
function typeNamed(expression: string): string | undefined {
  if (/^[\w.#]+$/.test(expression)) return expression;
  return /^\{\$type<([^{}]*)>\}$/.exec(expression)?.[1];
}

function specialType(kind: string, name: string, args: readonly string[]): string {
  const [first = unknown, second = unknown] = args.map((each) => each || unknown);
  const last = args.at(-1) || unknown;
  switch (kind) {
    case 'list':
      return `$list<${first}>`;
    case 'map':
      return `$map<${first},${second}>`;
    case 'promise':
      return `$promise<${last}>`;
    case 'tuple':
      if (args.length === 0) return '$list';
      return last === '...'
        ? `$list<${first}>`
        : `$tuple${listed(args.map((each) => each || unknown))}`;
    case 'union':
      return name === 'Optional' ? first : unionOf(args);
    case 'same':
      return first;
    case 'type':
      return `$type<${first}>`;
    case 'function':
      return args.length < 2 ? '$func' : `$func<${last}>`;
    case 'context':
      return `$context<${first}>`;
    case 'text':
      return '$text';
    case 'own':
      return '$this';
    default:
      return unknown;
  }
}

/** Nothing (`''`) is no type of its own. */
export function unionOf(types: readonly string[]): string {
  const all = [...new Set(types.filter((each) => each !== '' && each !== '...'))];
  return all.length < 2 ? (all[0] ?? '') : `$union<${all.join(',')}>`;
}

function listed(types: readonly string[]): string {
  return types.length === 0 ? '' : `<${types.join(',')}>`;
}
