import { LinearPattern } from '../../../base/pattern/linear-pattern.js';
import type { Condition, ConditionField } from './condition.js';

/** What an item says, of whichever overlay. */
export interface ItemFields {
  rule: string;
  text: string;
  subject: string;
  /** Only of O2. */
  severity?: string;
  cwe?: string;
  /** Only of calls: whether what the call returns is looked at. */
  used?: boolean;
  /** Only of what git tells: who, and on which day, `2026-11-01`. */
  author?: string;
  day?: string;
}

/** The conditions of one operand, by what must be known to judge them: what is cheap is asked first. */
export interface Filter {
  /** All of the overlay. */
  isOpen: boolean;
  path: (path: string) => boolean;
  name: (name: string) => boolean;
  /** Conditions on the kind of a symbol, or on whether it is exported, are there at all. */
  asksSymbol: boolean;
  symbol: (symbol: { kind: string; exported: boolean }) => boolean;
  item: (item: ItemFields) => boolean;
  /** What is left out by its rule need not be looked for. */
  mayBeOfRule: (rule: string) => boolean;
  /** More than the rule of an item is asked for. */
  asksContent: boolean;
  /** The name of the anchor, or more than the rule of an item, is asked for. */
  asksTexts: boolean;
  /** What git tells is asked for: who wrote it, when, or one of these rules. */
  asksHistory: (rules: ReadonlySet<string>) => boolean;
}

export function filterOf(conditions: readonly Condition[]): Filter {
  const tests = conditions.map((each) => ({ field: each.field, holds: testOf(each) }));
  const of = (...fields: ConditionField[]) => tests.filter(({ field }) => fields.includes(field));
  const [onPath, onName, onSymbol] = [of('path'), of('name'), of('kind', 'exported')];
  const onItem = of(
    ...([
      'rule',
      'text',
      'subject',
      'severity',
      'cwe',
      'used',
      'author',
      'since',
      'until',
    ] as const),
  );
  const asksContent = onItem.some(({ field }) => field !== 'rule');
  return {
    isOpen: conditions.length === 0,
    path: (path) => onPath.every(({ holds }) => holds(path)),
    name: (name) => onName.every(({ holds }) => holds(name)),
    asksSymbol: onSymbol.length > 0,
    symbol: ({ kind, exported }) =>
      onSymbol.every(({ field, holds }) => holds(field === 'kind' ? kind : String(exported))),
    item: (item) => onItem.every(({ field, holds }) => holds(fieldOf(item, field))),
    mayBeOfRule: (rule) => of('rule').every(({ holds }) => holds(rule)),
    asksContent,
    asksTexts: asksContent || onName.length > 0,
    asksHistory: (rules) =>
      of('author', 'since', 'until').length > 0 ||
      conditions.some(
        (condition) =>
          condition.field === 'rule' &&
          condition.operator !== '!=' &&
          [...rules].some((rule) => testOf(condition)(rule)),
      ),
  };
}

/** Undefined: no such item can have the field, and no condition on it holds. */
function fieldOf(item: ItemFields, field: ConditionField): string | undefined {
  switch (field) {
    case 'rule':
    case 'text':
    case 'subject':
    case 'severity':
    case 'cwe':
    case 'author':
      return item[field];
    case 'since':
    case 'until':
      return item.day;
    case 'used':
      return item.used === undefined ? undefined : String(item.used);
    case 'kind':
    case 'path':
    case 'name':
    case 'exported':
      return undefined;
  }
}

function testOf({ field, operator, value }: Condition): (found: string | undefined) => boolean {
  if (operator === '~') {
    const pattern = new LinearPattern(value);
    return (found) => found !== undefined && pattern.test(found);
  }
  const isSame = sameness(field, value);
  const wanted = operator === '=';
  return (found) => found !== undefined && isSame(found) === wanted;
}

function sameness(field: ConditionField, value: string): (found: string) => boolean {
  if (field === 'since') return (day) => day >= value;
  // A month holds its days.
  if (field === 'until') return (day) => day.slice(0, value.length) <= value;
  if (field === 'path') {
    const pattern = pathPattern(value);
    return (found) => pattern.test(found);
  }
  const wanted = field === 'cwe' && /^\d+$/.test(value) ? `CWE-${value}` : value;
  return (found) => found === wanted;
}

/** A file, or a folder with all in it; `*` is anything within one name, `**` also over folders. */
function pathPattern(glob: string): RegExp {
  // Folders below folders are folders below.
  const plain = glob
    .replace(/^\.\//, '')
    .replace(/\/+$/, '')
    .replace(/(?:\*\*+\/)+/g, '**/');
  const parts = plain.split(/(\*+)/);
  const source = parts.map((part) => {
    if (!part.startsWith('*')) return part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
    return part === '*' ? '[^/]*' : '.*';
  });
  return new RegExp(`^${source.join('').replaceAll('.*\\/', '(?:.*\\/)?')}(?:\\/.*)?$`, 'su');
}
