import { normalised } from '../finding.js';
import { slugOf } from '../artifact/markdown-anchors.js';
import type { MarkdownText, Part, Place } from '../artifact/markdown.js';
import { at, quoted, withoutCode, type Check, type Checked, type Subject } from './check.js';
import type { Artifact } from '../shapes.js';

/** Empty sections, repeated headings and items, and the sections that a decision record needs. */
export const structure: Check = (subject) => {
  if (subject.read.isCode) return [];
  const { read } = subject;
  return [emptySections(read), sameTitles(read), saidTwice(read), ...decisionRecord(subject)];
};

function emptySections(read: MarkdownText): Checked {
  const { parts, lines } = read;
  const withHeading = parts.filter(({ heading }) => heading !== undefined);
  const faults = withHeading.flatMap((part, index) => {
    const next = withHeading[index + 1]?.heading;
    const level = part.heading?.level ?? 0;
    // The sections below it hold its text.
    if (next !== undefined && next.level > level) return [];
    if (hasText(lines, part)) return [];
    const title = part.heading?.title ?? '';
    return [
      {
        ...{ rule: 'SECTION_EMPTY', severity: 'major' as const, words: part.path.join(' / ') },
        text: `The section ${quoted(title)} holds nothing.`,
        remedy: 'Fill it, or remove it.',
        place: part.heading ?? at(part.line_start),
      },
    ];
  });
  // A section that is not empty may still lack what it should say.
  return { aspect: 'completeness', what: 'sections that hold something', looked: 0, faults };
}

function hasText(lines: readonly string[], part: Part): boolean {
  const from = part.heading?.line_end ?? part.line_start - 1;
  return lines.slice(from, part.line_end).some((line) => /[\p{L}\p{N}<!|]/u.test(line));
}

function sameTitles({ parts }: MarkdownText): Checked {
  const first = new Map<string, Part>();
  const faults = parts.flatMap((part) => {
    if (part.heading === undefined) return [];
    const name = JSON.stringify(part.path.map(slugOf));
    const before = first.get(name);
    if (before?.heading === undefined) {
      first.set(name, part);
      return [];
    }
    const { title } = part.heading;
    return [
      {
        ...{ rule: 'HEADING_TWICE', severity: 'minor' as const, words: part.path.join(' / ') },
        text: `The heading ${quoted(title)} is in line ${before.heading.line_start} already, under the same heading: a link leads to the first.`,
        remedy: 'Rename one of them, or merge them.',
        place: part.heading,
      },
    ];
  });
  // Different headings prove nothing about the text below them.
  return { aspect: 'consistency', what: 'headings of their own', looked: 0, faults };
}

/** Words; manuals repeat shorter items on purpose. */
const twiceWordsMin = 12;

/** An item that repeats an earlier one word for word. */
function saidTwice({ items }: MarkdownText): Checked {
  const first = new Map<string, number>();
  const faults = items.flatMap(({ text, line_start, line_end }) => {
    const words = normalised(text);
    const isProse = !/\]\(|https?:|^[*_]*`|\{|^[\w.]+(?::| [-–] )/.test(text);
    if (!isProse || words.split(' ').length < twiceWordsMin) return [];
    const before = first.get(words);
    if (before === undefined) {
      first.set(words, line_start);
      return [];
    }
    return [
      {
        ...{ rule: 'SAID_TWICE', severity: 'minor' as const, words: text },
        text: `${quoted(text)} is in line ${before} already, word for word.`,
        remedy: 'Keep one of them.',
        place: { line_start, line_end },
      },
    ];
  });
  return { aspect: 'clarity', what: 'items that are said once', looked: 0, faults };
}

/**
 * Sections of a decision record (M. Nygard, "Documenting Architecture Decisions", 2011), under the names that this form
 * and MADR give them.
 */
const recordSections: readonly { name: string; titles: RegExp }[] = [
  { name: 'context', titles: /\b(?:context|background|problem|motivation|forces)\b/i },
  { name: 'decision', titles: /\b(?:decisions?|resolution|outcome|chosen)\b/i },
  { name: 'consequences', titles: /\b(?:consequences?|implications?|impact|trade-?offs?)\b/i },
];

/** By its folder or its title. */
export function isDecisionRecord({ path }: Pick<Artifact, 'path'>, read: MarkdownText): boolean {
  const title = read.headings[0]?.title ?? '';
  return /(?:^|\/)(?:adrs?|decisions?)(?:\/|$)/i.test(path) || /\bADR\b/.test(`${title} ${path}`);
}

function decisionRecord({ artifact, read, target }: Subject): Checked[] {
  const isRecord = isDecisionRecord(artifact, read);
  if (target !== 'TGT-DEC' || !isRecord || read.headings.length === 0) return [];
  // Its title may hold any of these words.
  const titles = read.headings.slice(read.headings[0]?.level === 1 ? 1 : 0);
  const missing = recordSections.filter(
    ({ titles: names }) => !titles.some((heading) => names.test(heading.title)),
  );
  const faults = missing.map(({ name }) => ({
    ...{ rule: 'SECTION_MISSING', severity: 'major' as const, words: name },
    text: `A decision record needs a section on its ${name}; no heading names one.`,
    remedy: `Add a section "${name}".`,
    place: at(read.headings[0]?.line_start ?? 1),
  }));
  const what = 'sections of a record of a decision';
  return [{ aspect: 'completeness', what, looked: recordSections.length, faults }];
}

/** Marks of text that is still missing. */
const placeholder =
  /^(?:[-*\s>(["'_]*)(?:TODO|TBD|TBC|TBA|FIXME|XXX)(?![\w-])|[[(<{]\s?(?:TODO|TBD|TBC|FIXME|XXX|INSERT|FILL IN|YOUR [A-Z ]{2,30}(?: HERE)?)\b[^\])>}]{0,80}[\])>}]|(?:^|\s)(?:TODO|FIXME|TBD)\s?(?:\(\w[^)]{0,40}\))?:|\b(?:still|yet|is|are|remains?) to be (?:defined|determined|decided|specified|announced)\b|^\W*to be (?:defined|determined|decided|specified|announced|written|done)\W*$|\blorem ipsum\b/;

const unfinished = /\b(?:TODO|TBD|TBC|TBA|FIXME|XXX)\b/;

/** Marks of missing text, also in comments of code. */
export const placeholders: Check = ({ read }) => {
  const { sentences, headings, rows, isCode, lines } = read;
  const units = [
    ...sentences,
    ...headings.map(({ title, line_start, line_end }) => ({ text: title, line_start, line_end })),
    ...rows.flatMap(({ cells, line }) => cells.map((text) => ({ text, ...at(line) }))),
  ];
  const faults = units.flatMap(({ text, line_start, line_end }) => {
    if (!placeholder.test(withoutCode(text))) return [];
    return [
      {
        ...{ rule: 'PLACEHOLDER', severity: isCode ? ('minor' as const) : ('major' as const) },
        text: isCode
          ? `A comment says that this is not finished: ${quoted(text.slice(Math.max(0, text.search(unfinished))))}`
          : `Text is missing: ${quoted(text)}`,
        remedy: isCode
          ? 'Finish it, or name the task that will.'
          : 'Write it, or name who writes it, and by when.',
        ...{ place: narrowed(lines, { line_start, line_end }), words: text },
      },
    ];
  });
  // Without marks the text may still be incomplete.
  return [{ aspect: 'completeness', what: 'texts that are not to come', looked: 0, faults }];
};

/** Comments on adjacent lines form one paragraph; only the line with the mark is meant. */
function narrowed(lines: readonly string[], place: Place): Place {
  const its = lines.slice(place.line_start - 1, place.line_end);
  const found = its.findIndex((line) => unfinished.test(line));
  return found < 0 ? place : at(place.line_start + found);
}
