import { z } from 'zod';
import type { Draft } from './draft.js';

/** Longer ones list data. */
const manifestCharsMax = 200_000;
/** Of one package or project. */
const entriesMax = 500;

const packageShape = z.looseObject({
  name: z.string(),
  source: z.string().optional().catch(undefined),
  module: z.string().optional().catch(undefined),
  main: z.string().optional().catch(undefined),
  types: z.string().optional().catch(undefined),
  exports: z.unknown().optional(),
});
const projectShape = z.looseObject({
  compilerOptions: z.looseObject({
    baseUrl: z.string().optional(),
    paths: z.record(z.string(), z.array(z.string())).optional(),
  }),
});

/** What a package or a project of JavaScript calls its modules: `package` its own name, `alias` a name and a path. */
export function mineManifest(draft: Draft): void {
  const { text } = draft;
  if (text.length > manifestCharsMax || !/^\s*(?:\/[/*]|\{)/.test(text)) return;
  const written = parsed(text);
  const its = packageShape.safeParse(written).data;
  const project = projectShape.safeParse(written).data?.compilerOptions;
  const aliases = its === undefined ? pathsOf(project) : entriesOf(its);
  if (its !== undefined) draft.type(undefined, 'package', its.name);
  for (const [name, path] of aliases.slice(0, entriesMax))
    draft.type(undefined, 'alias', name, path);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    try {
      return JSON.parse(withoutComments(text));
    } catch {
      return undefined;
    }
  }
}

/** Projects may hold comments, and commas at the end of lists. */
function withoutComments(text: string): string {
  return text
    .replace(
      /("(?:[^"\\\n]|\\.)*")|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g,
      (_, quoted?: string) => quoted ?? ' ',
    )
    .replace(/,(\s*[}\]])/g, '$1');
}

type Entry = [name: string, path: string];

function entriesOf(its: z.infer<typeof packageShape>): Entry[] {
  const main = [its.source, its.module, its.main, its.types];
  return [
    ...exportsOf(its.exports),
    ...main.flatMap((path): Entry[] => (path === undefined ? [] : [['.', path]])),
  ];
}

function exportsOf(exports: unknown): Entry[] {
  if (typeof exports === 'string') return [['.', exports]];
  if (typeof exports !== 'object' || exports === null) return [];
  const entries = Object.entries(exports);
  const isByPath = entries.some(([key]) => key.startsWith('.'));
  return isByPath
    ? entries.flatMap(([key, value]) => stringsIn(value).map((path): Entry => [key, path]))
    : stringsIn(exports).map((path): Entry => ['.', path]);
}

/** Under any condition. */
function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

function pathsOf(project: z.infer<typeof projectShape>['compilerOptions'] | undefined): Entry[] {
  const base = project?.baseUrl === undefined ? '' : `${project.baseUrl.replace(/\/$/, '')}/`;
  const listed = Object.entries(project?.paths ?? {}).flatMap(([pattern, targets]) =>
    targets.map((target): Entry => [pattern, base + target]),
  );
  return base === '' ? listed : [...listed, ['*', `${base}*`]];
}
