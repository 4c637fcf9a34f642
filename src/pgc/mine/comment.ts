export const docCharsMax = 400;
/** Characters of a comment that are read: its first sentences are among them. */
const commentCharsMax = 4_000;

interface Comment {
  /** First sentences, without markup; may be empty. */
  doc: string;
  /** Offset where the comment begins. */
  start: number;
}

/** Where tags end the description: JSDoc puts them last, kernel-doc between summary and description. */
type TagStyle = 'jsdoc' | 'kernel-doc';

/** The comment that ends on the line above the one that holds offset `at`, if that line holds nothing else. */
export function commentAbove(text: string, at: number, style: TagStyle): Comment | undefined {
  const line = lineBreakBefore(text, at);
  if (line === undefined) return undefined;
  let end = line;
  while (end > 0 && ' \t\r'.includes(text.charAt(end - 1))) end -= 1;
  const block = text.startsWith('*/', end - 2);
  const start = block ? text.lastIndexOf('/*', end - 3) : lineCommentsStart(text, end, '//');
  if (start === undefined || start < 0) return undefined;
  // A comment that follows code on its line speaks of that code.
  if (block && start > 0 && lineBreakBefore(text, start) === undefined) return undefined;
  return { doc: docOf(text.slice(start, Math.min(end, start + commentCharsMax)), style), start };
}

/** Offset of the line break before `at`; undefined when anything but blanks lies between. */
export function lineBreakBefore(text: string, at: number): number | undefined {
  let before = at - 1;
  while (text.charAt(before) === ' ' || text.charAt(before) === '\t') before -= 1;
  return text.charAt(before) === '\n' ? before : undefined;
}

/** White space in the place of a text: offsets and lines stay. */
export function blanked(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

/** Start of the run of lines that begin with `mark` and end at offset `end`. */
export function lineCommentsStart(text: string, end: number, mark: string): number | undefined {
  let start: number | undefined;
  for (let to = end; to > 0;) {
    const from = text.lastIndexOf('\n', to - 1) + 1;
    const line = text.slice(from, to);
    if (!line.trimStart().startsWith(mark)) break;
    start = from + line.indexOf(mark);
    to = from - 1;
  }
  return start;
}

/** The prose of a comment with its marks. */
export function docOf(comment: string, style: TagStyle): string {
  if (/SPDX-License|Copyright (?:\(c\)|©|\d)/i.test(comment)) return '';
  const kept: string[] = [];
  let inTag = false;
  let isNewParagraph = false;
  for (const raw of comment.split('\n')) {
    const line = raw
      .trim()
      .replace(/^(?:\/\*+!?|\/\/+[!/]?|#+|\*+(?!\/))\s?/, '')
      .replace(/\**\*\/$/, '')
      .trim();
    if (/^(?:eslint|prettier-|biome-|istanbul |c8 |noqa|type: ignore|@ts-)/.test(line)) continue;
    if (line === '') {
      inTag = false;
      isNewParagraph = true;
    } else if (/^@\w/.test(line)) {
      if (style === 'jsdoc') break;
      inTag = true;
    } else if (!inTag && /\w/.test(line)) {
      const last = kept.at(-1);
      // A paragraph ends a sentence, with or without a full stop.
      if (isNewParagraph && last !== undefined && /[\w)'"]$/.test(last)) kept.push('.');
      isNewParagraph = false;
      kept.push(line);
    }
  }
  return sentences(
    kept
      .join(' ')
      .replaceAll(' . ', '. ')
      // Kernel-doc heads its text with the name: `foo() - what it does`.
      .replace(/^(?:(?:struct|union|enum|typedef) )?[\w.]+(?:\(\))?\s+[-–—]\s+/, '')
      .replace(/\{@\w+\s+([^}]*)\}/g, '$1')
      .replace(/<\/?(?:p|b|i|a|em|br|li|ul|ol|tt|pre|code|strong)\b[^<>]{0,80}>/gi, ' ')
      .replace(/``?([^`]*)``?/g, '$1')
      .replace(/(^|[\s(])[%&@](?=[\w])/g, '$1')
      .replace(/\*\*([^*]+)\*\*/g, '$1'),
  );
}

/** Whole sentences up to the limit; if the first alone is longer, as many words of it as fit. */
export function sentences(prose: string): string {
  const folded = prose.replace(/\s+/g, ' ').trim();
  if (folded.length <= docCharsMax) return folded;
  const head = folded.slice(0, docCharsMax);
  const stop = Math.max(head.lastIndexOf('. '), head.lastIndexOf('! '), head.lastIndexOf('? '));
  if (stop > docCharsMax / 4) return head.slice(0, stop + 1);
  return head.slice(0, Math.max(head.lastIndexOf(' '), docCharsMax / 2));
}
