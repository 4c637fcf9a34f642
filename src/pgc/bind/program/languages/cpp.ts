import type { TypeRow } from '../../../format/shard-index.js';
import { cppDistance, made } from './cpp-distance.js';
import { cppMembers, cppStandard } from './cpp-standard.js';
import { cppReference } from './cpp-references.js';
import { IncludeGraph } from '../../pointers/includes.js';
import type { LanguageRules, Places } from '../rules.js';

/** Types and names that are known without a declaration, with those of C that are hardly ever written with `std`. */
const builtins =
  'void bool char schar uchar short ushort int uint long ulong llong ullong float double ldouble auto wchar_t char8_t ' +
  'char16_t char32_t size_t ssize_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t ' +
  'uintptr_t intmax_t uintmax_t time_t off_t va_list FILE NULL nullptr_t std';

/** Namespaces are known by their names, wherever their texts are; what a text includes tells several of a name apart. */
export const cppRules: LanguageRules = {
  languages: ['cpp'],
  others: ['c'],
  namespaces: true,
  placesOf,
  builtins: new Set(builtins.split(' ')),
  isStructural: false,
  constructors: [],
  constructorsAreTypes: true,
  isPackage: (name) => name === 'std',
  members: cppMembers,
  standard: cppStandard,
  operators: {
    call: ['.operator$28$29^()'],
    element: ['.operator$5b$5d^1()'],
  },
  overloads: {
    everything: '',
    everyMember: new Map(),
    distance: () => undefined,
    isFinal: () => false,
    isPlain: () => false,
    shapeOf: () => undefined,
    between: cppDistance,
    reference: cppReference,
    made,
  },
};

function placesOf(files: readonly { path: string; types: readonly TypeRow[] }[]): Places {
  const targets = new Map<string, readonly string[]>();
  const includes = new IncludeGraph(
    files.map(({ path }) => ({ path, targets: () => targets.get(path) ?? [] })),
  );
  return {
    scopes: files.map(() => ''),
    sees: (path) => includes.seenFrom(path),
    imported: (path, rows) => {
      targets.set(
        path,
        rows.map(({ target }) => target),
      );
      return { imports: new Map(), wildcards: [], isOpen: false };
    },
  };
}
