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
    const lines = excerpts.lines(index.file(file), line_start, to) ?? [];
    return {
      definition: definitionOf(index, symbol),
      lines: linesAsTheyStand(lines, line_start),
      cut: to < line_end,
    };
  });
}
