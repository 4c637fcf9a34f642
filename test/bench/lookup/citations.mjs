// True citations, drawn at random from everything that the product cites; and whether one is true, read from the file
// alone, without the code that `verify` shares.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { wordPattern } from '../kernel/c-source.mjs';
import { citeCall, citeDocument } from './product.mjs';
import { Sample } from './random.mjs';

const filed = ['O2', 'O4', 'O5', 'O6', 'O7'];
const contentCharsMax = 500;
const askDeadlineMs = 120_000;
/** Sources that one question gives at most. */
const perAnswer = 10;
/** So many are drawn for each that is wanted: some items stand on blank lines, which nobody can cite. */
const spare = 3;

/** `count` citations: a fifth answers of `ask`, the rest in equal parts from O1, O3 and the overlays in files. */
export async function drawCitations(bench, count) {
  const asked = Math.round(count / 5);
  const perOverlay = Math.ceil((count - asked) / (filed.length + 2));
  const drawn = [
    ...(await askedFor(bench, asked)).map((each) => ({ ...each, origin: 'ask' })),
    ...fromSegments(bench, perOverlay),
  ];
  for (const overlay of filed) drawn.push(...(await fromOverlay(bench, overlay, perOverlay)));
  return drawn.slice(0, count);
}

/** The best sources for questions about random functions. */
async function askedFor({ product, seed }, count) {
  const names = new Sample(seed + 3, 2 * count);
  for (const { index } of product.ports) for (const name of index.defines()) names.add(name);
  const found = [];
  for (const name of names.values()) {
    if (found.length >= count) break;
    const request = { question: `How does ${name} work?`, overlays: [], top_k: perAnswer };
    const { evidence } = await product.questions.ask(request, { deadlineMs: askDeadlineMs });
    found.push(...evidence);
  }
  return found.slice(0, count);
}

/** O1: symbols. O3: calls. */
function fromSegments({ product, seed }, count) {
  const symbols = new Sample(seed + 4, count * spare);
  const calls = new Sample(seed + 5, count * spare);
  for (const { agent, index } of product.ports) {
    for (let symbol = 0; symbol < index.symbolCount; symbol += 1) {
      const key = `${agent} ${symbol}`;
      if (symbols.takes(key)) symbols.add(key, { index, symbol });
      if (!calls.takes(key)) continue;
      const [call] = index.callsFrom(symbol);
      if (call !== undefined) calls.add(key, { index, call });
    }
  }
  const { excerpts } = product;
  const o1 = symbols.values().map(({ index, symbol }) => citeDocument(index, excerpts, symbol, 1));
  const o3 = calls.values().map(({ index, call }) => {
    const caller = index.symbol(call.caller).name;
    return citeCall(index, excerpts, { ...call, caller }, 1);
  });
  const some = (all, origin) =>
    all
      .filter((each) => each !== undefined)
      .slice(0, count)
      .map((each) => ({ ...each, origin }));
  return [...some(o1, 'O1'), ...some(o3, 'O3')];
}

/** Items, cited as every citation is: the excerpt of their lines, and the symbol when the excerpt holds it. */
async function fromOverlay({ product, seed }, overlay, count) {
  const sample = new Sample(seed + 6, count * spare);
  for (const file of await product.tree.overlay(overlay)) {
    for (const item of file.items()) {
      const key = `${item.file_path}:${item.line_start} ${item.rule} ${item.text}`;
      if (sample.takes(key)) sample.add(key, item);
    }
  }
  const cited = sample.values().flatMap((item) => {
    const { file_path, blob, line_start, line_end, symbol } = item;
    const content = product.excerpts.contentOf(file_path, blob, line_start, line_end);
    if (content === undefined || content.trim() === '') return [];
    const held = symbol !== '' && wordPattern(symbol).test(content) ? symbol : '';
    return [{ file_path, line_start, line_end, content, symbol: held, blob, origin: overlay }];
  });
  return cited.slice(0, count);
}

/** Files as they are on disk, read once. */
export class Texts {
  #files = new Map();

  constructor(root) {
    this.root = root;
  }

  /** `{ lines, blob }`; undefined for what is no file below the root. */
  file(name) {
    if (!this.#files.has(name)) this.#files.set(name, this.#read(name));
    return this.#files.get(name);
  }

  /** The citation holds: blob, content and symbol are those of the cited lines. */
  isTrue({ file_path, line_start, line_end, content, symbol, blob }) {
    const file = this.file(file_path);
    if (file === undefined || line_end > file.lines.length || line_start > line_end) return false;
    if (blob !== '' && blob !== file.blob) return false;
    const cited = file.lines.slice(line_start - 1, line_end);
    if (content.replace(/\n+$/, '') !== wholeLines(cited)) return false;
    return symbol === '' || wordPattern(plain(symbol)).test(cited.join('\n'));
  }

  #read(name) {
    const place = path.resolve(this.root, name);
    if (!place.startsWith(`${this.root}${path.sep}`) || name !== path.normalize(name))
      return undefined;
    let bytes;
    try {
      bytes = readFileSync(place);
    } catch {
      return undefined;
    }
    const lines = bytes.toString('utf8').split(/\r?\n/);
    if (lines.at(-1) === '') lines.pop();
    const blob = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
    return { lines, blob };
  }
}

/** As many whole lines as 500 characters hold; a first line that is longer is cut. */
function wholeLines([first, ...others]) {
  let text = first.slice(0, contentCharsMax);
  if (first.length > contentCharsMax) return text;
  for (const line of others) {
    if (text.length + 1 + line.length > contentCharsMax) break;
    text += `\n${line}`;
  }
  return text.replace(/\n+$/, '');
}

/** `path#name` and `Container.name` are `name`. */
function plain(symbol) {
  return symbol.slice(
    Math.max(symbol.lastIndexOf('#', symbol.length - 2), symbol.lastIndexOf('.')) + 1,
  );
}
