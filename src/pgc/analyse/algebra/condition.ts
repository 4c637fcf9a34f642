import { LinearPattern } from '../../../base/pattern/linear-pattern.js';
import type { OverlayName } from '../../shapes.js';
import type { Scanner } from './scanner.js';

/**
 * What a condition may speak of. Of the anchor: `path` (a file, a folder, or a pattern with `*` and `**`),
 * `name`, `kind` and `exported` (of one of its symbols). Of the item that is at the anchor: the others. In
 * O1 the item is the symbol itself: its rule is its kind, its text the signature, its subject the name.
 * `since` and `until` take a day, a month or a year: `2026-11-01`, `2026-11`, `2026`; both mean it too.
 */
export const conditionFields = [
  'severity',
  'cwe',
  'rule',
  'kind',
  'path',
  'name',
  'exported',
  'author',
  'since',
  'until',
  'text',
  'subject',
  'used',
] as const;
export type ConditionField = (typeof conditionFields)[number];

const operators = ['!=', '=', '~'] as const;
export type ConditionOperator = (typeof operators)[number];

export interface Condition {
  field: ConditionField;
  operator: ConditionOperator;
  /** Without its quotes; of `~` a regular expression that compiles. */
  value: string;
}

export const conditionsMax = 16;

const severities = ['critical', 'high', 'medium', 'low', 'info'];
/** A value outside of these would match nothing, ever. */
const valuesOf: Partial<Record<ConditionField, readonly string[]>> = {
  severity: severities,
  exported: ['true', 'false'],
  used: ['true', 'false'],
};
/** Fields that the items of only one overlay have. */
const ownerOf: Partial<Record<ConditionField, OverlayName>> = {
  severity: 'O2',
  cwe: 'O2',
  author: 'O3',
  since: 'O3',
  until: 'O3',
  used: 'O3',
};

/** `[severity=high, path=net]`, or nothing. Throws USAGE. */
export function readConditions(scanner: Scanner, overlay: OverlayName): Condition[] {
  const conditions: Condition[] = [];
  if (!scanner.take('filter')) return conditions;
  const fields = conditionFields.filter((each) => (ownerOf[each] ?? overlay) === overlay);
  do {
    if (conditions.length === conditionsMax)
      scanner.refuse(`one filter has at most ${conditionsMax} conditions`, scanner.at);
    conditions.push(readCondition(scanner, fields));
  } while (scanner.take('comma'));
  if (!scanner.take('end')) scanner.fail('"," or "]"');
  return conditions;
}

function readCondition(scanner: Scanner, fields: readonly ConditionField[]): Condition {
  const expected = `a field (${fields.join(', ')}) or a rule`;
  const { at } = scanner;
  const head = scanner.match(/[A-Za-z][\w-]*/y);
  if (head === '') scanner.fail(expected);
  const field = fields.find((each) => each === head);
  const operator = scanner.takeOneOf(operators);
  if (operator === undefined) {
    if (field !== undefined) scanner.fail('"=", "!=" or "~"');
    if (severities.includes(head))
      scanner.refuse(`expected a rule; ${head} is a severity, write severity=${head}`, at);
    return { field: 'rule', operator: '=', value: head };
  }
  if (field === undefined) scanner.fail(expected, at);
  const valueAt = scanner.at;
  const value = readValue(scanner);
  checkValue(scanner, { field, operator, value }, valueAt);
  return { field, operator, value };
}

/** Up to a comma or the closing bracket, or in quotes: there a backslash stands before a quote that is meant. */
function readValue(scanner: Scanner): string {
  const { at } = scanner;
  const plain = scanner.match(/[^\s"',\]][^,\]]*/y).trimEnd();
  if (plain !== '') return plain;
  const quoted = scanner.match(/"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'/y);
  if (quoted.length <= 2) scanner.fail('a value', at);
  const quote = quoted.charAt(0);
  return quoted.slice(1, -1).replaceAll(`\\${quote}`, quote);
}

function checkValue(scanner: Scanner, { field, operator, value }: Condition, at: number): void {
  if (operator === '~' && field !== 'since' && field !== 'until') {
    checkPattern(scanner, value, at);
    return;
  }
  if (field === 'since' || field === 'until') {
    const isDay = /^\d{4}(?:-\d{2}){0,2}$/.test(value);
    if (operator !== '=' || !isDay) scanner.fail(`${field}=2026-11-01, a month or a year`, at);
  }
  const allowed = valuesOf[field];
  if (allowed !== undefined && !allowed.includes(value))
    scanner.fail(`${field} as one of ${allowed.join(', ')}`, at);
}

function checkPattern(scanner: Scanner, value: string, at: number): void {
  try {
    new LinearPattern(value);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    scanner.refuse(`expected a regular expression without references and look-around: ${why}`, at);
  }
}
