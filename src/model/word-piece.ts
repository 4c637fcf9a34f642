/** Characters of one text that are read: more than any model here takes. */
export const textCharsMax = 8_192;
/** Words whose pieces are remembered; at the limit the memory starts anew. */
const rememberedMax = 150_000;

const unknownToken = '[UNK]';
const startToken = '[CLS]';
const endToken = '[SEP]';
/** Of a piece that continues a word. */
const prefix = '##';
/** A longer word is unknown. */
const wordCharsMax = 100;
/** Entries of a vocabulary. */
const piecesMax = 1_000_000;

/** What is read of a tokenizer.json. By hand: a library of schemas is loaded longer than all of this takes. */
interface TokenizerJson {
  normalizer?: { type?: unknown; lowercase?: unknown } | null;
  pre_tokenizer?: { type?: unknown } | null;
  model?: Record<string, unknown> | null;
}

const letterCode = 1;
const spaceCode = 2;
const markCode = 3;
/** What each ASCII character is; 0: a control character, which is dropped. */
const codeOf = new Uint8Array(128).fill(markCode, 0x21, 0x7f);
for (const [first, last] of [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x61, 0x7a],
] as const)
  codeOf.fill(letterCode, first, last + 1);
for (const space of '\t\n\r ') codeOf[space.charCodeAt(0)] = spaceCode;

const combining = /\p{Mn}/gu;
const dropped = /[\0\ufffd]|(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu;
const ideographs =
  /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b820}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/gu;
const wordsAndMarks = /[!-/:-@[-`{-~\p{P}]|[^\s!-/:-@[-`{-~\p{P}]+/gu;

/**
 * The tokenizer of BERT, lower case: words and punctuation apart, each word cut greedily into the longest
 * pieces of the vocabulary. M. Schuster, K. Nakajima, "Japanese and Korean voice search", 2012. The text of
 * foreign text holds no marks: `[SEP]` in it is four pieces, not the end.
 */
export class WordPiece {
  readonly start: number;
  readonly end: number;
  readonly #vocabulary: ReadonlyMap<string, number>;
  readonly #unknown: number;
  /** Longest entry, with its prefix. */
  readonly #pieceCharsMax: number;
  readonly #remembered = new Map<string, readonly number[]>();

  /** `vocabulary`: pieces in the order of their ids. Throws Error when it lacks the marks of BERT. */
  constructor(readonly vocabulary: readonly string[]) {
    const ids = new Map<string, number>();
    vocabulary.forEach((piece, id) => ids.set(piece, id));
    this.#vocabulary = ids;
    this.#pieceCharsMax = vocabulary.reduce((max, piece) => Math.max(max, piece.length), 0);
    this.#unknown = this.#idOf(unknownToken);
    this.start = this.#idOf(startToken);
    this.end = this.#idOf(endToken);
  }

  /** Of a tokenizer.json. Throws Error when it describes another kind of tokenizer. */
  static fromJson(json: string): WordPiece {
    const { normalizer, pre_tokenizer, model } = JSON.parse(json) as TokenizerJson;
    const isKnown =
      normalizer?.type === 'BertNormalizer' &&
      normalizer.lowercase === true &&
      pre_tokenizer?.type === 'BertPreTokenizer' &&
      model?.type === 'WordPiece' &&
      model.unk_token === unknownToken &&
      model.continuing_subword_prefix === prefix &&
      model.max_input_chars_per_word === wordCharsMax;
    if (!isKnown) throw new Error('it describes another kind of tokenizer');
    const vocabulary: string[] = [];
    const ids = (model.vocab ?? {}) as Record<string, unknown>;
    // Thirty thousand pairs would take longer than all else of it.
    for (const piece of Object.keys(ids)) {
      const id = ids[piece];
      if (typeof id !== 'number' || !(id >= 0 && id <= piecesMax && Number.isInteger(id)))
        throw new Error(`the vocabulary gives ${JSON.stringify(piece)} no number`);
      vocabulary[id] = piece;
    }
    return new WordPiece(Array.from(vocabulary, (piece: string | undefined) => piece ?? ''));
  }

  /** Whether a word in lower case is a piece of its own. */
  isWord(word: string): boolean {
    return this.#vocabulary.has(word);
  }

  /** Pieces between start and end, at most `max` ids in all. */
  encode(text: string, max: number): number[] {
    return [this.start, ...this.pieces(text, max - 2), this.end];
  }

  /** The first `max` pieces. */
  pieces(text: string, max: number): number[] {
    const ids: number[] = [];
    const looked = text.length > textCharsMax ? text.slice(0, textCharsMax) : text;
    eachWord(looked, (word) => {
      for (const id of this.#piecesOf(word)) ids.push(id);
      return ids.length < max;
    });
    if (ids.length > max) ids.length = Math.max(0, max);
    return ids;
  }

  #idOf(token: string): number {
    const id = this.#vocabulary.get(token);
    if (id === undefined) throw new Error(`the vocabulary lacks ${token}`);
    return id;
  }

  #piecesOf(word: string): readonly number[] {
    let pieces = this.#remembered.get(word);
    if (pieces === undefined) {
      pieces = this.#cut(word);
      if (this.#remembered.size >= rememberedMax) this.#remembered.clear();
      this.#remembered.set(word, pieces);
    }
    return pieces;
  }

  #cut(word: string): readonly number[] {
    if (word.length > wordCharsMax && Array.from(word).length > wordCharsMax)
      return [this.#unknown];
    const pieces: number[] = [];
    for (let from = 0; from < word.length;) {
      const before = from === 0 ? '' : prefix;
      let to = Math.min(word.length, from + this.#pieceCharsMax - before.length);
      let id: number | undefined;
      for (; to > from; to -= 1) {
        id = this.#vocabulary.get(before + word.slice(from, to));
        if (id !== undefined) break;
      }
      if (id === undefined) return [this.#unknown];
      pieces.push(id);
      from = to;
    }
    return pieces;
  }
}

/** In lower case, in order, until `visit` wants no more. */
function eachWord(text: string, visit: (word: string) => boolean): void {
  for (let at = 0; at < text.length;) {
    const code = codeAt(text, at);
    if (code === undefined) return eachWordBeyondAscii(text, at, visit);
    const from = at;
    at += 1;
    if (code === spaceCode) continue;
    if (code === letterCode) while (codeAt(text, at) === letterCode) at += 1;
    // A word that goes on beyond ASCII, or over a character that is dropped, is read again from its start.
    const next = at < text.length ? codeAt(text, at) : spaceCode;
    if (code === 0 || next === 0 || next === undefined)
      return eachWordBeyondAscii(text, from, visit);
    if (!visit(text.slice(from, at).toLowerCase())) return;
  }
}

/** Undefined: beyond ASCII. */
function codeAt(text: string, at: number): number | undefined {
  return codeOf[text.charCodeAt(at)];
}

function eachWordBeyondAscii(text: string, from: number, visit: (word: string) => boolean): void {
  const plain = text
    .slice(from)
    .replace(dropped, '')
    .replace(ideographs, ' $& ')
    .normalize('NFD')
    .replace(combining, '')
    .toLowerCase();
  for (const [word] of plain.matchAll(wordsAndMarks)) if (!visit(word)) return;
}
