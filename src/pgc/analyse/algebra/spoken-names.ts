import type { Anchors } from './anchors.js';

/** A name that more anchors bear is a word like any other: `init`, `probe`. */
export const bearersMax = 16;
const nameCharsMin = 3;

const inBackticks = /`+([^`]{1,120})`+/g;
const called = /(?<![\w$./-])([A-Za-z_$][\w$]*)\(\)/g;
/** Neither a field, nor a part of a path, a file name or an address. */
const joined = /(?<![\w$./@-]|->)([A-Za-z_$][\w$]*)(?![\w$@]|[./-]\w|\/)/g;

/**
 * Names of symbols in prose: what is written as `name()`, what stands alone in backticks (with brackets
 * behind it, or `struct` before), and words with an underscore or a capital letter inside.
 */
export function spokenNames(text: string): Set<string> {
  const names = new Set<string>();
  for (const [, name = ''] of text.matchAll(called)) names.add(name);
  for (const [, quoted = ''] of text.matchAll(inBackticks)) {
    const name =
      /^(?:(?:struct|union|enum|class|function|macro)\s+)?([A-Za-z_$][\w$]*)(?:\([^()]*\))?$/.exec(
        quoted.trim(),
      )?.[1];
    if (name !== undefined) names.add(name);
  }
  for (const [, name = ''] of text.matchAll(joined))
    if (/[A-Za-z0-9]_+[A-Za-z0-9]|^_+[A-Za-z]|[a-z][A-Z]/.test(name)) names.add(name);
  return new Set([...names].filter((name) => name.length >= nameCharsMin));
}

/** The anchors of all symbols that bear one of these names exactly; of names that too many bear, none. */
export function bearersOf(anchors: Anchors, names: ReadonlySet<string>): Map<string, number[]> {
  const bearers = new Map<string, number[]>();
  for (const { id, name } of names.size === 0 ? [] : anchors.bearing(names)) {
    const ids = bearers.get(name);
    if (ids === undefined) bearers.set(name, [id]);
    else ids.push(id);
  }
  for (const [name, ids] of bearers) if (ids.length > bearersMax) bearers.delete(name);
  return bearers;
}
