import { definitionOf, resolveSymbol } from '../bind/definitions.js';
import type { ShardIndex } from '../format/shard-index.js';
import type { SourceText } from '../shapes.js';
import type { Excerpts } from './citation.js';
import { linesAsTheyStand } from './deciding.js';

/** Definitions in one answer; the others of a name are not shown. */
export const sourcesMax = 32;
/** Lines of one. */
export const sourceLinesMax = 300;

/** What these symbols define, with its lines as they were indexed. Definitions come before declarations. */
export function sourcesOf(
  index: ShardIndex,
  excerpts: Excerpts,
  symbols: readonly string[],
): SourceText[] {
  const all = [...new Set(symbols.flatMap((text) => resolveSymbol(index, text)))];
  return all.slice(0, sourcesMax).map((symbol) => {
    const { file, line_start, line_end } = index.symbolPlace(symbol);
    const to = Math.min(line_end, line_start + sourceLinesMax - 1);
    const read = excerpts.lines(index.file(file), line_start, to) ?? [];
    const lines = linesAsTheyStand(read, line_start);
    const definition = definitionOf(index, symbol);
    return { definition, lines, cut: to < line_end, hidden: read.length - lines.length };
  });
}
