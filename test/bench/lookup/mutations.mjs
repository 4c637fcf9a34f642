// Five ways in which a true citation becomes a false one.

const shiftMax = 40;

/** Each gives a changed citation, or undefined where it cannot change this one. `below(n)`: an integer below n. */
export const mutations = {
  line: (true_, { below, texts }) => {
    const { line_start, line_end } = true_;
    const count = texts.file(true_.file_path).lines.length;
    const shift = (1 + below(shiftMax)) * (below(2) === 0 ? -1 : 1);
    const ways = [
      { line_start: line_start + shift, line_end: line_end + shift },
      { line_start: line_start - 1 },
      { line_end: line_end + 1 },
      { line_start: count + 1 + below(shiftMax), line_end: count + shiftMax + 1 },
    ];
    const changed = { ...true_, ...ways[below(ways.length)] };
    return changed.line_start >= 1 ? changed : undefined;
  },
  path: (true_, { below, others }) => {
    const { file_path } = true_;
    const name = file_path.slice(file_path.lastIndexOf('/') + 1);
    const ways = [
      others[below(others.length)].file_path,
      others.filter((each) => each.file_path.endsWith(file_path.slice(-2)))[0]?.file_path,
      name,
      `../${file_path}`,
      `/${file_path}`,
      file_path.replace(/.$/, (last) => (last === 'c' ? 'h' : 'c')),
      `drivers/${file_path}`,
    ];
    const changed = ways[below(ways.length)];
    return changed === undefined || changed === file_path
      ? undefined
      : { ...true_, file_path: changed };
  },
  content: (true_, { below, others }) => {
    const { content } = true_;
    const lines = content.split('\n');
    const at = below(content.length);
    const ways = [
      content.slice(0, at) + flipped(content[at]) + content.slice(at + 1),
      content.slice(0, at) + content.slice(at + 1),
      `${content.slice(0, at)}x${content.slice(at)}`,
      lines.slice(0, -1).join('\n'),
      lines.slice(1).join('\n'),
      lines.toReversed().join('\n'),
      content.toUpperCase(),
      content.trimStart(),
      content.slice(0, Math.ceil(content.length / 2)),
      others[below(others.length)].content,
    ];
    const changed = ways[below(ways.length)];
    return changed.trim() === '' || changed === content
      ? undefined
      : { ...true_, content: changed };
  },
  symbol: (true_, { below, others }) => {
    const named = others.filter(({ symbol }) => symbol !== '');
    const other = named[below(named.length)].symbol;
    const { symbol } = true_;
    const ways = [
      other,
      `${symbol || other}_`,
      `__${symbol || other}`,
      (symbol || other).slice(0, -1),
    ];
    const changed = ways[below(ways.length)];
    return changed === '' || changed === symbol ? undefined : { ...true_, symbol: changed };
  },
  blob: (true_, { below, others }) => {
    const { blob } = true_;
    const at = below(blob.length);
    const ways = [
      others[below(others.length)].blob,
      blob.slice(0, at) + (blob[at] === '0' ? '1' : '0') + blob.slice(at + 1),
      Array.from({ length: 40 }, () => below(16).toString(16)).join(''),
      '0'.repeat(40),
    ];
    const changed = ways[below(ways.length)];
    return changed === blob ? undefined : { ...true_, blob: changed };
  },
};

function flipped(sign) {
  return sign === '0' ? '1' : sign === ' ' ? '\t' : '0';
}
