import type { AskingOptions } from '../../lattice/questions.js';
import { testPath } from '../../pgc/analyse/surfaces.js';
import type { Definition as FullDefinition } from '../../pgc/shapes.js';
import type { Ground } from '../ground.js';
import type { Artifact } from '../shapes.js';
import { readMarkdown } from '../artifact/markdown.js';
import { foldersOf } from '../artifact/tree-ground.js';
import { placeOf } from '../claims/places.js';
import { pathIn, referenceOfCode, referencesInText } from '../claims/references.js';
import { codeLanguageOf, type SourceCode } from '../../pgc/mine/code-reader.js';
import { impactLimits } from './impact.js';
import { listed } from './phrases.js';

export type Definition = Pick<
  FullDefinition,
  'symbol' | 'kind' | 'file_path' | 'line' | 'line_end'
>;

/** What an artifact is about, before the index is asked about it. */
export interface Subject {
  definitions: Definition[];
  files: string[];
  /** As it is written in the artifact → ids: `path#name`, or a path. */
  named: Map<string, string[]>;
  unable: string[];
}

const empty = (): Subject => ({ definitions: [], files: [], named: new Map(), unable: [] });

type Ask = <T>(work: (options: AskingOptions) => Promise<T>) => Promise<T | undefined>;

const symbolCharsMin = 3;
const partKinds = new Set(['function', 'method', 'macro', 'class']);
/** The functions of a source file, the longest where there are too many. `code` is the file as the tree has it. */
export async function subjectOfSource(
  { path }: Artifact,
  code: SourceCode | undefined,
  ask: Ask,
  ground: Ground,
): Promise<Subject> {
  const subject = empty();
  subject.files.push(path);
  const request = { symbol: path, max_depth: 1, direction: 'up' as const };
  const answer = await ask((options) => ground.analyses.blastRadius(request, options));
  const inFile = (answer?.targets ?? []).filter((each) => each.file_path === path);
  const tested = inFile.filter(({ role }) => role !== 'test');
  const targets = tested.length > 0 ? tested : inFile;
  if (targets.length === 0)
    subject.unable.push(`to name the functions of ${path}: the index has none of them`);
  const functions = targets.filter(({ kind }) => kind === 'function' || kind === 'method');
  const parts =
    functions.length > 0 ? functions : targets.filter(({ kind }) => partKinds.has(kind));
  const sized = parts.map(({ symbol, kind, line }): Definition => {
    const fact = code?.facts.symbols.find(
      (each) => each.name === symbol && each.line_start === line,
    );
    const { line_end = line } = fact ?? {};
    return { symbol, kind, file_path: path, line, line_end };
  });
  subject.definitions = sized
    .sort((one, other) => other.line_end - other.line - (one.line_end - one.line))
    .slice(0, impactLimits.components)
    .sort((one, other) => one.line - other.line);
  const taken = subject.definitions.length;
  if (taken < parts.length)
    subject.unable.push(
      `to look at ${parts.length - taken} of ${parts.length} functions: the ${taken} longest were taken`,
    );
  for (const { symbol } of subject.definitions) put(subject.named, symbol, `${path}#${symbol}`);
  return subject;
}

/** What a document names and the index knows: the most often named first. */
export async function subjectOfDocument(
  artifact: Artifact,
  ground: Ground,
  ask: Ask,
): Promise<Subject> {
  const subject = empty();
  const paths = await ground.paths();
  const tree = { artifact: artifact.path, paths: new Set(paths), folders: foldersOf(paths) };
  const names = namesIn(artifact);
  if (names.length > impactLimits.names)
    subject.unable.push(
      `to look up ${names.length - impactLimits.names} of ${names.length} names of code: those named most often were taken`,
    );
  const ambiguous: string[] = [];
  for (const name of names.slice(0, impactLimits.names)) {
    const file = fileOf(name, tree);
    if (file !== undefined) {
      if (!subject.files.includes(file) && codeLanguageOf(file) !== undefined)
        subject.files.push(file);
      put(subject.named, name, file);
      continue;
    }
    const symbol = symbolOf(name);
    if (symbol === undefined) continue;
    const known = await ask((options) => ground.questions.callers({ symbol }, options));
    const found = (known?.definitions ?? []).filter(
      (each) => !each.declaration && !testPath.test(each.file_path),
    );
    if (found.length > impactLimits.definitions) ambiguous.push(name);
    else
      for (const each of found) {
        const id = `${each.file_path}#${each.symbol}`;
        put(subject.named, name, id);
        if (!subject.definitions.some((its) => `${its.file_path}#${its.symbol}` === id))
          subject.definitions.push(each);
      }
  }
  if (ambiguous.length > 0)
    subject.unable.push(
      `to decide what ${listed(
        ambiguous.map((each) => `\`${each}\``),
        6,
      )} mean: each has more than ${impactLimits.definitions} definitions`,
    );
  return subject;
}

/** Code spans, and names with brackets in prose; the most often named first, then in order of the text. */
function namesIn({ path, text }: Artifact): string[] {
  const counts = new Map<string, number>();
  const note = (name: string): void => {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };
  for (const { pieces } of readMarkdown(path, text).passages)
    for (const piece of pieces)
      if (piece.type === 'code') note(piece.text.trim());
      else if (piece.type === 'text')
        for (const { reference } of referencesInText(piece.text))
          if (reference.type === 'symbol' && reference.symbol.isCall) note(reference.symbol.name);
  return [...counts]
    .filter(([name]) => symbolOf(name) !== undefined || /[/.]/.test(name))
    .sort(([, one], [, other]) => other - one)
    .map(([name]) => name);
}

/** `foo()`, `a.foo`, `path#foo`; undefined: nothing that the index could know. */
function symbolOf(name: string): string | undefined {
  if (/^[\w./-]+#[\w$]+$/.test(name)) return name;
  const reference = referenceOfCode(name);
  if (reference?.type !== 'symbol') return undefined;
  const { name: last, container, isCall } = reference.symbol;
  // A word in small letters may be anything; a name of code has a mark of one.
  const isMarked = isCall || container !== '' || /[A-Z_$#]/.test(last);
  if (!isMarked || last.length < symbolCharsMin) return undefined;
  return container === '' || /^(?:this|self)$/.test(container) ? last : `${container}.${last}`;
}

/** Where the name is no path, only a file beside the document is meant: tables of modules have their stems. */
function fileOf(name: string, tree: Parameters<typeof placeOf>[0]): string | undefined {
  const path = pathIn(name);
  const place = placeOf(tree, { ...path, isLink: !/[/.]/.test(path.path) });
  return place.is === 'file' ? place.file : undefined;
}

function put(map: Map<string, string[]>, key: string, value: string): void {
  const before = map.get(key) ?? [];
  if (!before.includes(value)) map.set(key, [...before, value]);
}
