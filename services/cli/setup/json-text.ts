import {
  applyEdits,
  findNodeAtLocation,
  modify,
  parseTree,
  type Edit as Change,
  type Node,
} from 'jsonc-parser';

/**
 * The text with this value in it. jsonc-parser formats what stands beside a change, too; here not a blank of it is
 * touched, and the new lines look like those around them.
 */
export function withValue(text: string, path: readonly string[], value: unknown): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  if (root === undefined) return text;
  if (findNodeAtLocation(root, [...path]) !== undefined)
    return applyEdits(text, modify(text, [...path], value, {}));
  // As far down as there is something to put it into.
  let parent = root;
  let rest = path;
  for (let depth = 1; depth < path.length; depth += 1) {
    const inner = findNodeAtLocation(root, path.slice(0, depth));
    if (inner === undefined) break;
    parent = inner;
    rest = path.slice(depth);
  }
  const [key = '', ...inner] = rest;
  const whole = inner.reduceRight((its: unknown, name) => ({ [name]: its }), value);
  return applyEdits(text, inserted(text, parent, key, whole));
}

export function withoutValue(text: string, path: readonly string[]): string {
  return applyEdits(text, modify(text, [...path], undefined, {}));
}

function inserted(text: string, object: Node, key: string, value: unknown): Change[] {
  const close = object.offset + object.length - 1;
  const place = text.slice(0, close).trimEnd().length;
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const last = object.children?.at(-1);
  if (last === undefined) {
    const outer = indentAt(text, object.offset);
    const inner = outer + unitOf(text);
    const its = member(key, value, inner, unitOf(text), eol);
    // A bracket on a line of its own stays there.
    const end = text.slice(place, close).includes('\n') ? '' : eol + outer;
    const length = end === '' ? 0 : close - place;
    return [{ offset: place, length, content: eol + inner + its + end }];
  }
  const end = last.offset + last.length;
  const hasComma = withoutComments(text.slice(end, close)).includes(',');
  const comma = { offset: end, length: 0, content: ',' };
  if (!text.slice(object.offset, close).includes('\n')) {
    const its = `${JSON.stringify(key)}: ${inLine(value)}`;
    return [...(hasComma ? [] : [comma]), { offset: place, length: 0, content: ` ${its}` }];
  }
  const indent = indentAt(text, last.offset);
  const content =
    eol + indent + member(key, value, indent, unitOf(text), eol) + (hasComma ? ',' : '');
  return [...(hasComma ? [] : [comma]), { offset: place, length: 0, content }];
}

function member(key: string, value: unknown, indent: string, unit: string, eol: string): string {
  const lines = JSON.stringify(value, null, unit).split('\n');
  return `${JSON.stringify(key)}: ${lines.join(eol + indent)}`;
}

function inLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, its]) => `${JSON.stringify(key)}: ${inLine(its)}`,
  );
  return `{ ${members.join(', ')} }`;
}

function indentAt(text: string, offset: number): string {
  const line = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(line, offset))?.[0] ?? '';
}

function unitOf(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
}

function withoutComments(text: string): string {
  return text.replace(/\/\/.*|\/\*[^]*?\*\//g, '');
}
