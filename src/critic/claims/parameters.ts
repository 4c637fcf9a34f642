/** `a, b = 1, { c }, f(x, y)`: each as written, at the commas that no bracket holds. */
export function parameterList(list: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let begin = 0;
  for (let at = 0; at <= list.length; at += 1) {
    const sign = list[at] ?? ',';
    if ('([{<'.includes(sign)) depth += 1;
    if (')]}'.includes(sign) || (sign === '>' && list[at - 1] !== '=')) depth -= 1;
    if (at < list.length && (sign !== ',' || depth !== 0)) continue;
    parts.push(list.slice(begin, at).trim());
    begin = at + 1;
  }
  return parts.filter((each) => each !== '');
}

/** As documents write them: `key[, options]` has two, of which one may be left out. */
export function writtenParameters(list: string): string[] {
  return parameterList(list.replaceAll(/\s*\[\s*,\s*/g, ', ').replaceAll(/[[\]]/g, ''));
}
