import path from 'node:path/posix';
import { parse } from 'yaml';
import type { Arguments } from './command-pattern.js';
import { cut, word, type Spot } from './examination.js';
import type { Word } from './shell.js';
import type { Unwrapper } from './unwrap.js';

/** What the readers of the tree share: the command that is asked about, and how what they find in a file is judged. */

/** Files of one folder that are looked through for directives, and names of one list that are followed. */
export const listedMax = 400;
/** Parts of a build that are read, each by its own file. */
export const partsMax = 8;

export interface Told {
  program: string;
  given: Arguments;
  words: readonly Word[];
  unwrapper: Unwrapper;
  spot: Spot;
}

/** A script of the tree in a language; nothing where there is none. */
export async function script(file: string, language: string, told: Told): Promise<boolean> {
  const { unwrapper, spot } = told;
  const text = await unwrapper.exam.read(word(file), spot);
  if (text === undefined) return false;
  await unwrapper.interpreting.known(text, language, within(told, file));
  return true;
}

export function within({ unwrapper, spot }: Told, file: string): Spot {
  const place = unwrapper.exam.place(file, spot);
  const own = place.kind === 'inside' ? place.path : spot.file;
  return unwrapper.inner(spot, file, { file: own, input: { kind: 'none' } });
}

export async function shell(text: string, told: Told, file: string): Promise<void> {
  const own = within(told, file);
  const scope = told.unwrapper.fresh(own, { name: '' });
  await told.unwrapper.shell(text, { ...own, scope });
}

export async function argv(words: readonly string[], told: Told, file: string): Promise<void> {
  const own = within(told, file);
  const scope = told.unwrapper.fresh(own, { name: '' });
  const given = words.map((text) => ({ text, isStatic: !/[$%]\{|[$%]\(|\{\{/.test(text) }));
  await told.unwrapper.run(given, { ...own, scope });
}

export function operandsOf({ given }: Told): string[] {
  return given.operands.slice(1).map(({ text }) => text);
}

export function canList({ unwrapper }: Told): Promise<boolean> {
  return Promise.resolve(unwrapper.exam.inspector?.list !== undefined);
}

/** Files of a folder, of `./...` of all below it. */
export async function listed(target: string, { unwrapper, spot }: Told): Promise<string[]> {
  const { exam } = unwrapper;
  const isDeep = target.endsWith('...');
  const folder = target.replace(/\/?\.\.\.$/, '') || '.';
  const place = exam.place(folder, spot);
  if (place.kind !== 'inside' || exam.inspector?.list === undefined) return [];
  const found = await exam.inspector.list(place.path, isDeep, listedMax + 1);
  if (found === undefined || found.length > listedMax) {
    if (found !== undefined)
      exam.opaque('too-many-scripts', target, spot, 'more files than are looked at');
    return [];
  }
  const cwd = spot.scope.cwd ?? '';
  return found.map((each) => path.relative(cwd === '' ? '.' : cwd, each));
}

export async function firstOf(
  files: readonly string[],
  { unwrapper, spot }: Told,
): Promise<{ text: string; file: string } | undefined> {
  for (const file of files) {
    const text = await unwrapper.exam.read(word(file), spot);
    if (text !== undefined) return { text, file };
  }
  return undefined;
}

/** `flywayClean` is told by its name where nothing else tells it; what a build makes is cleaned by every build. */
export function namedTask(name: string, { unwrapper, words, spot }: Told): void {
  const { exam } = unwrapper;
  const plain = name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
  if (/^(?:clean|clean-(?:test|build|jar|compile.*|eclipse|idea)|clean:clean)$/.test(plain)) return;
  if (!exam.book.riskyTask.test(plain)) return;
  exam.found({
    ...{ signal: 'Irreversibility', rule: 'named-task', words, spot },
    says: `a task named ${cut(name, 80)}`,
  });
}

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function yamlOf(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 0 });
  } catch {
    return undefined;
  }
}

export function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

export function objectAt(value: unknown, key: string): Record<string, unknown> {
  return record(record(value)[key]);
}

export function textAt(value: unknown, key: string): string {
  const found = record(value)[key];
  return typeof found === 'string' ? found : '';
}
