import type { Insight } from '../grounding/gathered.js';

/** Limit of the digest in the context of a runner. */
export const contextCharsMax = 6_000;
/** Limit of one line. */
export const insightCharsMax = 240;

/**
 * The insights as lines of overlay, place and first line, at most `charsMax` characters; the rest is counted. Each place stands once for each overlay, with its first insight.
 */
export function digestOf(insights: readonly Insight[], charsMax = contextCharsMax): string {
  const seen = new Set<string>();
  const lines: string[] = [];
  let chars = 0;
  let left = 0;
  for (const insight of insights) {
    const key = insight.place === '' ? insight.text : `${insight.overlay} ${insight.place}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const line = lineOf(insight);
    // Leaves room for the last line with the number of the rest.
    if (left > 0 || chars + line.length + 1 > charsMax - reservedChars) {
      left += 1;
      continue;
    }
    lines.push(line);
    chars += line.length + 1;
  }
  if (left > 0) lines.push(`and ${left} more findings`);
  return lines.join('\n');
}

const reservedChars = 40;

function lineOf({ overlay, place, text }: Insight): string {
  const where = place === '' ? '' : ` ${place}`;
  const first = (text.split('\n').find((line) => line.trim() !== '') ?? '').trim();
  const line = `${overlay}${where}: ${first.replace(/\s+/g, ' ')}`;
  return line.length <= insightCharsMax ? line : `${line.slice(0, insightCharsMax - 1)}…`;
}
