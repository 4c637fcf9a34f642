/** Source text of other languages, read only as far as: what is comment, what is text, what is written in a call. */

const slashComments = new Set(['javascript', 'php', 'go', 'rust', 'jvm', 'csharp']);
const hashComments = new Set([
  ...['python', 'ruby', 'perl', 'php', 'r', 'tcl', 'awk', 'elixir', 'cmake'],
]);
/** In these one sign stands in single quotes, and a quote that is alone is a lifetime or a type. */
const signQuotes = new Set(['go', 'rust', 'csharp']);
/** In these texts in backquotes have no escapes, or have them. */
const backQuotes = new Set(['javascript', 'go']);
/** Where a slash begins an expression, and divides nothing. */
const slashExpression = String.raw`(?<=(?:[=(,:[&|?]|\breturn)[^\S\n]{0,8})\/(?![*/])(?:\\[^\n]|\[(?:\\[^\n]|[^\]\\\n])*\]|[^/\\\n[])+\/`;
const slashExpressions = new Set(['javascript', 'ruby']);
/** A value that is told only when it runs, in a shell's text. */
const unknownInShell = '$UNKNOWN';
const windowChars = 4_000;
/** Before a text that is said to readers. */
const indentMax = 200;

/**
 * `code` is without comments, `bare` also without what stands in texts; both are as long as the source, so that places agree.
 */
export function bareScript(source: string, language: string): { code: string; bare: string } {
  const code: string[] = [];
  const bare: string[] = [];
  const blank = (text: string): string => text.replace(/[^\n]/g, ' ');
  const pieces = piecesOf(language);
  for (const { 0: piece, index } of source.matchAll(pieces)) {
    const isComment = isCommentPiece(piece, language) || isDocstring(piece, source, index);
    const isText = isTextPiece(piece, language);
    code.push(isComment ? blank(piece) : piece);
    if (isComment) bare.push(blank(piece));
    else if (isText) bare.push(piece[0] ?? '', blank(piece.slice(1, -1)), piece.at(-1) ?? '');
    else bare.push(piece);
  }
  return { code: code.join(''), bare: bare.join('') };
}

function isTextPiece(piece: string, language: string): boolean {
  if (piece.length < 2) return false;
  return /^["'`]/.test(piece) || (slashExpressions.has(language) && piece.startsWith('/'));
}

function piecesOf(language: string): RegExp {
  const comments = [
    ...(slashComments.has(language) ? ['\\/\\/[^\\n]*', '\\/\\*[\\s\\S]*?(?:\\*\\/|$)'] : []),
    ...(hashComments.has(language) ? ['#[^\\n]*'] : []),
    ...(language === 'lua' ? ['--\\[\\[[\\s\\S]*?\\]\\]', '--[^\\n]*'] : []),
    ...(language === 'ruby' ? ['^=begin[\\s\\S]*?^=end'] : []),
  ];
  const texts = [
    ...(slashExpressions.has(language) ? [slashExpression] : []),
    ...(language === 'python' || language === 'elixir' || language === 'jvm'
      ? ['"""[\\s\\S]*?(?:"""|$(?![\\s\\S]))', "'''[\\s\\S]*?(?:'''|$(?![\\s\\S]))"]
      : []),
    '"(?:\\\\[\\s\\S]|[^"\\\\\\n])*"?',
    signQuotes.has(language)
      ? "'(?:\\\\[^\\n']{1,10}|\\\\'|[^'\\\\\\n])'"
      : "'(?:\\\\[\\s\\S]|[^'\\\\\\n])*'?",
    ...(backQuotes.has(language) ? ['`(?:\\\\[\\s\\S]|[^`\\\\])*`?'] : []),
  ];
  return new RegExp([...comments, ...texts, '[\\s\\S]'].join('|'), 'gm');
}

function isCommentPiece(piece: string, language: string): boolean {
  if (piece.length < 2) return piece === '#' && hashComments.has(language);
  if (slashComments.has(language) && (piece.startsWith('//') || piece.startsWith('/*')))
    return true;
  if (hashComments.has(language) && piece.startsWith('#')) return true;
  return (language === 'lua' && piece.startsWith('--')) || piece.startsWith('=begin');
}

/** A text in three quotes that begins a line is said to readers. */
function isDocstring(piece: string, source: string, index: number): boolean {
  if (!piece.startsWith('"""') && !piece.startsWith("'''")) return false;
  const before = source.slice(Math.max(0, index - indentMax), index);
  return /^\s*$/.test(before.slice(before.lastIndexOf('\n') + 1));
}

export interface Literal {
  text: string;
  isStatic: boolean;
}

export interface CallTexts {
  /** Texts that are arguments one after the other, from the first. */
  texts: Literal[];
  /** Of a list among them, its elements; one that is no text is not static. */
  list: Literal[] | undefined;
  /** Each of the texts is a whole argument: nothing is put together with it. */
  isWhole: boolean;
  /** Further arguments follow, or further elements of the list, that are told only when it runs. */
  isOpen: boolean;
}

/** The texts in a call, from behind its bracket. A name that is set once, to texts, stands for these. */
export function callTexts(code: string, at: number, language: string): CallTexts {
  const reader = new CallReader(code.slice(at, at + windowChars), language, code);
  return reader.read();
}

class CallReader {
  #at = 0;

  constructor(
    private readonly code: string,
    private readonly language: string,
    private readonly whole: string,
  ) {}

  read(): CallTexts {
    this.#skip(/[\s(]*/y);
    const texts: Literal[] = [];
    for (;;) {
      if (this.#isList(texts)) {
        const list = this.#list();
        // `['git'] + words`, `['git'].concat(words)`.
        return {
          texts,
          list,
          isWhole: true,
          isOpen: /^[\])]\s*(?:\+|\.concat)/.test(this.#rest()),
        };
      }
      const literal = this.#literal() ?? this.#named();
      if (literal === undefined)
        return { texts, list: undefined, isWhole: texts.length > 0, isOpen: !this.#isOption() };
      if (Array.isArray(literal))
        return { texts, list: literal, isWhole: true, isOpen: /^\s*\+/.test(this.#rest()) };
      texts.push(literal);
      this.#skip(/\s*/y);
      if (this.#is('.split')) return { texts, list: undefined, isWhole: true, isOpen: false };
      if (!this.#is(',')) break;
      this.#skip(/,\s*/y);
    }
    const isWhole =
      this.#at >= this.code.length || /^[\s)`;}\]]|^\/|^\.(?:toString|trim)/.test(this.#rest());
    return { texts, list: undefined, isWhole, isOpen: false };
  }

  #isList(texts: readonly Literal[]): boolean {
    if (this.#is('[')) return true;
    if (this.language === 'rust' && this.#skip(/&?\s*(?:vec!)?(?=\[)/y) !== '') return true;
    return this.language === 'python' && this.#is('(') && texts.length === 0;
  }

  #rest(): string {
    return this.code.slice(this.#at, this.#at + 200);
  }

  /** `{ stdio: … }`, `shell=True`, a callback, the end: how it is started, and not with which words. */
  #isOption(): boolean {
    return /^(?:$|[{)\]]|\w+\s*(?:=(?!=)|:(?!:)|=>)|\([^()]{0,80}\)\s*=>|(?:async\s+)?function\b|(?:\w+\.)?(?:options|opts|env|cb|callback|done|nil|null|None|undefined|intern|stdout|stderr)\b)/.test(
      this.#rest(),
    );
  }

  #is(text: string): boolean {
    return this.code.startsWith(text, this.#at);
  }

  #skip(expression: RegExp): string {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.code)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #literal(): Literal | undefined {
    const prefix = this.#skip(/[rbfuRBFU]{0,2}(?=["'])/y).toLowerCase();
    const found = this.#skip(
      /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'|`(?:\\[\s\S]|[^`\\])*`/y,
    );
    if (found === '') return undefined;
    const quotes = /^("""|''')/.test(found) ? 3 : 1;
    const inner = found.slice(quotes, -quotes);
    const isTemplate = found.startsWith('`') || prefix.includes('f') || this.#interpolates(found);
    const text = prefix.includes('r') ? inner : plain(inner);
    if (!isTemplate) return { text, isStatic: true };
    const filled = text.replace(/[$#]?\{[^}]*\}|(?<![\w\\])[$@]\w+/g, unknownInShell);
    return { text: filled, isStatic: filled === text };
  }

  /** In these a text in two quotes has values in it. */
  #interpolates(found: string): boolean {
    return found.startsWith('"') && ['perl', 'ruby', 'php', 'tcl'].includes(this.language);
  }

  #list(): Literal[] {
    this.#skip(/[[(]\s*/y);
    const elements: Literal[] = [];
    while (this.#at < this.code.length && !/[\])]/.test(this.code[this.#at] ?? ']')) {
      const literal = this.#literal() ?? interpreterNamed(this.#skip(/[\w.]+/y));
      const rest = this.#skip(/[^,\])'"`]+/y).trim();
      if (literal !== undefined && rest === '') elements.push(literal);
      else if (literal !== undefined || rest !== '') elements.push({ text: rest, isStatic: false });
      else if (!this.#is(',')) this.#at += 1;
      this.#skip(/,?\s*/y);
    }
    return elements;
  }

  /** `const command = 'git push'`, once in the script. */
  #named(): Literal | Literal[] | undefined {
    const name = this.#skip(/[A-Za-z_$][\w$]*(?=\s*[,)\]])/y);
    if (name === '') return undefined;
    const settings = [
      ...this.whole.matchAll(new RegExp(`(?<![\\w.$])${escaped(name)}\\s*=(?![=>])\\s*`, 'g')),
    ];
    const [setting, more] = settings;
    if (setting === undefined || more !== undefined) return undefined;
    const at = setting.index + setting[0].length;
    const inner = new CallReader(this.whole.slice(at, at + windowChars), this.language, '');
    if (inner.#is('[')) return inner.#list();
    const literal = inner.#literal();
    return literal !== undefined && /^\s*(?:[;\n)]|$)/.test(inner.code.slice(inner.#at))
      ? literal
      : undefined;
  }
}

/** The running interpreter, by the names that it has. */
function interpreterNamed(name: string): Literal | undefined {
  if (name === '') return undefined;
  if (name === 'sys.executable') return { text: 'python', isStatic: true };
  if (name === 'process.execPath' || name === 'process.argv0')
    return { text: 'node', isStatic: true };
  return { text: name, isStatic: false };
}

function plain(inner: string): string {
  return inner.replace(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|([\s\S]))/g,
    (_, hex?: string, unicode?: string, other?: string) => {
      const code = hex ?? unicode;
      if (code !== undefined) return String.fromCharCode(parseInt(code, 16));
      return other === 'n' ? '\n' : other === 't' ? '\t' : other === '\n' ? '' : (other ?? '');
    },
  );
}

function escaped(name: string): string {
  return name.replace(/[$]/g, '\\$&');
}
