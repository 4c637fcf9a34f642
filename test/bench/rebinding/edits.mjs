import { posix } from 'node:path';
import { decodeFacts } from '../../../dist/src/pgc/format/packed-facts.js';

/** Each changes some texts of the tree as people do, as far as lines tell; undefined: nothing of that kind is there. */
export const edits = {
  async body(tree, chance) {
    const { path, lines, symbol } = pickFunction(tree, chance, 4);
    const inner = range(symbol.line_start, symbol.line_end - 2).filter((at) =>
      /^\s+[\w.$]+\(.*\);?\s*$/.test(lines[at]),
    );
    if (inner.length === 0) return undefined;
    const at = chance.pick(inner);
    lines.splice(at, chance.next() < 0.5 ? 1 : 0, ...(chance.next() < 0.5 ? [lines[at]] : []));
    return change(tree, path, lines);
  },

  async rename(tree, chance) {
    const { symbol } = pickFunction(tree, chance, 1);
    const pattern = new RegExp(`\\b${escaped(symbol.name)}\\b`, 'g');
    const name = `${symbol.name}Renamed${chance.between(0, 99)}`;
    const using = [...tree.texts].filter(([, { bytes }]) => bytes.includes(symbol.name));
    if (symbol.name.length < 4 || using.length > 40) return undefined;
    for (const [path, { bytes }] of using)
      await tree.set(path, Buffer.from(bytes.toString().replaceAll(pattern, name)));
    return `${symbol.name} in ${using.length} texts`;
  },

  async added(tree, chance) {
    const { path, lines, symbol } = pickFunction(tree, chance, 1);
    const other = pickFunction(tree, chance, 1).symbol.name;
    const name = chance.next() < 0.5 ? other : `${symbol.name}Extra`;
    const own = lines.slice(symbol.line_start - 1, symbol.line_end);
    const pattern = new RegExp(`\\b${escaped(symbol.name)}\\b`);
    lines.splice(symbol.line_end, 0, ...own.map((line) => line.replace(pattern, name)));
    return `${await change(tree, path, lines)}: ${symbol.name} as ${name}`;
  },

  async deleted(tree, chance) {
    const { path, lines, symbol } = pickFunction(tree, chance, 1);
    lines.splice(symbol.line_start - 1, symbol.line_end - symbol.line_start + 1);
    return `${await change(tree, path, lines)}: ${symbol.name}`;
  },

  async signature(tree, chance) {
    const { path, lines, symbol } = pickFunction(tree, chance, 1);
    const types = factsOf(tree, path).symbols.filter(({ kind }) =>
      /^(?:class|struct|interface|type|enum|trait)$/.test(kind),
    );
    const at = symbol.line_start - 1;
    const line = lines[at];
    const named = [...line.matchAll(/\b[A-Z]\w+\b/g)];
    if (named.length > 0 && types.length > 0 && chance.next() < 0.7) {
      const { index, 0: name } = chance.pick(named);
      const other = chance.pick(types).name;
      lines[at] = line.slice(0, index) + other + line.slice(index + name.length);
    } else lines[at] = line.replace(/\(([^(),]+)(?:, ?|(?=\)))/, '(');
    return lines[at] === line
      ? undefined
      : `${await change(tree, path, lines)}: ${lines[at].trim()}`;
  },

  async base(tree, chance) {
    const all = pickSymbols(tree, chance, ({ kind }) => /^(?:class|struct|interface)$/.test(kind));
    const { path, lines, symbol } = all;
    const other = pickSymbols(tree, chance, ({ kind }) => /^(?:class|struct|interface)$/.test(kind))
      .symbol.name;
    const at = symbol.line_start - 1;
    const line = lines[at];
    const next = line
      .replace(/\b(extends|implements) \w+/, (_, word) =>
        chance.next() < 0.5 ? `${word} ${other}` : '',
      )
      .replace(/(class \w+)\((\w*)/, (_, head, base) => `${head}(${base === '' ? '' : other}`)
      .replace(/: public \w+/, chance.next() < 0.5 ? `: public ${other}` : '');
    lines[at] =
      next === line
        ? line
            .replace(/(class \w+) \{/, `$1 extends ${other} {`)
            .replace(/(class \w+):$/, `$1(${other}):`)
            .replace(/(type \w+ struct) \{$/, `$1 {\n\t${other}`)
        : next;
    return lines[at] === line
      ? undefined
      : `${await change(tree, path, lines)}: ${lines[at].trim()}`;
  },

  async fileAdded(tree, chance) {
    const path = chance.pick([...tree.texts.keys()]);
    const { dir, name, ext } = posix.parse(path);
    const other = posix.join(chance.next() < 0.7 ? dir : posix.dirname(dir), `${name}_more${ext}`);
    if (tree.texts.has(other)) return undefined;
    await tree.set(other, tree.texts.get(path).bytes);
    return other;
  },

  async fileDeleted(tree, chance) {
    const path = chance.pick([...tree.texts.keys()]);
    tree.delete(path);
    return path;
  },

  async importRemoved(tree, chance) {
    const path = chance.pick([...tree.texts.keys()]);
    const { imports } = factsOf(tree, path);
    if (imports.length === 0) return undefined;
    const lines = linesOf(tree, path);
    const [line] = lines.splice(chance.pick(imports).line - 1, 1);
    return `${await change(tree, path, lines)}: ${line}`;
  },

  async importAdded(tree, chance) {
    const [from, path] = [chance.pick([...tree.texts.keys()]), chance.pick([...tree.texts.keys()])];
    const [{ imports }, own] = [factsOf(tree, from), factsOf(tree, path)];
    if (
      imports.length === 0 ||
      own.imports.length === 0 ||
      posix.extname(from) !== posix.extname(path)
    )
      return undefined;
    const line = linesOf(tree, from)[chance.pick(imports).line - 1];
    const lines = linesOf(tree, path);
    lines.splice(own.imports[0].line - 1, 0, line);
    return `${await change(tree, path, lines)}: ${line}`;
  },

  /** In C: another function is put into a member, is handed on, or called through it. */
  async pointer(tree, chance) {
    const { path, lines } = pickFunction(tree, chance, 4);
    const [one, other] = [pickFunction(tree, chance, 1), pickFunction(tree, chance, 1)];
    const places = [...lines.keys()].filter((at) =>
      /\.\w+\s*=\s*[a-z]\w+[,;]|->\w+\(|\([^()]*\b[a-z]\w+\)/.test(lines[at]),
    );
    if (places.length === 0) return undefined;
    const at = chance.pick(places);
    const name = chance.pick([one, other]).symbol.name;
    lines[at] = lines[at]
      .replace(/(\.\w+\s*=\s*)[a-z]\w+/, `$1${name}`)
      .replace(/->\w+\(/, (call) => (chance.next() < 0.3 ? `->${name}(` : call))
      .replace(/\b[a-z]\w+\)/, (last) => (chance.next() < 0.5 ? `${name})` : last));
    return `${await change(tree, path, lines)}: ${lines[at].trim()}`;
  },

  /** In C: a macro or a type has another meaning. */
  async macro(tree, chance) {
    const path = chance.pick([...tree.texts.keys()]);
    const lines = linesOf(tree, path);
    const places = [...lines.keys()].filter((at) => /^#define \w+|^typedef .*;$/.test(lines[at]));
    if (places.length === 0) return undefined;
    const at = chance.pick(places);
    const was = lines[at];
    if (chance.next() < 0.5) lines.splice(at, 1);
    else lines[at] = was.replace(/^(#define \w+|typedef)/, '$1 other');
    return `${await change(tree, path, lines)}: ${was}`;
  },

  async field(tree, chance) {
    const { path, lines, symbol } = pickSymbols(
      tree,
      chance,
      ({ kind, line_start, line_end }) =>
        /^(?:class|struct|interface)$/.test(kind) && line_end - line_start > 2,
    );
    const inner = range(symbol.line_start, symbol.line_end - 2).filter((at) =>
      /^\s+[\w<>[\]., :*&?]+(?:;|,|\w)$/.test(lines[at]),
    );
    if (inner.length === 0) return undefined;
    const [line] = lines.splice(chance.pick(inner), 1);
    return `${await change(tree, path, lines)}: ${line.trim()}`;
  },
};

export function factsOf(tree, path) {
  return decodeFacts(tree.texts.get(path).facts);
}

function linesOf(tree, path) {
  return tree.texts.get(path).bytes.toString().split('\n');
}

async function change(tree, path, lines) {
  await tree.set(path, Buffer.from(lines.join('\n')));
  return path;
}

function pickFunction(tree, chance, lines) {
  return pickSymbols(
    tree,
    chance,
    ({ kind, line_start, line_end, name }) =>
      /^(?:function|method)$/.test(kind) && line_end - line_start >= lines && /^\w+$/.test(name),
  );
}

function pickSymbols(tree, chance, isWanted) {
  for (;;) {
    const path = chance.pick([...tree.texts.keys()]);
    const symbols = factsOf(tree, path).symbols.filter(isWanted);
    if (symbols.length > 0)
      return { path, lines: linesOf(tree, path), symbol: chance.pick(symbols) };
  }
}

function range(from, to) {
  return Array.from({ length: Math.max(to - from, 0) }, (_, at) => from + at);
}

function escaped(text) {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
