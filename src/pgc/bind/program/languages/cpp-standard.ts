import type { LanguageMembers, Library } from '../rules.js';
import { asConst, type LanguageType, type Type } from '../values.js';

/** Types of the library by what they hold; `=`: a member of theirs is one of what they hold. */
const types: Readonly<Record<string, string>> = {
  ...each(
    '$seq',
    'vector deque list forward_list set multiset unordered_set unordered_multiset array initializer_list span stack ' +
      'queue priority_queue valarray',
  ),
  ...each('$map', 'map multimap unordered_map unordered_multimap'),
  ...each('$smart', 'unique_ptr shared_ptr weak_ptr optional auto_ptr'),
  ...each('$pair<first:0,second:1>', 'pair'),
  ...each('$tuple', 'tuple'),
  ...each('=', 'function atomic reference_wrapper remove_reference_t decay_t'),
};

export const cppStandard: Library = {
  ...{ types: new Map(Object.entries(types)), same: new Set() },
  // Of GoogleTest, which hardly any tree has in it.
  fixtures: new Set(['TEST_F', 'TEST_P']),
};

type Args = readonly (Type | undefined)[];

function holding(name: string, args: Args): LanguageType {
  return { kind: 'language', name, args: args.map((type) => ({ label: '', type })) };
}

function pairOf([first, second]: Args): LanguageType {
  const args = [
    { label: 'first', type: first },
    { label: 'second', type: second },
  ];
  return { kind: 'language', name: '$pair', args };
}

const truth: Type = { kind: 'outside', name: 'bool', isClosed: true, args: [] };
const iterators =
  'begin end cbegin cend rbegin rend crbegin crend find lower_bound upper_bound erase emplace_hint';
const pointed = (args: Args): Type | undefined => args[0];
const isPointer = { $star: pointed, $arrow: pointed };

/** `begin` and its like go through `element`s. */
function typesOf(element: (args: Args) => Type | undefined): NonNullable<LanguageMembers['types']> {
  const iterator = (args: Args): Type => holding('$iterator', [element(args)]);
  const constant = (args: Args): Type => holding('$iterator', [asConst(element(args))]);
  return {
    ...each(iterator, 'iterator reverse_iterator'),
    ...each(constant, 'const_iterator const_reverse_iterator'),
    ...each(element, 'value_type reference'),
    const_reference: (args) => asConst(element(args)),
  };
}

/** What members of types of the library give, by what they are like. */
export const cppMembers: Readonly<Record<string, LanguageMembers>> = {
  $ptr: { results: each('', 'begin end'), parameters: {}, values: isPointer },
  $iterator: { results: {}, parameters: {}, values: isPointer },
  $smart: {
    results: { ...each('[]', 'value value_or operator$2a'), ...each('', 'lock') },
    made: each((args: Args): Type => holding('$ptr', args.slice(0, 1)), 'get release'),
    parameters: {},
    values: isPointer,
  },
  $seq: {
    results: each('[]', 'front back at top emplace_back emplace_front'),
    types: typesOf(pointed),
    made: {
      ...each((args: Args): Type => holding('$iterator', args.slice(0, 1)), `${iterators} emplace`),
      ...each((args: Args): Type => holding('$ptr', args.slice(0, 1)), 'data'),
      ...each(
        (args: Args): Type => pairOf([holding('$iterator', args.slice(0, 1)), truth]),
        'insert',
      ),
    },
    parameters: {},
  },
  $map: {
    results: each('[]', 'at'),
    types: { ...typesOf(pairOf), key_type: pointed, mapped_type: (args) => args[1] },
    made: {
      ...each((args: Args): Type => holding('$iterator', [pairOf(args)]), iterators),
      ...each(
        (args: Args): Type => pairOf([holding('$iterator', [pairOf(args)]), truth]),
        'insert emplace try_emplace insert_or_assign',
      ),
    },
    parameters: {},
  },
};

function each<Value>(value: Value, names: string): Record<string, Value> {
  return Object.fromEntries(names.split(' ').map((name) => [name, value]));
}
