import { said } from '../change/moved-symbols.js';
import type { UnitBefore } from '../change/change.js';
import { between } from '../../format/bytes.js';
import type { CallRow, ShardIndex } from '../../format/shard-index.js';

/** One version of a text. */
interface Version {
  index: ShardIndex;
  file: number;
}

/** `source` is put into `target`. */
export interface PutRow {
  source: string;
  target: string;
}

/** What two versions of a text of C say otherwise, as far as it counts for calls through pointers. */
export interface TextChange {
  /** Names of which something else is said, and what they are members of. */
  names: ReadonlySet<string>;
  /** What only one of them puts somewhere. */
  rows: readonly PutRow[];
  /** What both say. */
  kept: readonly string[];
  areIncludesSame: boolean;
}

export function textChange(before: Version, now: Version): TextChange {
  const definitions = [before, now].map(({ index, file }) =>
    said(index, file).map(({ text, shared }) => ({ key: text, names: shared })),
  );
  const [gone = [], added = []] = apart(definitions);
  const names = new Set<string>();
  for (const { names: its } of [...gone, ...added]) {
    const [container = '', name = ''] = its.split('\0');
    names.add(name);
    if (container !== '') names.add(container.split('.', 1)[0] ?? '');
  }
  const puts = [before, now].map((each) =>
    putsOf(each).map((row) => ({ ...row, key: `${row.source}\0${row.target}` })),
  );
  const rows = apart(puts).flat();
  const changed = new Set([...gone, ...added, ...rows].map(({ key }) => key));
  return {
    ...{ names, rows },
    kept: [...(definitions[1] ?? []), ...(puts[1] ?? [])].flatMap(({ key }) =>
      changed.has(key) ? [] : [key],
    ),
    areIncludesSame: includesOf(before) === includesOf(now),
  };
}

/** Of two lists what one has more often than the other. */
function apart<Each extends { key: string }>(lists: readonly (readonly Each[])[]): Each[][] {
  const counts = new Map<string, number>();
  const [before = [], now = []] = lists;
  for (const { key } of now) counts.set(key, (counts.get(key) ?? 0) + 1);
  const gone = before.filter(({ key }) => {
    const left = counts.get(key) ?? 0;
    counts.set(key, left - 1);
    return left <= 0;
  });
  const added = now.filter(({ key }) => {
    const left = counts.get(key) ?? 0;
    if (left > 0) counts.set(key, left - 1);
    return left > 0;
  });
  return [gone, added];
}

/** What a text puts somewhere: data, and functions. */
function putsOf({ index, file }: Version): PutRow[] {
  const found: PutRow[] = [];
  for (const { role, name, type } of index.ownTypesOf(file))
    if (role === 'assigned') found.push({ source: name, target: type });
  for (const { callee, expression } of index.slotsIn(file))
    if (expression !== '') found.push({ source: callee, target: expression });
  return found;
}

function includesOf({ index, file }: Version): string {
  return index
    .importsOf(file)
    .map(({ target }) => target)
    .join('\n');
}

/** The calls in one text. */
export function callsIn(index: ShardIndex, file: number): CallRow[] {
  const [inside = [0, 0], outside = [0, 0]] = index.siteSpans(file);
  return [inside, outside].flatMap((span) => between(span).map((site) => index.site(site)));
}

/** What an expression of a text was bound to before. */
export class BoundBefore {
  readonly #calls = new Map<string, number>();
  readonly bound: UnitBefore['bound'];

  constructor({ index, bound }: UnitBefore, file: number) {
    this.bound = bound;
    for (const { id, callee } of callsIn(index, file))
      this.#calls.set(useOf(index, id, callee), id);
  }

  /** Undefined: there was no such call. */
  call(use: string): number | undefined {
    return this.#calls.get(use);
  }
}

/** What a call goes through: an expression, or `=` and a name alone, which is bound otherwise. */
export function useOf(index: ShardIndex, call: number, callee: string): string {
  return index.expressionOf(call) || `=${callee}`;
}
