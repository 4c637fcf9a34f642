import type { TypeRow } from '../../../format/shard-index.js';
import type { Change, TextPlace } from '../../change/change.js';
import type { LanguageRules } from '../rules.js';

/** A definition as a text describes it; what it says of itself has no place and no body. */
interface Described {
  name: string;
  container: string;
  kind: string;
  /** All but its rows. */
  head: string;
  rows: readonly TypeRow[];
  text: string;
  /** Its text is new, or gone. */
  isAlone: boolean;
}

/** Names of which a text says something else than before; see `affectedNames`. */
export class ChangedNames {
  readonly names = new Set<string>();
  /** Types whose line of bases may be another one. */
  readonly rebased = new Set<string>();
  /** Something was said that concerns names which it does not name. */
  isWide = false;
  readonly #rules: LanguageRules;

  constructor(change: Change, rules: LanguageRules, isOurs: (path: string) => boolean) {
    this.#rules = rules;
    for (const { path, before, now } of change.texts) {
      if (!isOurs(path)) continue;
      const isAlone = before === undefined || now === undefined;
      const was = describedIn(change.before[before?.unit ?? -1]?.index, before, rules);
      const is = describedIn(change.units[now?.unit ?? -1], now, rules);
      this.#compare(
        was.map((each) => ({ ...each, isAlone })),
        is.map((each) => ({ ...each, isAlone })),
      );
    }
  }

  #compare(was: readonly Described[], is: readonly Described[]): void {
    const [gone, added] = [without(was, is), without(is, was)];
    const heads = new Map<string, Described[]>();
    for (const each of [...gone, ...added]) {
      const known = heads.get(each.head);
      if (known === undefined) heads.set(each.head, [each]);
      else known.push(each);
    }
    for (const all of heads.values()) {
      const [one, other, ...others] = all;
      const isSame =
        other !== undefined && gone.includes(all[0] as Described) && added.includes(other);
      if (one !== undefined && isSame && others.length === 0) this.#noteRows(one, other);
      else for (const each of all) this.#noteAll(each, was.concat(is));
    }
  }

  #noteRows(one: Described, other: Described): void {
    const [rows, others] = [one, other].map((each) => each.rows.map(textOf));
    const differing = [
      ...one.rows.filter((row) => others?.includes(textOf(row)) !== true),
      ...other.rows.filter((row) => rows?.includes(textOf(row)) !== true),
    ];
    for (const row of differing.length > 0 ? differing : one.rows) this.#noteRow(one, row);
  }

  /** It is new, or gone. `beside`: what the text defines. */
  #noteAll(definition: Described, beside: readonly Described[]): void {
    const { name, container, kind, rows } = definition;
    this.#note(name);
    if (!/^(?:function|method|variable|constant|macro|)$/.test(kind)) this.rebased.add(plain(name));
    const around = plain(container);
    const isOfInterface =
      this.#rules.overloads !== undefined &&
      (definition.head.endsWith('declared') ||
        beside.some((each) => each.kind === 'interface' && plain(each.name) === around));
    if (isOfInterface || this.#isImplied(name, around)) this.#note(container);
    for (const row of rows) this.#noteRow(definition, row);
  }

  /** It is asked for where nothing names it. */
  #isImplied(name: string, container: string): boolean {
    const { constructors, anyMember = [], operators = {} } = this.#rules;
    const steps = Object.values(operators).flat();
    return (
      constructors.includes(name) ||
      anyMember.includes(name) ||
      (name !== '' && name === container) ||
      /^__.*__$|^operator/.test(name) ||
      steps.some((each) => each.startsWith(`.${name}(`) || each.startsWith(`.${name}^`))
    );
  }

  #noteRow(definition: Described, { symbol, role, name, type }: TypeRow): void {
    const { name: own, container } = definition;
    switch (role) {
      case 'field':
      case 'assigned':
        if (name === '') this.#note(own);
        this.#note(name);
        if (this.#rules.namespaces === true && symbol >= 0) this.names.add(partToken);
        return;
      case 'package':
        // All that it defines is noted, and imports are compared: they know which packages there are.
        if (definition.isAlone) this.#note(name);
        else this.isWide = true;
        return;
      case 'using':
        this.isWide = true;
        return;
      case 'base':
        for (const each of symbol < 0 ? [name, own] : [own]) this.rebased.add(plain(each));
        for (const each of [own, name, ...namesIn(type)]) this.#note(each);
        return;
      case 'unnamed':
        this.rebased.add(plain(name));
        for (const each of [name, ...namesIn(type)]) this.#note(each);
        return;
      case 'alias':
      case 'is':
        this.rebased.add(plain(own));
        break;
      case 'local':
      case 'within':
      case 'exported':
        for (const each of [name, ...(symbol < 0 ? [] : namesIn(type))]) this.#note(each);
        break;
      default:
        break;
    }
    this.#note(own);
    if (this.#isImplied(own, plain(container))) this.#note(container);
  }

  #note(name: string): void {
    const its = plain(name);
    if (its !== '') this.names.add(its);
  }
}

/** Stands for a part of a value that is meant by its place. */
export const partToken = '[n]';

const between = /[.,:<>(){}[\]!@^=&\s?|]+/;
const parts = /\[\d+\]/;

/** The names that an expression or a type mentions. */
export function namesIn(text: string): string[] {
  const names = text.split(between).map(plain);
  if (parts.test(text)) names.push(partToken);
  return names.filter((each) => each !== '');
}

/** The last name of a path, without what marks it; a name may be a sign alone. */
export function plain(name: string): string {
  const last = name.slice(name.lastIndexOf('.') + 1).replace(/^[$%#&]+(?=.)|~$/g, '');
  const end = last.indexOf('#');
  return end < 0 ? last : last.slice(0, end);
}

function describedIn(
  index: Change['units'][number] | undefined,
  place: TextPlace | undefined,
  rules: LanguageRules,
): Omit<Described, 'isAlone'>[] {
  if (index === undefined || place === undefined) return [];
  const isBare = !rules.languages.includes(index.file(place.file).language);
  const rows = new Map<number, TypeRow[]>();
  for (const row of index.typesOf(place.file)) {
    // Of a language of which types are written otherwise.
    if (isBare && !/^(?:local|within|using)$/.test(row.role)) continue;
    const known = rows.get(row.symbol);
    if (known === undefined) rows.set(row.symbol, [row]);
    else known.push(row);
  }
  const own = { name: '', container: '', kind: '', head: '' };
  return [-1, ...index.symbolsOf(place.file)].map((symbol) => {
    const its = symbol < 0 ? own : index.symbolPlace(symbol);
    const { name, container, kind } = its;
    const isDeclared = 'declaration' in its && its.declaration;
    const head = `${container}\0${name}\0${kind}\0${isDeclared ? 'declared' : ''}`;
    const said = rows.get(symbol) ?? [];
    return {
      name,
      container,
      kind,
      head,
      rows: said,
      text: [head, ...said.map(textOf)].join('\n'),
    };
  });
}

function textOf({ role, name, type }: TypeRow): string {
  return `${role}\0${name}\0${type}`;
}

/** Those that say what none of the others says. */
function without(all: readonly Described[], others: readonly Described[]): Described[] {
  const counts = new Map<string, number>();
  for (const { text } of others) counts.set(text, (counts.get(text) ?? 0) + 1);
  return all.filter(({ text }) => {
    const count = counts.get(text) ?? 0;
    counts.set(text, count - 1);
    return count <= 0;
  });
}
