import { BusError } from '../../errors/bus-error.js';
import type { CritiqueRequest, Flag } from '../shapes.js';
import { isModeName, type ModeName } from '../strategies.js';
import { dimensionNames, dimensions, isBlank, type ContextWords } from '../select/dimensions.js';

/**
 * The context of a review as Markdown, as it is given to a critic: `## PS CONTEXT` with what is reviewed, and `## ADVERSARIAL
 * CONTEXT` where a review shall be adversarial; then the criteria and the threshold, both optional.
 */

/** Larger than any context that a person writes. */
export const contextBytesMax = 64 * 1024;
const valueCharsMax = 4_096;
const criteriaCharsMax = 4_000;

export interface PsContext {
  ps_id: string;
  entry_id: string;
  /** From 1; undefined: not given. */
  iteration?: number;
  /** Path of the artifact; empty: not given. */
  artifact: string;
  generator: string;
  /** Undefined: there is none, and the review is the plain one. */
  adversarial?: {
    /** Empty: chosen by the context. */
    modes: ModeName[];
    /** As they were given; the selection reads them. Those that were not filled in are absent. */
    words: ContextWords;
    /** Undefined: not given, or null. */
    previous_score?: number;
  };
  /** Markdown; empty: those of the modes. */
  criteria: string;
  /** Undefined: that of the gate. */
  threshold?: number;
  iterations_max?: number;
}

export interface ReadContext {
  context: PsContext;
  warnings: Flag[];
}

const sections = [
  'PS CONTEXT',
  'ADVERSARIAL CONTEXT',
  'EVALUATION CRITERIA',
  'IMPROVEMENT THRESHOLD',
] as const;
type SectionName = (typeof sections)[number];

interface Field {
  name: string;
  value: string;
  line: number;
  /** 1-based, of the value. */
  column: number;
}

/** Fields of a section by their names in lower case, or its text. */
type Found = Map<SectionName, { line: number; fields: Map<string, Field>; text: string[] }>;

/** Throws CRITIC_CONTEXT_INVALID with line and column, MODE_UNKNOWN, TOO_LARGE. */
export function readContext(source: string, file: string): ReadContext {
  const bytes = Buffer.byteLength(source);
  if (bytes > contextBytesMax)
    throw new BusError('TOO_LARGE', { what: file, bytes, limit: contextBytesMax });
  return new Reader(file).read(source);
}

/** The request that a context describes, without the artifact. */
export function requestOf(context: PsContext): Omit<Partial<CritiqueRequest>, 'artifact'> {
  const { ps_id, entry_id, iteration, generator, adversarial, criteria } = context;
  const { threshold, iterations_max } = context;
  return {
    ...{ ps_id, entry_id, generator, criteria },
    modes: adversarial?.modes ?? [],
    is_adversarial: adversarial !== undefined,
    context: adversarial?.words ?? {},
    ...(iteration === undefined ? {} : { iteration }),
    ...(adversarial?.previous_score === undefined
      ? {}
      : { previous_score: adversarial.previous_score }),
    ...(threshold === undefined ? {} : { threshold }),
    ...(iterations_max === undefined ? {} : { iterations_max }),
  };
}

class Reader {
  readonly #file: string;
  readonly #warnings: { line: number; flag: Flag }[] = [];
  /** Placeholders that were not filled in. */
  readonly #open: Field[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  read(source: string): ReadContext {
    const found = this.#sections(source.replace(/^\ufeff/, '').split(/\r?\n/));
    const its = found.get('PS CONTEXT');
    if (its === undefined) throw this.#invalid(1, 1, 'there is no section ## PS CONTEXT');
    const limits = found.get('IMPROVEMENT THRESHOLD')?.fields ?? new Map<string, Field>();
    const context: PsContext = {
      ps_id: this.#text(its.fields, 'PS ID'),
      entry_id: this.#text(its.fields, 'Entry ID'),
      ...present('iteration', this.#whole(its.fields, 'Iteration', 1, 64)),
      artifact: this.#text(its.fields, 'Artifact to Critique'),
      generator: this.#text(its.fields, 'Generator Agent'),
      ...present('adversarial', this.#adversarial(found)),
      criteria: this.#criteria(found),
      ...present('threshold', this.#share(limits, 'Target Score')),
      ...present('iterations_max', this.#whole(limits, 'Max Iterations', 1, 64)),
    };
    this.#unread(found);
    this.#warnOpen();
    const inOrder = [...this.#warnings].sort((a, b) => a.line - b.line);
    return { context, warnings: inOrder.map(({ flag }) => flag) };
  }

  #sections(lines: readonly string[]): Found {
    const found: Found = new Map();
    let now: { line: number; fields: Map<string, Field>; text: string[] } | undefined;
    let fence = '';
    lines.forEach((text, at) => {
      const line = at + 1;
      fence = fenceAfter(fence, text);
      const title = fence === '' ? sectionOf(text) : undefined;
      if (title !== undefined) {
        if (found.has(title)) throw this.#invalid(line, 1, `${title} stands here a second time`);
        now = { line, fields: new Map(), text: [] };
        found.set(title, now);
        return;
      }
      now?.text.push(text);
      const field = fence === '' && now !== undefined ? fieldOf(text, line) : undefined;
      if (field === undefined || now === undefined || now === found.get('EVALUATION CRITERIA'))
        return;
      if (field.value.length > valueCharsMax)
        throw this.#invalid(line, field.column, `longer than ${valueCharsMax} characters`);
      const key = field.name.toLowerCase();
      if (now.fields.has(key)) throw this.#invalid(line, 1, `${field.name} is given twice`);
      now.fields.set(key, field);
    });
    return found;
  }

  #adversarial(found: Found): PsContext['adversarial'] {
    const its = found.get('ADVERSARIAL CONTEXT');
    if (its === undefined) return undefined;
    const words: ContextWords = {};
    for (const each of dimensionNames) {
      const value = take(its.fields, dimensions[each].name)?.value ?? '';
      // What is none of its words, or none at all, the selection replaces, and says so.
      if (!isPlaceholder(value) && !isBlank(value)) words[each] = value;
    }
    return {
      modes: this.#modes(its.fields),
      words,
      ...present('previous_score', this.#share(its.fields, 'Previous Score')),
    };
  }

  #modes(fields: Map<string, Field>): ModeName[] {
    const field = take(fields, 'Mode');
    if (field === undefined) return [];
    if (isPlaceholder(field.value)) {
      this.#unfilled(field);
      return [];
    }
    if (isBlank(field.value)) return [];
    return modesIn(field.value);
  }

  #criteria(found: Found): string {
    const its = found.get('EVALUATION CRITERIA');
    const text = unescaped((its?.text ?? []).join('\n')).trim();
    if (text.length > criteriaCharsMax)
      throw this.#invalid(
        its?.line ?? 1,
        1,
        `criteria are longer than ${criteriaCharsMax} characters`,
      );
    return isPlaceholder(text) ? '' : text;
  }

  #text(fields: Map<string, Field>, name: string): string {
    const field = take(fields, name);
    if (field === undefined) return '';
    if (!isPlaceholder(field.value)) return unquoted(field.value);
    this.#unfilled(field);
    return '';
  }

  /** `2 (1-based)` is 2. */
  #whole(fields: Map<string, Field>, name: string, min: number, max: number): number | undefined {
    const field = take(fields, name);
    if (field === undefined || this.#isOpen(field)) return undefined;
    const value = Number(/^(\d{1,6})(?=$|[\s(])/.exec(unquoted(field.value))?.[1] ?? NaN);
    if (value >= min && value <= max) return value;
    const detail = `${name} must be a whole number from ${min} to ${max}`;
    throw this.#invalid(field.line, field.column, detail);
  }

  #share(fields: Map<string, Field>, name: string): number | undefined {
    const field = take(fields, name);
    if (field === undefined || this.#isOpen(field)) return undefined;
    const value = Number(/^(\d(?:\.\d{1,20})?)(?=$|[\s(])/.exec(unquoted(field.value))?.[1] ?? NaN);
    if (value >= 0 && value <= 1) return value;
    throw this.#invalid(field.line, field.column, `${name} must be a number from 0 to 1, or null`);
  }

  #isOpen(field: Field): boolean {
    if (isPlaceholder(field.value)) {
      this.#unfilled(field);
      return true;
    }
    return isBlank(field.value);
  }

  /** A misspelt field must not be ignored without a word. */
  #unread(found: Found): void {
    for (const [title, { fields }] of found)
      for (const field of fields.values())
        this.#warn('CONTEXT_FIELD', field, `is no field of ${title}`);
  }

  #unfilled(field: Field): void {
    this.#open.push(field);
  }

  /** One of all of them, at the place of the first. */
  #warnOpen(): void {
    const [first, ...others] = this.#open.sort((a, b) => a.line - b.line);
    if (first === undefined) return;
    const names = others.map(({ name, line }) => `${name} (line ${line})`).join(', ');
    const also = names === '' ? '' : `; so is that of ${names}`;
    this.#warn('CONTEXT_PLACEHOLDER', first, `was not filled in: its default is taken${also}`);
  }

  #warn(code: string, { name, line, column }: Field, text: string): void {
    const place = `${this.#file}:${line}:${column}`;
    const flag: Flag = { code, level: 'warning', text: `${place}: ${name} ${text}` };
    this.#warnings.push({ line, flag });
  }

  #invalid(line: number, column: number, detail: string): BusError {
    return new BusError('CRITIC_CONTEXT_INVALID', { file: this.#file, line, column, detail });
  }
}

/** `steelman, llm-as-judge`; empty: none. Throws MODE_UNKNOWN. */
export function modesIn(text: string): ModeName[] {
  return text
    .split(/[,+]/)
    .map(unquoted)
    .filter((name) => name !== '')
    .map((name) => {
      const known = name.toLowerCase();
      if (!isModeName(known)) throw new BusError('MODE_UNKNOWN', { mode: name.slice(0, 100) });
      return known;
    });
}

/** A heading of one of the four, with what stands behind it in brackets. */
function sectionOf(text: string): SectionName | undefined {
  const [, title] = /^ {0,3}#{1,4}[ \t]+(.{1,200})$/.exec(text) ?? [];
  if (title === undefined) return undefined;
  const upper = title.replace(/[*_]/g, '').toUpperCase();
  return sections.find(
    (each) =>
      upper === each || (/^[\s(:#-]/.test(upper.slice(each.length)) && upper.startsWith(each)),
  );
}

/** `- **PS ID:** x`, also without the stars or with the colon behind them. */
function fieldOf(text: string, line: number): Field | undefined {
  const found = /^(\s{0,8}[-*+]\s+(?:\*\*)?)([A-Za-z][\w ]{0,40}?)\s?(?::\*\*|\*\*\s?:|:)\s*/.exec(
    text,
  );
  const [whole = '', , name = ''] = found ?? [];
  if (found === null) return undefined;
  return { name, value: text.slice(whole.length).trim(), line, column: whole.length + 1 };
}

/** Takes the field out: what is left at the end is unknown. */
function take(fields: Map<string, Field>, name: string): Field | undefined {
  const field = fields.get(name.toLowerCase());
  fields.delete(name.toLowerCase());
  return field;
}

function fenceAfter(open: string, text: string): string {
  const mark = /^ {0,3}(`{3,}|~{3,})/.exec(text)?.[1] ?? '';
  if (open === '') return mark;
  return mark.startsWith(open) && text.trim() === mark ? '' : open;
}

/** `{ps_id}`: a placeholder of the form. */
function isPlaceholder(text: string): boolean {
  return /^\{[^{}]*\}(?:\s*\([^()]*\))?$/.test(unquoted(text));
}

function unquoted(text: string): string {
  const trimmed = text.trim();
  const [, inner] = /^(?:`([^`]*)`|"([^"]*)")$/.exec(trimmed) ?? [];
  return inner ?? trimmed.replace(/^"(.*)"$/, '$1');
}

/** A heading within the criteria is written with a backslash, so that it does not end them. */
function unescaped(criteria: string): string {
  return criteria.replace(/^( {0,3}\\*)\\(#{1,4}[ \t])/gm, '$1$2');
}

function present<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [key]: value } as Partial<Record<K, V>>);
}
