import { parse as parseJson, type ParseError } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { withoutValue, withValue } from './json-text.js';

/** Puts one thing of ours into a text of the user, and takes it out again; all else stays as it was written. */
export interface Edit {
  /** The same text, where it is in there. Throws Refusal. */
  into(text: string): string;
  /** By its form alone; the same text, where it is not in there. Throws Refusal. */
  outOf(text: string): string;
}

/** Why a file is left as it is, in words. */
export class Refusal extends Error {}

type Path = readonly [string, ...string[]];

/** `valueOf` says what is to stand there, from what does; it throws Refusal for what is not ours. */
export interface JsonValue {
  path: Path;
  valueOf: (found: unknown) => unknown;
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
    outOf(text) {
      if (text.trim() === '') return text;
      return values.reduce((before, { path, valueOf }) => {
        const found = jsonAt(before, path);
        if (found === undefined) return before;
        valueOf(found);
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
    const from = text.indexOf(open);
    if (from === -1) return undefined;
    const end = text.indexOf(close, from);
    if (end === -1) throw new Refusal(`the line "${close}" is missing`);
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
    outOf(text) {
      const after = block.outOf(text);
      if (after === text && found(text) !== undefined)
        throw new Refusal(`${path.join('.')} was not written by sigma setup: take it out by hand`);
      return after;
    },
  };
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
