import { conceptsIn, type Question } from '../search/question/question.js';
import { beginningWithout } from '../mine/items/redaction.js';
import type { OverlayItem } from '../overlay/overlay-file.js';
import type { Citation, Evidence, ExcerptLine, FlowEdge } from '../shapes.js';
import { certaintyOf, targetsOfCall } from '../bind/call-graph.js';
import { siteCount } from '../bind/index-cache.js';
import type { CallRow, ShardIndex } from '../format/shard-index.js';
import type { Excerpts } from './citation.js';
import { bodyLinesMax, excerptLines, plainLines, type Sought } from './deciding.js';
import { codeFrom } from './doc-lines.js';
import { documented, short } from './said.js';

/** Words of the question that are named as the reason. */
const wordsMax = 8;
/** Lines before and after a line that is evidence by itself. */
const around = 1;

const kindWords: Record<string, string> = { struct: 'structure' };

/** A citation of a definition, or of what lies outside all symbols of a file. */
export function symbolEvidence(reading: Reading, document: number, citation: Citation): Unnumbered {
  const { index, excerpts, sought } = reading;
  const isFile = document >= index.symbolCount;
  if (isFile) {
    const row = index.file(document - index.symbolCount);
    const lines = excerpts.lines(row, 1, bodyLinesMax) ?? [];
    const excerpt = excerptLines(lines, 1, sought);
    return { ...citation, kind: 'file', name: '', container: '', said: '', excerpt, why: [] };
  }
  const row = index.symbol(document);
  return {
    ...citation,
    kind: kindWords[row.kind] ?? row.kind,
    name: row.name,
    container: row.container,
    said: documented(row.doc, row.name, citation.content),
    excerpt: bodyExcerpt(reading, document, citation, []),
    why: [],
  };
}

/** What is shown of a symbol. `told`: lines of it that the flow names. */
export function bodyExcerpt(
  { index, excerpts, sought }: Reading,
  symbol: number,
  citation: Pick<Citation, 'line_start'>,
  told: readonly number[],
): ExcerptLine[] {
  const row = index.symbol(symbol);
  const from = bodyFrom(citation, row.line_start);
  const to = Math.min(row.line_end, from + bodyLinesMax);
  const lines = excerpts.lines(index.file(row.file), from, to) ?? [];
  const leads = [...told, ...stepsOf(index, symbol)];
  return excerptLines(lines, from, sought, { code: codeFrom(lines), leads });
}

/**
 * The lines on which a function calls what the code base defines, each callee once. Rare names come first: a helper that is
 * called everywhere says little of who calls it.
 */
function stepsOf(index: ShardIndex, symbol: number): number[] {
  const lines = new Map<string, number>();
  for (const call of index.callsFrom(symbol)) {
    if (lines.has(call.callee)) continue;
    const { inside, lookups } = targetsOfCall(index, call);
    if (inside.length + lookups.length > 0) lines.set(call.callee, call.line);
  }
  const sites = (name: string): number => siteCount(index, name);
  return [...lines].sort(([one], [other]) => sites(one) - sites(other)).map(([, line]) => line);
}

/** A cited comment stands before the definition, whose lines are shown. */
function bodyFrom({ line_start }: Pick<Citation, 'line_start'>, definition: number): number {
  return Math.max(line_start, definition);
}

/** A citation of a finding or a section. `passage`: what of its lines answers. */
export function itemEvidence(
  { excerpts }: Reading,
  item: OverlayItem,
  citation: Citation,
  passage: string | undefined,
): Unnumbered {
  const file = { path: item.file_path, blob: item.blob };
  const { line_start } = citation;
  const lines = excerpts.lines(file, line_start, Math.max(line_start, item.line_end)) ?? [];
  const weight = [item.severity, item.cwe].filter((each) => each !== '').join(', ');
  return {
    ...citation,
    kind: item.rule.replaceAll('-', ' '),
    // The title of a section may show a credential.
    name: short(item.symbol),
    container: '',
    said: short((passage ?? item.text).trim()),
    excerpt: plainLines(lines, line_start),
    why: weight === '' ? [] : [weight],
  };
}

/** A citation of one line that decides by itself: a call, or the print of a message. */
export function lineEvidence(
  { excerpts }: Reading,
  citation: Citation,
  { kind, name, container }: { kind: string; name: string; container: string },
): Unnumbered {
  const { file_path, blob, line_start: line } = citation;
  const first = Math.max(1, line - around);
  const lines = excerpts.lines({ path: file_path, blob }, first, line + around) ?? [];
  const excerpt = plainLines(lines, first).map((each) => ({
    ...each,
    decides: each.line === line,
  }));
  return { ...citation, kind, name, container, said: '', excerpt, why: [] };
}

/** What evidence is made from. */
export interface Reading {
  index: ShardIndex;
  excerpts: Excerpts;
  sought: Sought;
}

export type Unnumbered = Omit<Evidence, 'id'>;

/** Why a hit is here: the question names it, or has words in common with it. */
export function reasons(question: Question, isNamed: boolean, text: string): string[] {
  const shared = [...conceptsIn(question, text).keys()].flatMap(
    (at) => question.concepts[at]?.word ?? [],
  );
  // A part of an identifier says nothing beside the whole.
  const isPart = (word: string): boolean =>
    shared.some((each) => each !== word && each.toLowerCase().includes(word.toLowerCase()));
  const whole = [...new Set(shared)].filter((word) => !isPart(word));
  const words = whole.slice(0, wordsMax).join(', ');
  return [
    ...(isNamed ? ['the question names it'] : []),
    ...(words === '' ? [] : [`words: ${beginningWithout(words, 200)}`]),
  ];
}

/** A call as an edge, exact where it means one definition. `meant`: which of its targets, if not the first. */
export function edgeOf(
  index: ShardIndex,
  caller: string,
  call: CallRow,
  evidence: number,
  meant?: number,
): FlowEdge {
  const { inside, binding } = targetsOfCall(index, call);
  const target = meant ?? inside[0];
  const row = target === undefined ? undefined : index.symbol(target);
  return {
    from: caller,
    to: call.callee,
    site: `${index.file(call.file).path}:${call.line}`,
    kind: 'call',
    certainty: certaintyOf(binding, inside.length),
    agent: index.info.agent,
    evidence,
    definition: row === undefined ? '' : `${index.file(row.file).path}:${row.line_start}`,
  };
}
