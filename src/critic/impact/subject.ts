import type { AskingOptions } from '../../lattice/questions.js';
import { testPath } from '../../pgc/analyse/surfaces.js';
import type { Definition as FullDefinition } from '../../pgc/shapes.js';
import type { Ground } from '../ground.js';
import type { Artifact } from '../shapes.js';
import { readMarkdown } from '../artifact/markdown.js';
import { codeLanguageOf, type SourceCode } from '../../pgc/mine/code-reader.js';
import { impactLimits } from './impact.js';
import { listed } from './phrases.js';

export type Definition = Pick<
  FullDefinition,
  'symbol' | 'kind' | 'file_path' | 'line' | 'line_end' | 'doc'
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

const partKinds = new Set(['function', 'method', 'macro', 'class']);
/** Names that mean nothing in particular. */
const commonNames = new Set(
  (
    'true false null undefined none string number boolean object array int void char bool self this super ' +
    'name type kind text path file line lines value values data error errors code main test tests get set add run ' +
    'read write open close start stop end init list map key id index size length state status result results ' +
    'src dist lib docs json yaml html http https utf8 node npm git make bash root user key keys'
  ).split(' '),
);
const identifier = /^[A-Za-z_$#][\w$]{2,80}$/;

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
  const answer = await ask((options) => ground.questions.blastRadius(request, options));
  const targets = (answer?.targets ?? []).filter((each) => each.file_path === path);
  if (targets.length === 0)
    subject.unable.push(`to name the functions of ${path}: the index has none of them`);
  const functions = targets.filter(({ kind }) => kind === 'function' || kind === 'method');
  const parts =
    functions.length > 0 ? functions : targets.filter(({ kind }) => partKinds.has(kind));
  const sized = parts.map(({ symbol, kind, line }): Definition => {
    const fact = code?.facts.symbols.find(
      (each) => each.name === symbol && each.line_start === line,
    );
    const { line_end = line, doc = '' } = fact ?? {};
    return { symbol, kind, file_path: path, line, line_end, doc };
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
  const names = namesIn(artifact);
  if (names.length > impactLimits.names)
    subject.unable.push(
      `to look up ${names.length - impactLimits.names} of ${names.length} names of code: those named most often were taken`,
    );
  const ambiguous: string[] = [];
  for (const name of names.slice(0, impactLimits.names)) {
    const file = pathOf(name, artifact.path, paths);
    if (file !== undefined) {
      if (!subject.files.includes(file) && codeLanguageOf(file) !== undefined)
        subject.files.push(file);
      put(subject.named, name, file);
      continue;
    }
    const symbol = symbolOf(name);
    if (symbol === undefined) continue;
    const known = await ask((options) => ground.questions.callers(symbol, options));
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
function namesIn(artifact: Artifact): string[] {
  const counts = new Map<string, number>();
  const note = (name: string): void => {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };
  const { codes, sentences } = readMarkdown(artifact.path, artifact.text);
  for (const { text } of codes) if (text.length <= 200) note(text.trim());
  for (const { text } of sentences)
    for (const [, name = ''] of text.matchAll(/(?<![`\w.])([A-Za-z_]\w{2,80})\(\)/g)) note(name);
  return [...counts]
    .filter(([name]) => symbolOf(name) !== undefined || /[/.]/.test(name))
    .sort(([, one], [, other]) => other - one)
    .map(([name]) => name);
}

/** `foo()`, `a.foo`, `path#foo`; undefined: nothing that the index could know. */
function symbolOf(name: string): string | undefined {
  const plain = name.replace(/\((?:[^()]{0,80})\)$/, '').replace(/^struct\s+/, '');
  if (/^[\w./-]+#[\w$]+$/.test(plain)) return plain;
  const [, container = '', last = ''] =
    /^(?:([\w$]{1,80})(?:\.|::|->))?([\w$#]{1,80})$/.exec(plain) ?? [];
  if (!identifier.test(last) || commonNames.has(last.toLowerCase())) return undefined;
  // A word in small letters may be anything; a name of code has a mark of one.
  const isMarked = /[A-Z_$#]/.test(last.slice(1)) || /^[A-Z]/.test(last) || name.includes('(');
  if (!isMarked && container === '') return undefined;
  return container === '' || /^(?:this|self)$/.test(container) ? last : `${container}.${last}`;
}

/** A file that is named from the root, from where the document is, or by an end that only it has. */
function pathOf(name: string, from: string, paths: readonly string[]): string | undefined {
  const plain = name.replace(/^\.\//, '').replace(/:\d+(?:-\d+)?$/, '');
  if (!/^[\w@.+/-]{3,300}$/.test(plain) || plain.endsWith('/')) return undefined;
  const folder = from.includes('/') ? from.slice(0, from.lastIndexOf('/') + 1) : '';
  const known = new Set(paths);
  for (const each of [plain, `${folder}${plain}`]) if (known.has(each)) return each;
  // The stem of a file beside the document, as tables of modules have it.
  const stem = new RegExp(
    `^${folder.replace(/[^\w/]/g, '\\$&')}${plain.replace(/[^\w/]/g, '\\$&')}\\.\\w{1,5}$`,
  );
  const beside = folder === '' ? [] : paths.filter((each) => stem.test(each));
  if (beside.length === 1) return beside[0];
  if (!/[/.]/.test(plain) || !/\.\w{1,8}$/.test(plain)) return undefined;
  const ends = paths.filter((each) => each.endsWith(`/${plain}`));
  return ends.length === 1 ? ends[0] : undefined;
}

function put(map: Map<string, string[]>, key: string, value: string): void {
  const before = map.get(key) ?? [];
  if (!before.includes(value)) map.set(key, [...before, value]);
}
