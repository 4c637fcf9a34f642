import { contentMax, type Citation } from './shapes.js';
import type { FileRow, ShardIndex } from './shard-index.js';

/** Where verbatim text comes from: the working tree or a git object, never the index. */
export interface Excerpts {
  /** Lines `from` to `to` (1-based, inclusive, clipped to the file); undefined when it cannot be read. */
  lines(file: FileRow, from: number, to: number): string[] | undefined;
}

/** Lines of a definition that are enough to recognise it. */
const symbolLinesMax = 12;

/** Cites the head of a symbol, or of a file for what lies outside all symbols. */
export function citeDocument(
  index: ShardIndex,
  excerpts: Excerpts,
  document: number,
  similarity: number,
): Citation | undefined {
  if (document >= index.symbolCount) {
    const file = document - index.symbolCount;
    const row = index.file(file);
    return cite(index, excerpts, {
      overlay: 'O1',
      text: `file:${row.path} | lines:${row.lines} | language:${row.language}`,
      file,
      from: 1,
      to: symbolLinesMax,
      symbol: '',
      similarity,
    });
  }
  const row = index.symbol(document);
  return cite(index, excerpts, {
    overlay: 'O1',
    text: row.signature === '' ? `${row.kind}:${row.name}` : row.signature,
    file: row.file,
    from: row.line_start,
    to: Math.min(row.line_end, row.line_start + symbolLinesMax - 1),
    symbol: row.name,
    similarity,
  });
}

/** Cites the line on which one function calls another. */
export function citeCall(
  index: ShardIndex,
  excerpts: Excerpts,
  call: { caller: string; callee: string; file: number; line: number },
  similarity: number,
): Citation | undefined {
  const cited = cite(index, excerpts, {
    overlay: 'O3',
    text: `${call.caller} calls ${call.callee}`,
    file: call.file,
    from: call.line,
    to: call.line,
    // The name that stands on the cited line; the text says who calls.
    symbol: call.callee,
    similarity,
  });
  // A call whose line does not hold the name is not evidence, whatever the index says.
  return cited?.content.includes(call.callee) === true ? cited : undefined;
}

interface Cited {
  overlay: string;
  text: string;
  file: number;
  from: number;
  to: number;
  symbol: string;
  similarity: number;
}

/** Whole lines as far as they fit; undefined when the text cannot be read, for then nobody could check it. */
function cite(index: ShardIndex, excerpts: Excerpts, item: Cited): Citation | undefined {
  const file = index.file(item.file);
  const lines = excerpts.lines(file, item.from, item.to);
  if (lines?.[0] === undefined) return undefined;
  let content = lines[0].slice(0, contentMax);
  let to = item.from;
  for (const line of lines.slice(1)) {
    if (content.length + 1 + line.length > contentMax) break;
    content += `\n${line}`;
    to += 1;
  }
  return {
    overlay: item.overlay,
    section: item.overlay,
    text: item.text,
    content,
    similarity: Math.round(item.similarity * 1e4) / 1e4,
    weight: 1,
    file_path: file.path,
    line_start: item.from,
    line_end: to,
    symbol: item.symbol,
    blob: file.blob,
    agent: index.info.agent,
  };
}
