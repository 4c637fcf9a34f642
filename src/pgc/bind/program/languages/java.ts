import type { ImportRow, TypeRow } from '../../../format/shard-index.js';
import type { LanguageMembers, LanguageRules, Places, Shape } from '../rules.js';
import type { Imported, SourceText } from '../source-text.js';
import { foreign, languageType, type Giving, type Type } from '../values.js';
import { basesInJdk, givenInJdk, isOfJdk } from './java-standard.js';

/** From each to those after it, a value may be given as it is. */
const numbers = 'byte short int long float double'.split(' ');
const boxes: Readonly<Record<string, string>> = {
  boolean: 'Boolean',
  byte: 'Byte',
  char: 'Character',
  short: 'Short',
  int: 'Integer',
  long: 'Long',
  float: 'Float',
  double: 'Double',
};
const finals = new Set([...Object.keys(boxes), ...Object.values(boxes), 'String', 'Class', 'void']);
const boxing = 10_000;

/** Types of the library that hold others, by what they are like. */
const held: Readonly<Record<string, string>> = {
  ...like(
    '$list',
    'Collection List Set Iterable Iterator ListIterator ArrayList LinkedList HashSet',
  ),
  ...like(
    '$list',
    'LinkedHashSet TreeSet SortedSet NavigableSet Queue Deque ArrayDeque PriorityQueue',
  ),
  ...like('$list', 'Stream Optional Supplier Callable'),
  ...like('$map', 'Map HashMap LinkedHashMap TreeMap SortedMap NavigableMap ConcurrentMap'),
  ...like('$map', 'ConcurrentHashMap EnumMap Entry'),
  ...like('$func<1,0:0>', 'Function'),
  ...like('$func<2,0:0,1:1>', 'BiFunction'),
  ...like('$func<9,0:0>', 'Consumer Predicate'),
  ...like('$func<9,0:0,1:1>', 'BiConsumer BiPredicate'),
  ...like('$func<9,0:0,1:0>', 'Comparator'),
  ...like('$func<0,0:0>', 'UnaryOperator'),
  ...like('$func<0,0:0,1:0>', 'BinaryOperator'),
};

const elements =
  'get next previous getFirst getLast removeFirst removeLast first last poll peek pop element pollFirst pollLast ' +
  'peekFirst peekLast orElse orElseThrow orElseGet call higher lower floor ceiling';
const sameLists =
  'iterator listIterator stream parallelStream subList filter sorted distinct limit skip peek descendingIterator ' +
  'descendingSet headSet tailSet subSet takeWhile dropWhile findFirst findAny min max toList or';
const members: Readonly<Record<string, LanguageMembers>> = {
  $array: {
    ...{ results: { clone: '' }, parameters: {} },
    values: { length: () => plain('int') },
  },
  $list: {
    results: { ...each('[]', elements.split(' ')), ...each('', sameLists.split(' ')), set: '[]' },
    parameters: { '': ['[]'], sort: ['[]', '[]'], sorted: ['[]', '[]'] },
  },
  $map: {
    results: {
      ...each(
        '[]',
        'get put remove getOrDefault computeIfAbsent compute merge getValue'.split(' '),
      ),
      getKey: '[k]',
    },
    made: {
      keySet: ([key]) => listOf('Set', key),
      values: ([, value]) => listOf('Collection', value),
      entrySet: ([key, value]) =>
        listOf('Set', languageType('$map', 'Entry', labelled(key, value))),
    },
    parameters: {
      forEach: ['[k]', '[]'],
      computeIfAbsent: ['[k]'],
      computeIfPresent: ['[k]', '[]'],
      compute: ['[k]', '[]'],
      merge: ['[]', '[]'],
    },
  },
  $func: { results: each('()', 'apply'.split(' ')), parameters: {} },
};

/** What an operator makes of numbers; of a text and anything a text, which `+` alone takes. */
function promoted(all: readonly (Type | undefined)[]): Type | undefined {
  const names = all.map((type) => (type?.kind === 'outside' ? unboxed(type.name) : undefined));
  if (names.includes('String')) return plain('String');
  if (names.every((name) => name === 'boolean')) return plain('boolean');
  const ranks = names.map((name) => numbers.indexOf(name === 'char' ? 'int' : (name ?? '')));
  if (ranks.includes(-1)) return undefined;
  return plain(numbers[Math.max(numbers.indexOf('int'), ...ranks)] ?? 'int');
}

function gives(type: string, method: string, path?: string): Giving | undefined {
  const written = givenInJdk(type, method, path);
  return written === undefined ? undefined : (given) => typeOfJdk(written, given);
}

/** Of a type as `java-standard` writes it. */
function typeOfJdk(written: string, given: readonly (Type | undefined)[]): Type | undefined {
  const [, name = '', places] = /^([^<[]*)(?:<(.*)>)?/.exec(written) ?? [];
  if (written.endsWith('[]'))
    return { kind: 'language', name: '$array', args: labelled(plain(name)) };
  if (name === '$number') return promoted(given);
  if (name.startsWith('$')) return given[Number(name.slice(1))];
  const args = labelled(...(places ?? '').split(',').map((at) => boxed(given[Number(at || -1)])));
  const known = held[name];
  return known === undefined ? plain(name) : languageType(known, name, args);
}

/** As a type argument. */
function boxed(type: Type | undefined): Type | undefined {
  const box = type?.kind === 'outside' ? boxes[type.name ?? ''] : undefined;
  return box === undefined ? type : plain(box);
}

function unboxed(name: string | undefined): string | undefined {
  return Object.entries(boxes).find(([, box]) => box === name)?.[0] ?? name;
}

function plain(name: string): Type {
  return { ...foreign, name, args: [], isClosed: true };
}

function listOf(name: string, type: Type | undefined): Type {
  return languageType('$list', name, labelled(type));
}

function labelled(...types: (Type | undefined)[]): { label: string; type: Type | undefined }[] {
  return types.map((type) => ({ label: '', type }));
}

const primitives = 'boolean byte char short int long float double void Object String';
/** Methods of `Object` and of every enumeration, by what they give. */
const ofEverything: Readonly<Record<string, string>> = {
  ...like('boolean', 'equals'),
  ...like('int', 'hashCode ordinal compareTo'),
  ...like('String', 'toString name'),
  ...like('Class', 'getClass getDeclaringClass'),
  ...like('void', 'notify notifyAll wait finalize'),
};

/** Packages are known by their names, wherever their files are. */
export const javaRules: LanguageRules = {
  languages: ['java'],
  placesOf,
  builtins: new Set(primitives.split(' ')),
  isStructural: false,
  constructors: [],
  constructorsAreTypes: true,
  members,
  standard: {
    ...{ types: new Map(Object.entries(held)), same: new Set() },
    ...{ isKnown: isOfJdk, gives },
  },
  composed: { $number: promoted },
  overloads: {
    everything: 'Object',
    everyMember: new Map(
      Object.entries(ofEverything).map(([name, its]) => [name, () => plain(its)]),
    ),
    distance,
    isFinal: (name) => finals.has(name),
    isPlain: (name) => name in boxes,
    boxing,
    shapeOf,
  },
};

function each(value: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, value]));
}

function like(value: string, names: string): Record<string, string> {
  return each(value, names.split(' '));
}

/** What `java.util.function` and its neighbours call their interfaces: by how many they take; the first gives nothing. */
const shapes: readonly [name: RegExp, takes: number, gives: boolean][] = [
  [/^Runnable$/, 0, false],
  [/^(?:Callable|(?:Boolean|Int|Long|Double)?Supplier)$/, 0, true],
  [/^(?:Int|Long|Double)?Consumer$/, 1, false],
  [/^(?:Int|Long|Double)?(?:To(?:Int|Long|Double))?(?:Function|UnaryOperator|Predicate)$/, 1, true],
  [/^(?:Bi|Obj(?:Int|Long|Double))Consumer$/, 2, false],
  [/^(?:To(?:Int|Long|Double))?BiFunction$/, 2, true],
  [/^(?:BiPredicate|(?:Int|Long|Double)?BinaryOperator|Comparator)$/, 2, true],
];

function shapeOf(name: string): Shape | undefined {
  const found = shapes.find(([names]) => names.test(name));
  return found && { takes: found[1], gives: found[2] };
}

/** Between types of the library: of most it is unknown. */
function distance(given: string, wanted: string): number | undefined {
  if (given === wanted) return 0;
  const [from, to] = [numbers.indexOf(given), numbers.indexOf(wanted)];
  if (to >= 0 && (from >= 0 || given === 'char')) {
    const steps = to - (from < 0 ? numbers.indexOf('short') : from);
    return steps > 0 ? steps : Infinity;
  }
  const box = boxes[given];
  if (box !== undefined) return boxing + (box === wanted ? 0 : above(box, wanted));
  const its = unboxed(given) ?? given;
  if (its !== given && boxes[wanted] !== undefined) {
    const further = distance(its, wanted);
    return further === undefined ? undefined : boxing + further;
  }
  if (isOfJdk(given)) return above(given, wanted);
  return finals.has(wanted) ? Infinity : undefined;
}

function above(given: string, wanted: string): number {
  return basesInJdk(given).has(wanted) ? 1 : Infinity;
}

function placesOf(files: readonly { path: string; types: readonly TypeRow[] }[]): Places {
  const scopes = files.map(({ types }) => types.find(({ role }) => role === 'package')?.name ?? '');
  const packages = new Set(scopes);
  return { scopes, imported: (_, rows) => importedBy(rows, packages) };
}

function importedBy(
  rows: readonly ImportRow[],
  packages: ReadonlySet<string>,
): Pick<SourceText, 'imports' | 'wildcards' | 'isOpen'> {
  const imports = new Map<string, Imported>();
  const wildcards: string[] = [];
  let isOpen = false;
  for (const { target, names } of rows)
    for (const name of names) {
      const { scope, type } = placeOf(target, packages);
      if (name !== '*') {
        const path = type === '' ? name : `${type}.${name}`;
        const found: Imported =
          scope === undefined
            ? { scopes: [], name: path, beyond: `${target}.${name}` }
            : { scopes: [scope], name: path };
        const known = imports.get(name);
        const others = known && [...(known.others ?? []), found];
        imports.set(name, known === undefined ? found : { ...known, others: others ?? [] });
      } else if (scope === undefined) isOpen = true;
      else wildcards.push(type === '' ? scope : `${scope}#${type}`);
    }
  return { imports, wildcards, isOpen };
}

/** The package that begins a path, and the type in it that the rest names. */
function placeOf(
  target: string,
  packages: ReadonlySet<string>,
): { scope: string | undefined; type: string } {
  for (let end = target.length; end > 0; end = target.lastIndexOf('.', end - 1)) {
    const scope = target.slice(0, end);
    if (packages.has(scope)) return { scope, type: target.slice(end + 1) };
  }
  return { scope: undefined, type: '' };
}
