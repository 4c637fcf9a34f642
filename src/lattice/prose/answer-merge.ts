import type { AskAnswer, Citation, LatticeAnswer } from '../../pgc/shapes.js';
import { merge } from '../ask.js';

/** What a question found as it was put, and what it found with more hints, as one answer: the likeliest of both. */
export function mergedAnswer(plain: AskAnswer, hinted: AskAnswer): AskAnswer {
  const known = new Map(plain.sources.map((source) => [placeOf(source), source]));
  const sources = hinted.sources.map((source) => known.get(placeOf(source)) ?? source);
  if (sources.every((source) => plain.sources.includes(source))) return plain;
  const { metadata } = plain;
  const isNew = plain.sources.length === 0;
  return {
    ...plain,
    ...merge([plain, { ...hinted, sources }], metadata.top_k),
    // That nothing was found is no longer true.
    errors: isNew ? hinted.errors : plain.errors,
    overlay_warnings: isNew ? hinted.overlay_warnings : plain.overlay_warnings,
    metadata: {
      ...metadata,
      index_version: isNew ? hinted.metadata.index_version : metadata.index_version,
      cached: metadata.cached && hinted.metadata.cached,
      agents_asked: Math.max(metadata.agents_asked, hinted.metadata.agents_asked),
    },
  };
}

/** The answer with the more similar entry; a partial hinted answer never replaces a complete one. */
export function surerAnswer(plain: LatticeAnswer, hinted: LatticeAnswer): LatticeAnswer {
  if (hinted.partial && !plain.partial) return plain;
  return entryOf(hinted) > entryOf(plain) ? hinted : plain;
}

function entryOf({ hops }: LatticeAnswer): number {
  return Math.max(-1, ...(hops[0]?.citations ?? []).map(({ similarity }) => similarity));
}

function placeOf({ overlay, section, file_path, line_start, line_end }: Citation): string {
  return [overlay, section, file_path, line_start, line_end].join('\0');
}
