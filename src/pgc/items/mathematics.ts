import type { ItemFact } from '../facts.js';
import { Items, type ItemSource } from './item.js';
import { argumentsAt } from './security.js';

/** Names that state a condition which must hold, by what they do when it does not. */
const assertions: Readonly<Record<string, string>> = {
  ...named(
    'stops the machine unless',
    'BUG_ON VM_BUG_ON VM_BUG_ON_PAGE VM_BUG_ON_VMA VM_BUG_ON_MM VM_BUG_ON_FOLIO',
  ),
  ...named(
    'warns when',
    'WARN_ON WARN_ON_ONCE WARN WARN_ONCE VM_WARN_ON VM_WARN_ON_ONCE WARN_RATELIMIT',
  ),
  ...named('does not compile when', 'BUILD_BUG_ON BUILD_BUG_ON_MSG BUILD_BUG_ON_ZERO'),
  ...named('does not compile unless', 'static_assert _Static_assert const_assert'),
  ...named(
    'asserts',
    'assert ASSERT ASSERT_RTNL assert_eq assert_ne debug_assert debug_assert_eq debug_assert_ne invariant ' +
      'assertTrue assertEquals requireNonNull checkArgument checkState checkNotNull KUNIT_EXPECT_EQ assertThat',
  ),
};

/** Locking rules that the code checks by itself. */
const locks = new Set(
  (
    'lockdep_assert_held lockdep_assert_held_write lockdep_assert_held_read lockdep_assert_not_held ' +
    'lockdep_assert_held_once lockdep_assert_none_held_once lockdep_assert_irqs_enabled ' +
    'lockdep_assert_irqs_disabled lockdep_assert_in_irq lockdep_assert_preemption_disabled ' +
    'lockdep_sock_is_held might_sleep might_sleep_if might_lock might_alloc assert_spin_locked ' +
    'lockdep_assert lockdep_assert_cpus_held mmap_assert_locked mmap_assert_write_locked ' +
    'rcu_lockdep_assert RCU_LOCKDEP_WARN might_fault sockopt_lock_sock'
  ).split(' '),
);

const annotation =
  /\b(__must_hold|__acquires|__releases|__cond_acquires|__guarded_by|GUARDED_BY|REQUIRES|EXCLUDES)\s*\(\s*([^()]*(?:\([^()]*\)[^()]*)*)\)/g;

const annotationMark =
  /__(?:must_hold|acquires|releases|cond_acquires|guarded_by)|GUARDED_BY|REQUIRES|EXCLUDES/;
/** Stands in every comment that states anything: nine in ten need not be read closer. */
const telling =
  /must|should|shall|needs? to|has to|called|caller|protected|context|locking|condition|requires?|@pre|@post|ensures|guarantee|invariant|holds?\b|O\(|theorem|lemma|corollary|axiom|proposition|proof|flow/i;

/** Sentences of comments and documents that state what must hold, in the words that people use for it. */
const statements: readonly (readonly [rule: string, pattern: RegExp])[] = [
  [
    'locking-rule',
    /\b(?:must|should|needs? to|has to|shall)\s+(?:be\s+called\s+(?:with|under|while|without)|(?:not\s+)?(?:hold|be\s+hold(?:ing)?|own|take|acquire)\b)[^.;]*\b(?:lock\w*|mutex\w*|sem|semaphore|rcu\w*|rtnl\w*|spinlock|irqs?|preempt\w*|bh)\b[^.;]*|\b(?:called|caller|callers)\s+(?:with|under|must|should|holds?|has)\s+[^.;]*\b(?:lock|mutex|sem|semaphore|rcu|rtnl|spinlock|held|irqs?|preempt\w*|bh)\b[^.;]*|\bprotected\s+by\b[^.;]*|\b(?:Context|Locking)\s*:\s*[^.;]*/gi,
  ],
  [
    'precondition',
    /\b(?:preconditions?|pre-?condition|requires?|@pre|caller(?:s)?\s+(?:must|should|shall|has to|have to|is responsible))\b\s*:?[^.;]*/gi,
  ],
  ['postcondition', /\b(?:postconditions?|ensures|guarantees?\s+that|@post)\b\s*:?[^.;]*/gi],
  ['invariant', /\b(?:invariants?|must\s+(?:always|never)|always\s+holds?)\b\s*:?[^.;]*/gi],
  ['complexity', /\bO\(\s*(?:1|log|n|m|k|N|M|V|E|V\s*\+|n\s*[\^*+])[^)]{0,24}\)[^.;]*/g],
  [
    'theorem',
    /\b(?:theorem|lemma|corollary|axiom|proposition|proof)\s*(?:\d+(?:\.\d+)*|[:.(])[^.;]*/gi,
  ],
  [
    'overflow-note',
    /\b(?:can(?:not|'t)?|may|might|could|will\s+not|won't|never)\s+(?:over|under)flow\b[^.;]*/gi,
  ],
];

const boundName =
  /(?:^|_)(?:MAX|MIN|LIMIT|MAXIMUM|MINIMUM)(?:_|$)|(?:Max|Min|Limit)$|^(?:max|min)[A-Z_]/;
const textLanguages: ReadonlySet<string> = new Set(['markdown', 'rst', 'text']);
/** A comment is read this far for statements. */
const commentCharsMax = 8_000;

/** O6 of one text: assertions, locking rules, bounds, and what comments and documents state. */
export function mathematicsItems(source: ItemSource): ItemFact[] {
  const items = new Items(source, 6);
  conditions(source, items);
  for (const found of annotationMark.test(source.text) ? source.text.matchAll(annotation) : []) {
    const [whole, name = '', what = ''] = found;
    const rule = 'lock-annotation';
    items.add(rule, found.index, found.index + whole.length, `${name}(${what})`, {
      subject: what.trim(),
    });
  }
  bounds(source, items);
  for (const [from, to] of prose(source)) stated(source, items, from, to);
  return items.found;
}

function conditions({ draft, text }: ItemSource, items: Items): void {
  for (const { callee, at } of draft.calls) {
    const how = Object.hasOwn(assertions, callee) ? assertions[callee] : undefined;
    const isLock = locks.has(callee);
    if (how === undefined && !isLock) continue;
    const given = argumentsAt(text, at + callee.length) ?? '';
    const end = at + callee.length + given.length;
    const rule = isLock ? 'locking-check' : 'assertion';
    const rendered = isLock ? `${callee}(${given})` : `${how} ${given}`;
    items.add(rule, at, end, rendered, { subject: callee });
  }
  // Statements of the language itself are no calls.
  if (items.source.language !== 'python' && items.source.language !== 'java') return;
  for (const found of text.matchAll(/^[ \t]*assert\s+([^\n]+)/gm)) {
    const at = found.index + found[0].indexOf('assert');
    items.add('assertion', at, found.index + found[0].length, `asserts ${found[1] ?? ''}`);
  }
}

function bounds({ draft, text }: ItemSource, items: Items): void {
  for (const { name, kind, start, end } of draft.symbols) {
    if ((kind !== 'constant' && kind !== 'macro') || !boundName.test(name)) continue;
    const source = text.slice(start, Math.min(end, start + 200));
    if (!/\d|sizeof|<</.test(source.slice(source.indexOf(name) + name.length))) continue;
    items.add('bound', start, end, source, { subject: name });
  }
}

/** Where people write to people: comments, or all of a document. */
function* prose({ text, language }: ItemSource): Generator<[from: number, to: number]> {
  if (textLanguages.has(language)) {
    yield [0, text.length];
    return;
  }
  const comments =
    language === 'python'
      ? /(?:^[ \t]*#[^\n]*\n?)+|"""[\s\S]*?"""|'''[\s\S]*?'''/gm
      : /\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/[^\n]*\n?)+|\/\/[^\n]*/gm;
  for (const found of text.matchAll(comments)) {
    const end = found.index + Math.min(found[0].length, commentCharsMax);
    if (!/SPDX-License|Copyright|copyright/.test(found[0].slice(0, 400))) yield [found.index, end];
  }
}

function stated({ text }: ItemSource, items: Items, from: number, to: number): void {
  if (!telling.test(text.slice(from, to))) return;
  // Marks of comments are blanked, so that a sentence reads on over its lines.
  const plain = text
    .slice(from, to)
    .replace(/^[ \t]*(?:\/\*\*?|\*\/|\*(?!\/)|\/\/+[!/]?|#+)/gm, blanks)
    .replace(/\*\/$/, '  ');
  for (const [rule, pattern] of statements) {
    for (const found of plain.matchAll(pattern)) {
      const sentence = sentenceAround(plain, found.index, found.index + found[0].length);
      if (sentence.text.split(/\s+/).length < 3) continue;
      items.add(rule, from + sentence.from, from + sentence.to, sentence.text);
    }
  }
}

/** From the last full stop, or blank line, to the next. */
function sentenceAround(
  text: string,
  from: number,
  to: number,
): { text: string; from: number; to: number } {
  const before = text.slice(Math.max(0, from - 240), from);
  const start =
    Math.max(0, from - 240) +
    1 +
    Math.max(-1, ...['. ', '\n\n', '\n \n', ': '].map((stop) => before.lastIndexOf(stop)));
  const blank = text.slice(from, to).search(/\n\s*\n/);
  const end = blank < 0 ? Math.min(to + 1, text.length) : from + blank;
  const raw = text.slice(start, end);
  const lead = raw.length - raw.trimStart().length;
  return { text: raw.trim(), from: start + lead, to: start + raw.trimEnd().length };
}

function named(how: string, names: string): Record<string, string> {
  return Object.fromEntries(names.split(/\s+/).map((name) => [name, how]));
}

function blanks(mark: string): string {
  return ' '.repeat(mark.length);
}
