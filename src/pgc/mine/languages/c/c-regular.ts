import { Conditionals, type Frame, type MacroName, type Place } from './c-conditionals.js';
import { cKeywords } from './c-macros.js';
import {
  aheadCharsMax,
  commentEnd,
  directiveEnd,
  isAtMargin,
  isComment,
  literalEnd,
  nextToken,
  wordEnd,
} from './c-tokens.js';
import { Edits } from '../edits.js';

/** Keywords whose bracket is followed by a statement. */
const heads = new Set(['if', 'for', 'while', 'switch']);
const recordWords = new Set(['struct', 'union', 'enum']);
const statementWord =
  /(?:if|for|while|do|switch|return|goto|break|continue|case|default)\b|[A-Za-z_]\w*[ \t]*\(/y;
const callHead = /[A-Za-z_]\w*[ \t]*\(/y;
const definePattern = /#[ \t]*(?:define|undef)\b/y;
const emptyDefine =
  /#[ \t]*define[ \t]+\w+(?:\([^)\n]*\))?((?:[ \t]|\/\*(?:[^*]|\*(?!\/))*\*\/|\/\/[^\n]*)+)(?=\r?\n|$)/y;
const numberPattern = /[\w.]+/y;

export interface Regular {
  text: string;
  /** Blanked branches of function bodies, `[from, to)`. */
  dropped: readonly [from: number, to: number][];
  /** Macros that became keywords: they were calls. */
  macros: readonly { name: string; at: number }[];
  /** Blanked directives that define a macro, `[from, to)`. */
  defines: readonly [from: number, to: number][];
}

/**
 * C as it would read had the preprocessor run, as far as one scan without macro definitions can tell,
 * in a text of the same length. Macros that stand as statements without a semicolon get one; loops by
 * macro that need to stay one statement become `while` loops; comments inside `#define` are blank;
 * conditionals that cut statements are resolved (see `Conditionals`). The grammar knows no `#define` within a
 * list or within brackets, and loses what stands behind it there: those are blanked.
 */
export function regular(text: string): Regular {
  const scan = new Scan(text);
  scan.run();
  return {
    text: scan.edits.applied(text),
    dropped: scan.conditionals.dropped,
    macros: scan.macros,
    defines: scan.defines,
  };
}

class Scan {
  readonly edits = new Edits();
  readonly conditionals = new Conditionals(this.edits);
  readonly macros: { name: string; at: number }[] = [];
  readonly defines: [from: number, to: number][] = [];
  #at = 0;
  #top: Frame | undefined;
  #isStart = true;
  #isOwed = false;
  /** The last sign that is neither blank nor comment; `w` for a word, a number or a string. */
  #last = ';';
  #word = '';
  /** The first word of the statement, while it is also the last one. */
  #first: MacroName | undefined;
  #isAfterDo = false;
  /** The macro just closed needs a statement of its own behind it. */
  #isOwedByMacro = false;
  /** `struct`, `union` or `enum` that was named and not yet opened. */
  #record = '';
  #staticAt = -1;
  /** The bracket just closed belongs to a head. */
  #isAfterHead = false;
  #isLineStart = true;

  constructor(readonly text: string) {}

  run(): void {
    const { text } = this;
    while (this.#at < text.length) {
      const sign = text.charAt(this.#at);
      if (sign === '\n') {
        this.#isLineStart = true;
        this.#at += 1;
      } else if (sign === ' ' || sign === '\t' || sign === '\r') this.#at += 1;
      else if (sign === '/' && isComment(text, this.#at)) this.#at = commentEnd(text, this.#at);
      else if (sign === '#' && this.#isLineStart) this.#directive();
      else {
        this.#token(sign);
        this.#isLineStart = false;
      }
    }
  }

  #token(sign: string): void {
    const end = wordEnd(this.text, this.#at);
    if (end > this.#at) {
      this.#seeWord(this.text.slice(this.#at, end));
      return;
    }
    switch (sign) {
      case '"':
      case "'":
        this.#at = literalEnd(this.text, this.#at);
        this.#follow('w');
        return;
      case '(':
        this.#openBracket();
        return;
      case ')':
        this.#closeBracket();
        return;
      case '{':
        this.#openBrace();
        return;
      case '}':
        this.#closeBrace();
        return;
      default:
        this.#seeSign(sign);
    }
  }

  #seeWord(word: string): void {
    const at = this.#at;
    this.#at += word.length;
    // `do { … } while_each_thread(a, b);`
    if (this.#isAfterDo && word !== 'while' && word.startsWith('while')) {
      this.#becomeWhile({ name: word, at });
    } else if (this.#isLone(word, at)) {
      this.edits.blank(at, this.#at);
      return;
    }
    this.#isAfterDo = false;
    // `static DEFINE_MUTEX(lock)`: what counts is the word behind.
    if (word === 'static' && this.#isStart) {
      this.#staticAt = at;
      return;
    }
    const isMargin = isAtMargin(this.text, this.#staticAt >= 0 ? this.#staticAt : at);
    this.#staticAt = -1;
    this.#first = this.#isStart
      ? { name: word, at, isAtMargin: isMargin, isOwed: this.#isOwed }
      : undefined;
    this.#word = word;
    if (recordWords.has(word)) this.#record = word;
    this.#last = 'w';
    this.#isStart = this.#isOwed = word === 'else' || word === 'do';
    this.#isAfterHead = false;
  }

  /** A macro on a line of its own, without brackets, among statements or fields: `RESERVED_FIELDS`. */
  #isLone(word: string, at: number): boolean {
    const kind = this.#top?.kind;
    if (!this.#isStart || this.#isOwed || (kind !== 'block' && kind !== 'record')) return false;
    if (!/^[A-Z_][A-Z0-9_]{2,}$/.test(word) || !this.#isLineStart) return false;
    const next = nextToken(this.text, at + word.length);
    const isAlone = this.text.slice(at + word.length, next).includes('\n');
    return isAlone && /[A-Za-z_}#]/.test(this.text.charAt(next));
  }

  /** Its arguments become the condition, and what follows stays one statement with it. */
  #becomeWhile({ name, at }: { name: string; at: number }): void {
    this.edits.replace(at, at + name.length, name.length < 5 ? 'if' : 'while');
    this.macros.push({ name, at });
  }

  #seeSign(sign: string): void {
    // Of C++; the name behind is no macro, as it is behind a label.
    if (sign === ':' && this.text.charAt(this.#at + 1) === ':') {
      this.#at += 2;
      this.#follow('::');
      return;
    }
    numberPattern.lastIndex = this.#at;
    const isDigit = sign >= '0' && sign <= '9';
    const length = isDigit ? (numberPattern.exec(this.text)?.[0].length ?? 1) : 1;
    this.#at += length;
    this.#follow(sign);
    const kind = this.#top?.kind;
    this.#isStart =
      sign === ';' ||
      (sign === ':' && kind === 'block') ||
      (sign === ',' && (kind === 'list' || kind === 'record'));
    if (sign === ';' || sign === '=' || sign === ',') this.#record = '';
  }

  #follow(last: string): void {
    this.#last = last;
    this.#first = undefined;
    this.#staticAt = -1;
    this.#isAfterDo = false;
    this.#isStart = false;
    this.#isOwed = false;
    this.#isAfterHead = false;
  }

  #openBracket(): void {
    const isWord = this.#last === 'w';
    const outer = this.#top?.kind;
    const isMember = outer === undefined || outer === 'block' || outer === 'record';
    const isMacro = isWord && isMember && !cKeywords.has(this.#word);
    this.#top = {
      kind: 'paren',
      parent: this.#top,
      isHead: isWord && heads.has(this.#word),
      macro: isMacro ? this.#first : undefined,
      isDo: false,
    };
    this.#at += 1;
    this.#follow('(');
  }

  #closeBracket(): void {
    this.#at += 1;
    const closed = this.#top?.kind === 'paren' ? this.#top : undefined;
    this.#follow(')');
    if (closed === undefined) return;
    this.#top = closed.parent;
    this.#record = '';
    if (this.#top?.kind === 'record') {
      this.#isStart = closed.macro !== undefined && this.#isField(closed.macro);
      return;
    }
    const isStatement = closed.macro !== undefined && this.#endMacro(closed.macro);
    this.#isStart = this.#isAfterHead = closed.isHead || isStatement;
    this.#isOwed = closed.isHead || (isStatement && this.#isOwedByMacro);
  }

  /** Whether the macro that has just been closed stands for fields; it is blanked then, and was a call. */
  #isField(macro: MacroName): boolean {
    const next = nextToken(this.text, this.#at);
    const isLast = this.text.charAt(next) === '}';
    const isOnNextLine = this.text.slice(this.#at, next).includes('\n');
    if (!isLast && !(isOnNextLine && /[A-Za-z_#]/.test(this.text.charAt(next)))) return false;
    this.edits.blank(macro.at, this.#at);
    this.macros.push(macro);
    return true;
  }

  /** Whether the macro that has just been closed stands for a statement, or for the head of one. */
  #endMacro(macro: MacroName): boolean {
    const { text } = this;
    const next = nextToken(text, this.#at);
    const isOnNextLine = text.slice(this.#at, next).includes('\n');
    this.#isOwedByMacro = false;
    if (this.#top === undefined) {
      if (!isOnNextLine || !macro.isAtMargin || !this.#isDeclaration(next)) return false;
    } else if (!this.#isStatement(next, isOnNextLine)) return false;
    const hasBody =
      /[A-Za-z_{]/.test(text.charAt(next)) && !/^else\b/.test(text.slice(next, next + 5));
    // A semicolon would end the `if` before the body of the loop, and leave its `else` alone.
    if (macro.isOwed && hasBody && macro.name.length > 1) {
      this.#becomeWhile(macro);
      this.#isOwedByMacro = true;
    } else if (/\s/.test(text.charAt(this.#at))) this.edits.replace(this.#at, this.#at + 1, ';');
    return true;
  }

  #isStatement(next: number, isOnNextLine: boolean): boolean {
    const sign = this.text.charAt(next);
    if (sign === '{' || sign === '}' || sign === '#') return true;
    if (isOnNextLine) return /[A-Za-z_]/.test(sign);
    statementWord.lastIndex = next;
    return statementWord.test(this.text);
  }

  /** A head without a type (`MACRO(x) {`, `TYPE(int) name() {`) is not ended: it has a body. */
  #isDeclaration(next: number): boolean {
    const { text } = this;
    if (text.charAt(next) === '#') return true;
    if (!/[A-Za-z_]/.test(text.charAt(next)) || !isAtMargin(text, next)) return false;
    callHead.lastIndex = next;
    if (!callHead.test(text)) return true;
    let depth = 1;
    let at = callHead.lastIndex;
    for (const stop = at + aheadCharsMax; depth > 0 && at < stop && at < text.length; at += 1) {
      if (text.charAt(at) === '(') depth += 1;
      else if (text.charAt(at) === ')') depth -= 1;
    }
    return text.charAt(nextToken(text, at)) !== '{';
  }

  #openBrace(): void {
    const kind = this.#braceKind();
    const isDo = this.#last === 'w' && this.#word === 'do';
    // Braces that do not balance end with the function that holds them.
    if (this.#last === ')' && isAtMargin(this.text, this.#at)) this.#top = undefined;
    this.#top = { kind, parent: this.#top, isHead: false, macro: undefined, isDo };
    this.#at += 1;
    this.#follow('{');
    this.#isStart = true;
    this.#record = '';
  }

  #braceKind(): 'block' | 'record' | 'list' {
    const outer = this.#top?.kind;
    if (this.#last === '(' || this.#isAfterHead) return 'block';
    if (outer === 'paren' || outer === 'list') return 'list';
    if (this.#record !== '' && this.#last === 'w')
      return this.#record === 'enum' ? 'list' : 'record';
    if (this.#isStart) return outer === 'record' ? 'record' : 'block';
    if (this.#last === ')') {
      const isBody = outer === undefined || isAtMargin(this.text, this.#at);
      return isBody ? 'block' : 'list';
    }
    return this.#last === 'w' && outer !== 'record' && this.#word !== 'return' ? 'block' : 'list';
  }

  #closeBrace(): void {
    let brace = this.#top;
    while (brace?.kind === 'paren') brace = brace.parent;
    const isMargin = isAtMargin(this.text, this.#at);
    this.#top = isMargin ? undefined : brace?.parent;
    this.#at += 1;
    this.#follow('}');
    this.#isStart = isMargin || brace?.kind !== 'list';
    this.#isAfterDo = brace?.isDo ?? false;
  }

  /** The grammar takes the next line for the value of a macro without one, unless the line ends with its name. */
  #endEmptyDefine(at: number): void {
    emptyDefine.lastIndex = at;
    const rest = emptyDefine.exec(this.text)?.[1]?.length ?? 0;
    if (rest === 0) return;
    const to = emptyDefine.lastIndex;
    this.edits.replace(to - rest, to, '\n');
  }

  #isDefine(at: number): boolean {
    definePattern.lastIndex = at;
    return definePattern.test(this.text);
  }

  #directive(): void {
    const from = this.#at;
    this.#endEmptyDefine(from);
    const to = directiveEnd(this.text, from, this.edits);
    this.#at = to;
    const kind = this.#top?.kind;
    if ((kind === 'list' || kind === 'paren') && this.#isDefine(from)) {
      this.edits.blank(from, to);
      this.defines.push([from, to]);
      return;
    }
    const place: Place = { top: this.#top, isStart: this.#isStart, isOwed: this.#isOwed };
    const next = this.conditionals.directive(this.text, from, to, place);
    if (next === place) return;
    this.#top = next.top;
    this.#isStart = next.isStart;
    this.#isOwed = next.isOwed;
    this.#isAfterHead = false;
    this.#first = undefined;
    this.#staticAt = -1;
  }
}
