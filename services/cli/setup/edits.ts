import { parse as parseJson, type ParseError } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { withoutValue, withValue } from './json-text.js';

/** Puts one thing of ours into a text of the user, and takes it out again; all else stays as it was written. */
export interface Edit {
  /** The same text, where it is in there. Throws Refusal. */
  into(text: string): string;
  /**
   * By its form; the same text, where it is not in there. `isWritten`: it is known to be ours, with what the user has changed in it since.
   * Throws Refusal.
   */
  outOf(text: string, isWritten: boolean): string;
}

/** Why a file is left as it is, in words. */
export class Refusal extends Error {}

type Path = readonly [string, ...string[]];

/** `valueOf` says what is to stand there, from what does; it throws Refusal for what is not ours. `written`: what stands there when nothing did. */
export interface JsonValue {
  path: Path;
  valueOf: (found: unknown) => unknown;
  written: unknown;
}

export function jsonEdit(values: readonly JsonValue[]): Edit {
  return {
    into(text) {
      const isBlank = text.trim() === '';
      return values.reduce(
        (before, { path, valueOf }) => {
          const found = jsonAt(before, path);
          const value = valueOf(found);
          return value === found || isSame(value, found) ? before : changed(before, path, value);
        },
        isBlank ? '{}\n' : text,
      );
    },
    outOf(text, isWritten) {
      if (text.trim() === '') return text;
      return values.reduce((before, { path, valueOf, written }) => {
        const found = jsonAt(before, path);
        if (found === undefined) return before;
        if (isWritten) valueOf(found);
        else if (!isSame(found, written)) throw notOurs(path);
        return changed(before, path, undefined);
      }, text);
    },
  };
}

function changed(text: string, path: Path, value: unknown): string {
  const { bom, body } = withoutMark(text);
  return bom + (value === undefined ? withoutValue(body, path) : withValue(body, path, value));
}

function jsonAt(text: string, path: Path): unknown {
  const errors: ParseError[] = [];
  const root: unknown = parseJson(withoutMark(text).body, errors, { allowTrailingComma: true });
  if (errors.length > 0) throw new Refusal('it is no JSON that can be read');
  return at(root, path);
}

function at(root: unknown, path: Path): unknown {
  let value = root;
  for (const key of path) {
    if (value === undefined) return undefined;
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new Refusal(`there is something else where ${path.join('.')} belongs`);
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

export interface Marks {
  open: string;
  close: string;
}

/** Lines of ours between two marks, at the end of a file. */
export function blockEdit({ open, close }: Marks, lines: readonly string[]): Edit {
  const place = (text: string): [from: number, to: number] | undefined => {
    const [from, ...others] = linesOf(text, open);
    const ends = linesOf(text, close);
    if (from === undefined && ends.length === 0) return undefined;
    if (others.length > 0 || ends.length > 1)
      throw new Refusal(`the lines "${open}" and "${close}" stand there more than once`);
    const [end] = ends;
    if (end === undefined || from === undefined || end < from)
      throw new Refusal(`the line "${end === undefined ? close : open}" is missing`);
    const line = text.indexOf('\n', end);
    return [from, line === -1 ? text.length : line + 1];
  };
  return {
    into(text) {
      const eol = eolOf(text);
      const block = [open, ...lines, close, ''].join(eol);
      const found = place(text);
      if (found !== undefined) return text.slice(0, found[0]) + block + text.slice(found[1]);
      if (text === '') return block;
      return text + (text.endsWith('\n') ? eol : eol + eol) + block;
    },
    outOf(text) {
      const found = place(text);
      if (found === undefined) return text;
      return text.slice(0, found[0]).replace(/(\r?\n)\r?\n$/, '$1') + text.slice(found[1]);
    },
  };
}

/** Where lines begin that are this one and nothing else: a sentence may speak of it. */
function linesOf(text: string, line: string): number[] {
  const found: number[] = [];
  let at = 0;
  for (const each of text.split('\n')) {
    if (each.trimEnd() === line) found.push(at);
    at += each.length + 1;
  }
  return found;
}

/** A table of a TOML file, as text: `valueOf` as for JSON. */
export function tomlEdit(block: Edit, { path, valueOf }: JsonValue): Edit {
  const found = (text: string): unknown => at(readToml(text), path);
  return {
    into(text) {
      const value = found(text);
      if (value !== undefined) return valueOf(value) === value ? text : block.into(text);
      const after = block.into(text);
      if (found(after) === undefined) throw new Refusal(`${path.join('.')} has no place in it`);
      return after;
    },
    outOf(text, isWritten) {
      const after = block.outOf(text, isWritten);
      if (after === text && found(text) !== undefined) throw notOurs(path);
      return after;
    },
  };
}

function notOurs(path: Path): Refusal {
  return new Refusal(`${path.join('.')} is not as sigma setup writes it: take it out by hand`);
}

function readToml(text: string): unknown {
  try {
    return parseToml(text);
  } catch {
    throw new Refusal('it is no TOML that can be read, or takes no further table');
  }
}

function withoutMark(text: string): { bom: string; body: string } {
  return text.startsWith('\ufeff')
    ? { bom: '\ufeff', body: text.slice(1) }
    : { bom: '', body: text };
}

function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
