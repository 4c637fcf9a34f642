import { secretsIn } from '../../secrets/secrets.js';
import type { Found } from '../finding.js';
import type { MarkdownText } from '../artifact/markdown.js';
import type { Check } from './check.js';

/** Secrets, and marks of an unfinished merge. */
export const leftBehind: Check = ({ artifact, read }) => [
  { aspect: 'accuracy', what: 'lines without a secret', looked: 0, faults: secrets(artifact.text) },
  { aspect: 'consistency', what: 'merged lines', looked: 0, faults: conflicts(read.lines) },
];

/** What no artifact may hold, in any mode. */
export function neverAllowed(text: string, lines: MarkdownText['lines']): Found[] {
  return [...secrets(text), ...conflicts(lines)];
}

function secrets(text: string): Found[] {
  let [line, from, behind] = [1, 0, 0];
  return secretsIn(text).map(({ kind, at: place, end }): Found => {
    line += linesBetween(text, from, place);
    from = place;
    // A digest of the secret itself could be tried out against likely ones: the fault is known by what stands before it.
    const before = text.slice(Math.max(behind, text.lastIndexOf('\n', place) + 1), place);
    behind = end;
    return {
      ...{ rule: 'SECRET_EXPOSED', severity: 'critical', isHard: true },
      words: `${kind} ${before}`,
      text: `A secret is in the text, and everyone who reads it can use it: ${kind}.`,
      remedy: 'Have its issuer revoke it, then remove it here and from the history of the file.',
      place: { line_start: line, line_end: line + linesBetween(text, place, end) },
    };
  });
}

function linesBetween(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1))
    count += 1;
  return count;
}

function conflicts(lines: readonly string[]): Found[] {
  const faults: Found[] = [];
  let begin = -1;
  let hasMiddle = false;
  lines.forEach((line, index) => {
    if (/^<{7}(?: |$)/.test(line)) [begin, hasMiddle] = [index, false];
    else if (begin >= 0 && /^={7}$/.test(line.trimEnd())) hasMiddle = true;
    else if (begin >= 0 && hasMiddle && /^>{7}(?: |$)/.test(line)) {
      faults.push({
        ...{ rule: 'MERGE_CONFLICT', severity: 'critical', isHard: true },
        text: 'These lines have two versions: a merge was not finished.',
        remedy: 'Keep one of them and remove the marks.',
        place: { line_start: begin + 1, line_end: index + 1 },
        words: lines.slice(begin, index + 1).join(' '),
      });
      begin = -1;
    }
  });
  return faults;
}
