import type { Insight } from '../grounding/gathered.js';

/** Of the context that is handed to whoever does the work. */
export const contextCharsMax = 6_000;
/** Of one insight. */
export const insightCharsMax = 240;

/**
 * The key findings, a line each: overlay, place, first line. Never more than `charsMax`; what found no room is counted.
 * A place is named once for each overlay: what is said of it first counts.
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
    // Room for the last line, which says how many there are besides.
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
