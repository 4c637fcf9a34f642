import type { Answer, Evidence } from '../../pgc/shapes.js';
import { merge, placeOf } from '../ask.js';

/** What a question found as it was put, and what it found with more hints, as one answer: the likeliest of both. */
export function mergedAnswer(plain: Answer, hinted: Answer): Answer {
  const known = new Map(plain.evidence.map((each) => [placeOf(each), each]));
  if (hinted.evidence.every((each) => known.has(placeOf(each)))) return plain;
  const { metadata } = plain;
  const isNew = plain.evidence.length === 0;
  return {
    ...plain,
    ...merge([plain, hinted], metadata.top_k),
    // That nothing was found is no longer true.
    errors: isNew ? hinted.errors : plain.errors,
    left_out: isNew ? hinted.left_out : plain.left_out,
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
export function surerAnswer(plain: Answer, hinted: Answer): Answer {
  if (hinted.partial && !plain.partial) return plain;
  return entryOf(hinted) > entryOf(plain) ? hinted : plain;
}

function entryOf({ hops, evidence }: Answer): number {
  const entry = new Set(hops[0]?.evidence);
  const its = evidence.filter(({ id }) => entry.has(id));
  return Math.max(-1, ...its.map(({ similarity }: Evidence) => similarity));
}
