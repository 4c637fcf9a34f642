import { commentAbove } from './doc-lines.js';
import { excerptOf } from '../source/excerpt.js';
import { withoutCredentials } from '../mine/items/redaction.js';
import type { OverlayItem } from '../overlay/overlay-file.js';
import type { Citation } from '../shapes.js';
import type { FileRow, ShardIndex, SymbolRow } from '../format/shard-index.js';
import { saidRole, saidRoleAt } from '../source/role.js';
import { holdsSymbol } from './verify.js';

export type CitedFile = Pick<FileRow, 'path' | 'blob'>;

/** Where verbatim text comes from: the working tree or a git object, never the index. */
export interface Excerpts {
  /** Lines `from` to `to` (1-based, inclusive, clipped to the file); undefined when it cannot be read. */
  lines(file: CitedFile, from: number, to: number): string[] | undefined;
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
    // A blank excerpt is evidence of nothing.
    const blanks = excerpts.lines(row, 1, row.lines)?.findIndex((line) => line.trim() !== '') ?? -1;
    if (blanks < 0) return undefined;
    return cite(index, excerpts, {
      overlay: 'O1',
      text: `file:${row.path} | lines:${row.lines} | language:${row.language}`,
      file: row,
      from: blanks + 1,
      to: blanks + symbolLinesMax,
      symbol: '',
      similarity,
    });
  }
  const row = index.symbol(document);
  const file = index.file(row.file);
  const citeLines = (from: number, to: number): Citation | undefined =>
    cite(index, excerpts, {
      overlay: 'O1',
      text: renderedSymbol(row),
      file,
      from,
      to,
      symbol: row.name,
      similarity,
      role: saidRoleAt(index, row.file, document),
    });
  const comment =
    row.doc === ''
      ? undefined
      : commentAbove((from, to) => excerpts.lines(file, from, to), row.line_start);
  if (comment !== undefined) {
    // The cited lines must hold what the answer says of a symbol.
    const documented = citeLines(comment, lastLine(row, row.line_start));
    if (documented?.symbol === row.name) return documented;
  }
  const head = citeLines(row.line_start, lastLine(row, row.line_start));
  if (head === undefined || head.symbol !== '' || row.name === '') return head;
  const named = lineWithName(excerpts, file, row);
  return named === undefined ? head : citeLines(named, lastLine(row, named));
}

/** Its signature, with what it belongs to: that may stand far above the cited lines. */
function renderedSymbol({ signature, kind, name, container }: SymbolRow): string {
  const said = signature === '' ? `${kind}:${name}` : signature;
  return container === '' ? said : `${said} | in:${container}`;
}

function lastLine(row: SymbolRow, from: number): number {
  return Math.min(row.line_end, from + symbolLinesMax - 1);
}

/** Cites what an item of an overlay speaks of; its text says what that stands in, which may begin far above. */
export function citeItem(
  index: ShardIndex,
  excerpts: Excerpts,
  item: OverlayItem,
  similarity: number,
): Citation | undefined {
  const name = plainName(item.symbol);
  const cited = cite(index, excerpts, {
    overlay: item.overlay,
    text: item.text,
    file: { path: item.file_path, blob: item.blob },
    from: item.line_start,
    to: Math.max(item.line_start, item.line_end),
    symbol: name,
    similarity,
  });
  // A section stands in nothing: its name is its title.
  if (cited === undefined || name === cited.symbol || item.overlay === 'O4') return cited;
  return { ...cited, text: `${cited.text} | in:${name}` };
}

/** Cites one line of code that holds a text which a program prints. */
export function citeMessage(
  index: ShardIndex,
  excerpts: Excerpts,
  place: { file: CitedFile; line: number; name: string },
  similarity: number,
): Citation | undefined {
  return cite(index, excerpts, {
    overlay: 'O1',
    text: place.name === '' ? 'prints this message' : `${place.name} prints this message`,
    file: place.file,
    from: place.line,
    to: place.line,
    symbol: '',
    similarity,
  });
}

/** Titles of sections are no names. */
function plainName(name: string): string {
  return /^[\w$.:~]+$/.test(name) ? name : '';
}

/** The name may stand far below decorators and attributes. */
function lineWithName(excerpts: Excerpts, file: CitedFile, row: SymbolRow): number | undefined {
  const lines = excerpts.lines(file, row.line_start, row.line_end) ?? [];
  const at = lines.findIndex((line) => holdsSymbol(excerptOf([line]).content, row.name));
  return at < 0 ? undefined : row.line_start + at;
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
    file: index.file(call.file),
    from: call.line,
    to: call.line,
    // The name that stands on the cited line; the text says who calls.
    symbol: call.callee,
    similarity,
  });
  // A call whose line does not hold the name is not evidence, even if the index says so.
  return cited?.symbol === call.callee ? cited : undefined;
}

interface Cited {
  overlay: string;
  text: string;
  file: CitedFile;
  from: number;
  to: number;
  symbol: string;
  similarity: number;
  /** Where it is not that of the file. */
  role?: string;
}

/**
 * Whole lines as far as they fit, and before any that shows a credential; undefined when they are blank or cannot be
 * read, for then they could not be checked. The symbol is left empty when its name does not stand in the excerpt.
 */
function cite(index: ShardIndex, excerpts: Excerpts, item: Cited): Citation | undefined {
  const { file } = item;
  const lines = excerpts.lines(file, item.from, item.to);
  if (lines === undefined) return undefined;
  const secret = lines.findIndex((line) => withoutCredentials(line) !== line);
  const { content, lineCount } = excerptOf(secret < 0 ? lines : lines.slice(0, secret));
  if (content.trim() === '') return undefined;
  return {
    overlay: item.overlay,
    section: item.overlay,
    text: withoutCredentials(item.text),
    content,
    similarity: Math.round(item.similarity * 1e4) / 1e4,
    weight: 1,
    file_path: file.path,
    line_start: item.from,
    line_end: item.from + lineCount - 1,
    symbol: holdsSymbol(content, item.symbol) ? item.symbol : '',
    blob: file.blob,
    agent: index.info.agent,
    role: item.role ?? saidRole(index.info, file.path),
  };
}
