import type { SymbolPlace } from '../format/shard-index.js';

/** A place of a name. */
export interface Occurrence {
  /** 1-based. */
  line: number;
  /** `struct name`, `union name`, `enum name` */
  isTag: boolean;
  /** The function or macro around it. */
  holder: number | undefined;
}

type Placed = SymbolPlace & { id: number };

/** Characters around a name that tell what it is. */
const aroundChars = 120;
const hidden =
  /\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?|\/\/[^\n]*|"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\.){1,8}'|^[ \t]*#[ \t]*(?:include|undef|error|warning|pragma)\b[^\n]*/gm;
const tag = /\b(?:struct|union|enum)\s+$/;
const member = /(?:->|(?<![.\d])\.)\s*$/;
const jump = /\bgoto\s+$/;
const typeBefore = /[\w*]\s*$/;
/** Words before a name that are no type of it. */
const noType =
  /\b(?:return|else|case|goto|do|sizeof|typedef|const|volatile|static|extern|register|inline|unsigned|signed|struct|union|enum|defined|ifdef|ifndef|if|elif)\s*$/;
const qualifiers = String.raw`(?:(?:static|const|register|volatile|unsigned|signed|struct|union|enum)\s+)*`;
const variableBefore = String.raw`\w+\s*(?:\[[^\]]*\]\s*)?`;
const noStatement = String.raw`(?!(?:return|else|case|goto|do|break|continue|sizeof)\b)`;

/** Where the text of a file of C uses names, by the words and signs beside them. */
export class CText {
  readonly #text: string;
  readonly #starts: readonly number[];

  constructor(
    lines: readonly string[],
    readonly symbols: readonly Placed[],
  ) {
    this.#text = lines.join('\n').replace(hidden, (found) => found.replace(/[^\n]/g, ' '));
    let at = 0;
    this.#starts = lines.map(({ length }) => {
      const start = at;
      at += length + 1;
      return start;
    });
  }

  /** Neither where it is defined or declared, nor of a member, a label or a local variable. */
  occurrencesOf(name: string): Occurrence[] {
    const found: Occurrence[] = [];
    const locals = new Map<number, boolean>();
    const defined = new Set(this.symbols.filter((each) => each.name === name));
    let line = 1;
    for (const { index: at } of this.#text.matchAll(new RegExp(`(?<!\\w)${name}(?!\\w)`, 'g'))) {
      while ((this.#starts[line] ?? Infinity) <= at) line += 1;
      const before = this.#text.slice(Math.max(0, at - aroundChars), at);
      const after = this.#text.slice(at + name.length, at + name.length + aroundChars);
      const isTag = tag.test(before);
      const around = this.symbols.filter(
        ({ line_start, line_end }) => line_start <= line && line <= line_end,
      );
      const definition = around.find((each) => defined.has(each) && isTag === isOfTag(each));
      if (definition !== undefined) {
        // The first one in it.
        defined.delete(definition);
        continue;
      }
      if (member.test(before) || jump.test(before) || isLabel(before, after)) continue;
      if (isTag && /(?:^|[;{}\n])\s*(?:struct|union|enum)\s+$/.test(before) && /^\s*;/.test(after))
        continue;
      const holder = around.findLast(({ kind }) => kind === 'function' || kind === 'macro');
      const isRecord = around.some(({ kind }) => kind === 'struct' || kind === 'union');
      if (!isTag && isDeclared(before, after, isRecord, holder)) continue;
      if (!isTag && holder?.kind === 'function') {
        const isLocal = locals.get(holder.id) ?? this.#isLocal(name, holder);
        locals.set(holder.id, isLocal);
        if (isLocal) continue;
      }
      found.push({ line, isTag, holder: holder?.id });
    }
    return found;
  }

  /** Whether a function declares the name itself, as a parameter or a variable. */
  #isLocal(name: string, { line_start, line_end }: Placed): boolean {
    const from = this.#starts[line_start - 1] ?? 0;
    const text = this.#text.slice(from, this.#starts[line_end] ?? this.#text.length);
    const body = text.indexOf('{');
    const head = text.slice(0, Math.max(0, body));
    const parameter = new RegExp(
      String.raw`[(,]\s*(?:\w+[\s*]+)+(?:\(\s*\*\s*)?${name}\s*(?=[,)[])`,
    );
    // Behind the first value anything may stand: to tell variables apart there has exponentially many ways.
    const variable = new RegExp(
      String.raw`(?:[;{}]|\bfor\s*\()\s*${noStatement}${qualifiers}\w+(?:\s*\*+\s*|\s+)(?:const\s+)?(?:${variableBefore},\s*\**\s*)*(?:${variableBefore}=[^;{}]*,\s*\**\s*)?${name}\s*(?=[=;,[)])`,
    );
    return parameter.test(head) || variable.test(text.slice(Math.max(0, body)));
  }
}

function isOfTag({ kind }: Placed): boolean {
  return /^(?:struct|union|enum)$/.test(kind);
}

/** `name:` at the start of a line; not `case NAME:` nor `a ? NAME : b`. */
function isLabel(before: string, after: string): boolean {
  return /(?:^|[\n;{}])\s*$/.test(before) && /^\s*:(?!:)/.test(after);
}

/** A member of a structure, or a parameter of a prototype. */
function isDeclared(
  before: string,
  after: string,
  isRecord: boolean,
  holder: Placed | undefined,
): boolean {
  if (holder !== undefined || !typeBefore.test(before) || noType.test(before)) return false;
  return isRecord
    ? /^\s*(?:\[[^\]]*\]\s*)*[;,:]/.test(after)
    : /^\s*(?:\[[^\]]*\]\s*)*[,)]/.test(after);
}
