import type { ItemFact } from '../../format/facts.js';
import { blanked } from '../comment.js';
import { splitList } from '../signature.js';
import { isBound } from './bounds.js';
import { Items, lineHead, type ItemSource } from './item.js';
import { argumentsAt } from './code-text.js';
import { statedIn } from './statements.js';

/** Names that state a condition which must hold, by what they do when it does not. */
const assertions: Readonly<Record<string, string>> = {
  ...named(
    'stops the machine when',
    'BUG_ON VM_BUG_ON VM_BUG_ON_PAGE VM_BUG_ON_VMA VM_BUG_ON_MM VM_BUG_ON_FOLIO VM_BUG_ON_PGFLAGS',
  ),
  ...named(
    'warns when',
    'WARN_ON WARN_ON_ONCE WARN WARN_ONCE VM_WARN_ON VM_WARN_ON_ONCE VM_WARN_ON_FOLIO ' +
      'VM_WARN_ON_ONCE_FOLIO WARN_RATELIMIT WARN_ON_RATELIMIT WARN_ON_SMP',
  ),
  ...named(
    'does not compile when',
    'BUILD_BUG_ON BUILD_BUG_ON_MSG BUILD_BUG_ON_ZERO BUILD_BUG_ON_INVALID',
  ),
  ...named('does not compile unless', 'const_assert'),
  ...named(
    'asserts',
    'assert ASSERT assert_eq assert_ne debug_assert debug_assert_eq debug_assert_ne invariant ' +
      'assertTrue assertEquals requireNonNull checkArgument checkState checkNotNull assertThat',
  ),
};

/** Assertions whose first two arguments are compared. */
const comparisons: readonly (readonly [name: RegExp, sign: string])[] = [
  [/^(?:debug_)?assert_eq$|^assertEquals$|_EQ$/, '=='],
  [/^(?:debug_)?assert_ne$|_NE$/, '!='],
  [/_LT$/, '<'],
  [/_LE$/, '<='],
  [/_GT$/, '>'],
  [/_GE$/, '>='],
];
/** KUnit's: the test itself is the first argument. */
const expectation = /^KUNIT_(?:EXPECT|ASSERT)_(?:EQ|NE|LT|LE|GT|GE|TRUE|FALSE|NOT_NULL|NULL)$/;

/** Locking rules that the code checks by itself. */
const locks = new Set(
  (
    'lockdep_assert_held lockdep_assert_held_write lockdep_assert_held_read lockdep_assert_not_held ' +
    'lockdep_assert_held_once lockdep_assert_none_held_once lockdep_assert_irqs_enabled ' +
    'lockdep_assert_irqs_disabled lockdep_assert_in_irq lockdep_assert_preemption_disabled ' +
    'lockdep_assert_preemption_enabled lockdep_assert_in_softirq ' +
    'lockdep_sock_is_held might_sleep might_sleep_if might_lock might_alloc assert_spin_locked ' +
    'assert_raw_spin_locked lockdep_assert lockdep_assert_cpus_held lockdep_assert_rq_held ' +
    'mmap_assert_locked mmap_assert_write_locked ASSERT_RTNL ' +
    'rcu_lockdep_assert RCU_LOCKDEP_WARN might_fault'
  ).split(' '),
);

const annotation =
  /\b(__must_hold|__acquires|__releases|__cond_acquires|__guarded_by|GUARDED_BY|REQUIRES|EXCLUDES)[ \t]{0,8}(?=\()/g;

const annotationMark =
  /__(?:must_hold|acquires|releases|cond_acquires|guarded_by)|GUARDED_BY|REQUIRES|EXCLUDES/;

/** O6 of one text: assertions, locking rules, bounds, and what comments and documents state. */
export function mathematicsItems(source: ItemSource): ItemFact[] {
  const items = new Items(source, 6);
  conditions(source, items);
  annotations(source, items);
  bounds(source, items);
  statedIn(source, items);
  return items.found;
}

function conditions({ draft, text }: ItemSource, items: Items): void {
  for (const { callee, at, kind } of draft.calls) {
    // Brackets are read of those only that assert something.
    const isAssertion =
      Object.hasOwn(assertions, callee) ||
      (callee.startsWith('KUNIT_') && expectation.test(callee));
    if (kind === 'slot' || (!isAssertion && !locks.has(callee))) continue;
    const given = argumentsAt(text, at + callee.length) ?? '';
    const end = at + callee.length + given.length;
    const more = { subject: callee };
    if (locks.has(callee)) items.add('locking-check', at, end, `${callee}(${given})`, more);
    else items.add('assertion', at, end, asserted(callee, given), more);
  }
  statements(items);
}

/** Statements of the language itself are no calls. */
function statements(items: Items): void {
  const { language, text } = items.source;
  if ((language === 'python' || language === 'java') && text.includes('assert')) {
    const code = text.replace(asides[language], blanked);
    for (const found of code.matchAll(/^[ \t]*assert[ \t]/gm)) {
      const at = found.index + found[0].indexOf('assert');
      const line = text.indexOf('\n', at);
      const end = line < 0 ? text.length : line;
      const condition = text
        .slice(found.index + found[0].length, end)
        .trim()
        .replace(/;$/, '');
      if (condition !== '') items.add('assertion', at, end, `asserts ${condition}`);
    }
  }
  if (language !== 'c' && language !== 'cpp') return;
  for (const found of text.matchAll(/^[ \t]*((?:_S|s)tatic_assert)(?=\s*\()/gm)) {
    const at = found.index + found[0].length;
    const given = argumentsAt(text, at) ?? '';
    items.add(
      'assertion',
      at - (found[1] ?? '').length,
      at + given.length,
      `does not compile unless ${given}`,
      {
        subject: found[1] ?? '',
      },
    );
  }
}

/** Comments and strings: a line that begins with a word of the language there is no statement. */
const asides = {
  python:
    /"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|#[^\n]*|"(?:[^"\\\n]+|\\[^])*"?|'(?:[^'\\\n]+|\\[^])*'?/g,
  java: /\/\*[^]*?(?:\*\/|$)|"""[^]*?(?:"""|$)|\/\/[^\n]*|"(?:[^"\\\n]+|\\[^])*"?|'(?:[^'\\\n]+|\\[^])*'?/g,
};

const nonNull = /^(?:requireNonNull|checkNotNull)$/;

/** What a call asserts, of those that do. */
function asserted(callee: string, given: string): string {
  const isExpectation = expectation.test(callee);
  const how = Object.hasOwn(assertions, callee) ? assertions[callee] : undefined;
  const list = withoutMessage(callee, splitList(given));
  if (isExpectation) list.shift();
  if (nonNull.test(callee)) return `asserts ${list[0] ?? ''} is not null`;
  const [first = '', second = '', ...rest] = list;
  const sign = comparisons.find(([name]) => name.test(callee))?.[1];
  if (sign !== undefined && second !== '') return `${how ?? 'expects'} ${first} ${sign} ${second}`;
  if (isExpectation) return `expects ${expected(callee, first)}`;
  // A constant condition says that the place must not be reached.
  const isNever = how?.endsWith(' when') === true && /^(?:1|true)$/.test(first);
  const isNeverAsserted = how === 'asserts' && /^(?:0|false)$/.test(first);
  const why = [second, ...rest].filter((each) => each !== '').join(', ');
  if (isNever) return `${how} this is reached${why === '' ? '' : `: ${why}`}`;
  if (isNeverAsserted) return 'asserts that this is never reached';
  return `${how ?? ''} ${list.join(', ')}`;
}

const literal = /^"(?:[^"\\]|\\[^])*"$/;

/** JUnit 4 takes what to say first, JUnit 5 last. */
function withoutMessage(callee: string, list: string[]): string[] {
  const [first = '', ...rest] = list;
  if (!literal.test(first)) return list;
  if (callee === 'assertTrue') return rest.length === 0 ? list : rest;
  const isLast = /^"|->|^(?:message|msg|reason)\b/i.test(rest.at(-1) ?? '');
  return callee === 'assertEquals' && rest.length > 1 && !isLast ? rest : list;
}

function expected(callee: string, what: string): string {
  if (callee.endsWith('_FALSE')) return `!(${what})`;
  if (callee.endsWith('_NOT_NULL')) return `${what} != NULL`;
  return callee.endsWith('_NULL') ? `${what} == NULL` : what;
}

function annotations({ text, language }: ItemSource, items: Items): void {
  if ((language !== 'c' && language !== 'cpp') || !annotationMark.test(text)) return;
  for (const found of text.matchAll(annotation)) {
    const [whole, name = ''] = found;
    // A definition of the macro, or a comment about it.
    if (/^\s*(?:#|\/?\*|\/\/)/.test(lineHead(text, found.index) ?? '')) continue;
    const at = found.index + whole.length;
    const what = argumentsAt(text, at) ?? '';
    const end = at + what.length + 2;
    // Longer than it is read.
    if (text.charAt(end - 1) !== ')') continue;
    items.add('lock-annotation', found.index, end, `${name}(${what.trim()})`, {
      subject: what,
    });
  }
}

function bounds({ draft, text }: ItemSource, items: Items): void {
  for (const { name, kind, start, end } of draft.symbols) {
    if (kind !== 'constant' && kind !== 'macro') continue;
    const source = text.slice(start, Math.min(end, start + 200));
    const value = source.slice(source.indexOf(name) + name.length);
    if (isBound(name, value)) items.add('bound', start, end, source, { subject: name });
  }
}

function named(how: string, names: string): Record<string, string> {
  return Object.fromEntries(names.split(/\s+/).map((name) => [name, how]));
}
