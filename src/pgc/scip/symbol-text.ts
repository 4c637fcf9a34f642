/** What a symbol of SCIP says. */
export interface ScipName {
  /** Scheme, manager, package and version, as written. */
  package: string;
  /** Of its last descriptor. */
  name: string;
}

export function isLocal(symbol: string): boolean {
  return symbol.startsWith('local ');
}

/** Undefined where it is not written as SCIP says. */
export function parseSymbol(symbol: string): ScipName | undefined {
  let at = 0;
  for (let parts = 0; parts < 4; parts += 1) {
    at = endOfPart(symbol, at);
    if (at < 0) return undefined;
  }
  const names = [...symbol.slice(at).matchAll(descriptor)];
  const last = names.at(-1);
  if (last === undefined) return undefined;
  const quoted = last.groups?.quoted;
  const name = quoted === undefined ? (last.groups?.plain ?? '') : quoted.replaceAll('``', '`');
  return { package: symbol.slice(0, at - 1), name };
}

/** What it names belongs to a type. */
export function isMember(symbol: string): boolean {
  return memberEnd.test(symbol);
}

const memberEnd = /#(?:`(?:[^`]|``)*`|[\w+$-]+)(?:\([\w+$-]*\)\.|[./#:!])$/;

/** A name with the sign of its kind; parameters in brackets. */
const descriptor =
  /(?:\((?=[^)]*\)(?!\.))|\[)?(?:`(?<quoted>(?:[^`]|``)*)`|(?<plain>[\w+$-]+))(?:\([\w+$-]*\)\.|[)\]/#.:!])/g;

/** After the blank that ends it; two blanks are one within it. */
function endOfPart(symbol: string, from: number): number {
  for (let at = symbol.indexOf(' ', from); at >= 0; at = symbol.indexOf(' ', at + 2))
    if (symbol[at + 1] !== ' ') return at + 1;
  return -1;
}

/** As a symbol writes it. */
export function nameText(name: string): string {
  return /^[\w+$-]+$/.test(name) ? name : `\`${name.replaceAll('`', '``')}\``;
}
