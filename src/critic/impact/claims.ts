import { readMarkdown } from '../artifact/markdown.js';
import type { Artifact } from '../shapes.js';
import type { CodeView } from './code-view.js';
import type { Component, Impact } from './impact.js';

/** A sentence of the artifact, of a document or of the comments of a source file. */
export interface Said {
  text: string;
  line_start: number;
  line_end: number;
  /** Of a table: its cells together are no sentence. */
  isRow: boolean;
  /** The section it stands in, by the lines of the text. */
  section: { line_start: number; line_end: number; title: string };
  /** What it speaks of, as far as the index knows it. */
  about: Component[];
}

/** Sentences and cells of tables, quotes aside: what is quoted is said by somebody else. */
export function saidIn(artifact: Artifact, impact: Impact): Said[] {
  const { sentences, rows, parts, lines } = readMarkdown(artifact.path, artifact.text);
  const cells = rows
    .filter(({ isHeader }) => !isHeader)
    .map(({ cells: texts, line }) => ({
      text: texts.join(' — '),
      line_start: line,
      line_end: line,
      isRow: true,
    }));
  const spoken = sentences
    .filter(({ isQuote }) => !isQuote)
    .map((each) => ({ ...each, isRow: false }));
  const all = [...spoken, ...cells].sort((one, other) => one.line_start - other.line_start);
  return all.map(({ text, line_start, line_end, isRow }) => {
    const part = parts.findLast((each) => each.line_start <= line_start);
    const section = {
      line_start: part?.line_start ?? 1,
      line_end: part?.line_end ?? lines.length,
      title: part?.path.at(-1) ?? '',
    };
    const about = impact.isCode ? documented(impact, line_start, line_end) : meantIn(text, impact);
    return { text, line_start, line_end, isRow, section, about };
  });
}

/** What the words of a document name. */
export function meantIn(text: string, { named, components }: Impact): Component[] {
  const byId = new Map(components.map((each) => [each.id, each]));
  const ids = namesIn(text).flatMap((name) => named.get(name) ?? []);
  return [...new Set(ids)].flatMap((id) => byId.get(id) ?? []);
}

/** The part of a sentence that a place stands in: what another part names is not what this one bounds. */
export function clauseAt(text: string, at: number): string {
  const plain = text.replace(/`{1,2}[^`\n]{1,200}`{1,2}|\w{1,80}\(\)/g, (code) =>
    '_'.repeat(code.length),
  );
  const ends = [...plain.matchAll(/[;:](?=\s)|[()]|[.!?](?=\s)/g)].map(({ index }) => index);
  const from = ends.findLast((end) => end < at) ?? -1;
  const to = ends.find((end) => end >= at) ?? text.length;
  return text.slice(from + 1, to);
}

function namesIn(text: string): string[] {
  return [
    ...Array.from(text.matchAll(/`{1,2}([^`\n]{1,200})`{1,2}/g), ([, name = '']) => name.trim()),
    ...Array.from(text.matchAll(/(?<![`\w.])([A-Za-z_]\w{2,80})\(\)/g), ([, name = '']) => name),
  ];
}

/** A remark stands in the function that it is about, or right above it: between them only more of the remark. */
function documented({ components, files }: Impact, from: number, to: number): Component[] {
  const inside = components.filter(({ line, line_end }) => line <= from && to <= line_end);
  if (inside.length > 0) return inside.slice(-1);
  const view = files[0]?.view;
  const remark = view?.comments.find((each) => each.line_start <= from && to <= each.line_end);
  if (remark === undefined) return [];
  return components.filter(({ line }) => line === remark.line_end + 1);
}

const numbersKnown = new WeakMap<CodeView, ReadonlyMap<number, number>>();

/** Values of the numbers that stand in code, each with the first line it stands in. */
export function numbersOf(view: CodeView): ReadonlyMap<number, number> {
  const before = numbersKnown.get(view);
  if (before !== undefined) return before;
  const values = new Map<number, number>();
  numbersKnown.set(view, values);
  const put = (value: number, at: number): void => {
    if (!values.has(value)) values.set(value, view.lineOf(at));
  };
  const number =
    /(?<![\w.])(\d[\d_]{0,20})(?:\s{0,3}\*\s{0,3}(\d[\d_]{0,20}))?(?:\s{0,3}\*\s{0,3}(\d[\d_]{0,20}))?|\b1[uUlL]{0,3}\s{0,3}<<\s{0,3}(\d{1,2})\b/g;
  for (const { 1: one, 2: two, 3: three, 4: shift, index } of view.code.matchAll(number)) {
    if (shift !== undefined) put(2 ** Number(shift), index);
    const factors = [one, two, three].flatMap((each) =>
      each === undefined ? [] : Number(each.replaceAll('_', '')),
    );
    for (const each of factors) put(each, index);
    if (factors.length > 0)
      put(
        factors.reduce((product, each) => product * each, 1),
        index,
      );
  }
  return values;
}

const scales: Readonly<Record<string, readonly number[]>> = {
  ...{ kb: [1_000, 1_024], kib: [1_024], mb: [1e6, 1_048_576], mib: [1_048_576] },
  ...{ gb: [1e9, 2 ** 30], gib: [2 ** 30], s: [1_000], seconds: [1_000], second: [1_000] },
  ...{ min: [60, 60_000], minutes: [60, 60_000], minute: [60, 60_000], hours: [3_600, 3_600_000] },
};
const bounded =
  /\b(?:at most|no more than|not more than|limited to|a maximum of|no fewer than|not longer than)\s+(?:about\s+)?(\d[\d_,  ]{0,15}\d|\d)(?![\d.]*\w*[-:/])\s?(KiB|KB|MiB|MB|GiB|GB|seconds?|s|minutes?|min|hours)?\b/gi;

/** Bounds that a sentence states, with every value under which code may hold them; small ones stand everywhere. */
export function boundsIn(text: string): { stated: string; at: number; values: number[] }[] {
  return Array.from(
    text.matchAll(bounded),
    ({ 0: stated, 1: digits = '', 2: unit = '', index }) => {
      const value = Number(digits.replace(/[_,\s]/g, ''));
      const more = (scales[unit.toLowerCase()] ?? []).map((scale) => value * scale);
      return { stated: stated.trim(), at: index, values: [value, ...more] };
    },
  ).filter(({ values }) => (values[0] ?? 0) > 2);
}
