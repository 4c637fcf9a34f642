// Tables of tests in Go: what goes in, and whether something is wanted of it.

/** Texts of `input:` whose `want:` is not empty; those that are computed in other ways than here are left out. */
export function goCases(text) {
  const names = new Map();
  for (const { 1: name, index, 0: all } of text.matchAll(
    /^[\t ]*(?:const |var )?(\w+)[\t ]*:?=[\t ]*/gm,
  )) {
    const value = valueAt(text, index + all.length, names)?.value;
    if (value !== undefined) names.set(name, value);
  }
  const inputs = [...text.matchAll(/\binput:\s*/g)];
  return inputs.flatMap(({ index, 0: all }, each) => {
    const read = valueAt(text, index + all.length, names);
    if (read === undefined) return [];
    const rest = text.slice(read.end, inputs[each + 1]?.index);
    const [, want] = /\bwant:\s*(\[\][\w.*]+\{\s*\}|nil|\S)/.exec(rest) ?? [];
    return want === undefined || want === 'nil' || want.endsWith('}') ? [] : [read.value];
  });
}

/** A sum of texts. */
function valueAt(text, from, names) {
  let value = '';
  for (let at = from; ;) {
    const term = termAt(text, at, names);
    if (term === undefined) return undefined;
    value += term.value;
    const [plus] = /^\s*\+\s*/.exec(text.slice(term.end, term.end + 80)) ?? [];
    if (plus === undefined) return { value, end: term.end };
    at = term.end + plus.length;
  }
}

function termAt(text, at, names) {
  const rest = text.slice(at);
  const [literal] = /^(?:`[^`]*`|"(?:[^"\\\n]|\\.)*")/.exec(rest) ?? [];
  if (literal !== undefined) {
    const value = unquoted(literal);
    return value === undefined ? undefined : { value, end: at + literal.length };
  }
  const [call] = /^(?:fmt\.Sprintf|strings\.Repeat)\(/.exec(rest) ?? [];
  if (call !== undefined) return callAt(text, at, call, names);
  const [all, name, slice = ''] = /^(\w+)(\[:len\(\w+\)-\d+\])?(?![\w.([{])/.exec(rest) ?? [];
  const value = names.get(name);
  if (value === undefined) return undefined;
  const [, less] = /-(\d+)\]$/.exec(slice) ?? [];
  return {
    value: less === undefined ? value : value.slice(0, -Number(less)),
    end: at + all.length,
  };
}

function callAt(text, from, call, names) {
  const values = [];
  let at = from + call.length;
  for (;;) {
    at += /^\s*/.exec(text.slice(at, at + 80))[0].length;
    if (text[at] === ')') break;
    const [number] = /^\d+/.exec(text.slice(at, at + 10)) ?? [];
    const read =
      number === undefined ? valueAt(text, at, names) : { value: number, end: at + number.length };
    if (read === undefined) return undefined;
    values.push(read.value);
    at = read.end + /^\s*,?/.exec(text.slice(read.end, read.end + 80))[0].length;
  }
  const [first, ...others] = values;
  if (first === undefined) return undefined;
  let next = 0;
  const value = call.startsWith('fmt')
    ? first.replace(/%[svdq]/g, () => others[next++] ?? '')
    : first.repeat(Number(others[0]));
  return { value, end: at + 1 };
}

function unquoted(literal) {
  if (literal.startsWith('`')) return literal.slice(1, -1);
  try {
    return JSON.parse(literal.replaceAll(/\\x([0-9a-f]{2})/gi, '\\u00$1'));
  } catch {
    return undefined;
  }
}
