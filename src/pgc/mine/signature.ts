export const signatureCharsMax = 200;

/** Of a signature, in their order. */
export type Properties = Record<string, string | number | boolean | undefined>;

/** White space folded to single blanks, none inside the brackets' edges. */
export function compact(source: string): string {
  return source
    .replace(/\/\*[\s\S]*?\*\//g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/([([{]) /g, '$1')
    .replace(/ ([)\]},])/g, '$1')
    .trim();
}

/**
 * `function:f | params:2 | returns:int | static:true | (int a, char *b)`: absent and false properties
 * are left out. `tail` is source text; it is cut first when all does not fit.
 */
export function renderSignature(
  kind: string,
  name: string,
  properties: Properties,
  tail = '',
): string {
  const parts = [`${kind}:${name}`];
  for (const [key, value] of Object.entries(properties)) {
    if (value !== undefined && value !== false && value !== '') parts.push(`${key}:${value}`);
  }
  if (tail !== '') parts.push(tail);
  const whole = parts.join(' | ');
  return whole.length <= signatureCharsMax ? whole : `${whole.slice(0, signatureCharsMax - 1)}…`;
}

/** Splits at commas outside all brackets and strings: `a, b(c, d)` → `a`, `b(c, d)`. */
export function splitList(source: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let quote = '';
  let from = 0;
  for (let at = 0; at < source.length; at += 1) {
    const sign = source.charAt(at);
    if (quote !== '') {
      if (sign === '\\') at += 1;
      else if (sign === quote) quote = '';
    } else if (sign === '"' || sign === "'" || sign === '`') quote = sign;
    else if ('([{'.includes(sign)) depth += 1;
    else if (')]}'.includes(sign)) depth -= 1;
    else if (sign === ',' && depth === 0) {
      parts.push(source.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(source.slice(from));
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}
