// What the product is measured against: plain BM25 over files and over functions, and what a person does with ripgrep.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { install } from '../kernel/kernel-tree.mjs';
import { run } from '../kernel/process.mjs';

const k1 = 1.2;
const b = 0.75;
const fileBytesMax = 2 * 1024 * 1024;
const passageLines = 20;
const searchMsMax = 60_000;

/** Words as a simple search engine has them: cut at all but letters and digits, and where camelCase bends. */
export function simpleWords(text) {
  return (
    text
      .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
      .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  );
}

/** Okapi BM25 (Robertson and Zaragoza 2009), k1 1.2 and b .75, over documents `{ place, text }`. */
export class Bm25 {
  #places = [];
  #lengths = [];
  #postings = new Map();
  #total = 0;

  add(place, text) {
    const at = this.#places.push(place) - 1;
    const words = simpleWords(text);
    const counts = new Map();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const [word, count] of counts) {
      const list = this.#postings.get(word);
      if (list === undefined) this.#postings.set(word, [at, count]);
      else list.push(at, count);
    }
    this.#lengths.push(words.length);
    this.#total += words.length;
  }

  /** Places, best first; ties in the order in which they were added. */
  search(question, limit) {
    const scores = new Map();
    const average = this.#total / this.#places.length;
    for (const word of new Set(simpleWords(question))) {
      const list = this.#postings.get(word) ?? [];
      const holders = list.length / 2;
      const idf = Math.log(1 + (this.#places.length - holders + 0.5) / (holders + 0.5));
      for (let at = 0; at < list.length; at += 2) {
        const [document, count] = [list[at], list[at + 1]];
        const length = 1 - b + (b * this.#lengths[document]) / average;
        const gain = (idf * count * (k1 + 1)) / (count + k1 * length);
        scores.set(document, (scores.get(document) ?? 0) + gain);
      }
    }
    return [...scores]
      .sort((one, other) => other[1] - one[1] || one[0] - other[0])
      .slice(0, limit)
      .map(([document]) => this.#places[document]);
  }
}

/** All texts below a root: `{ path, text }` in order. */
export function textsBelow(root) {
  const texts = [];
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath ?? entry.path, entry.name);
    const bytes = readFileSync(file);
    if (bytes.length > fileBytesMax || bytes.includes(0)) continue;
    texts.push({ path: path.relative(root, file), text: bytes.toString('utf8') });
  }
  return texts.sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** A document is a path and the text of its file. */
export function bm25OfFiles(texts) {
  const engine = new Bm25();
  for (const { path: file, text } of texts) engine.add({ path: file }, `${file}\n${text}`);
  return engine;
}

/**
 * A document is a path and what the index calls a definition, with the comment above it; a file without
 * definitions is cut into passages.
 */
export function bm25OfFunctions(texts, definitions) {
  const engine = new Bm25();
  for (const { path: file, text } of texts) {
    const rows = definitions.in(file);
    const lines = text.split('\n');
    for (let from = 0; rows.length === 0 && from < lines.length; from += passageLines) {
      const passage = lines.slice(from, from + passageLines);
      engine.add(
        { path: file, lines: [from + 1, from + passage.length] },
        `${file}\n${passage.join('\n')}`,
      );
    }
    for (const { name, line_start, line_end } of rows) {
      let from = line_start - 1;
      while (from > 0 && /^\s*(?:\/[/*]|\*|#)/.test(lines[from - 1])) from -= 1;
      engine.add(
        { path: file, symbols: [name], lines: [from + 1, line_end] },
        `${file}\n${lines.slice(from, line_end).join('\n')}`,
      );
    }
  }
  return engine;
}

const stopWords = new Set(
  (
    'a an the of to in on at by for from with without into over under and or not no is are was were be been being it its ' +
    'this that these those there here who what where when why how which whose does do did done has have had can could may ' +
    'might must shall should will would if then than as so such one two any all some each every other another only own ' +
    'i my me we our you your they their he she same used use uses using get gets got make made makes happens happen'
  ).split(' '),
);

/** What a person would look for: identifiers as they stand, and words of at least three letters that say something. */
export function wordsToLookFor(question) {
  const words = question.match(/[A-Za-z_][\w-]*\w|\w/g) ?? [];
  return [
    ...new Set(words.filter((word) => word.length >= 3 && !stopWords.has(word.toLowerCase()))),
  ];
}

/**
 * Files by how many of these words `rg` finds in them, whatever their case; of equals the one with more
 * matching lines, then by path.
 */
export async function ripgrep(root, question, limit) {
  const found = new Map();
  for (const word of wordsToLookFor(question)) {
    const args = ['--count', '--ignore-case', '--fixed-strings', '--hidden', '--no-ignore'];
    const { stdout } = await run('rg', [...args, '--', word, '.'], {
      timeoutMs: searchMsMax,
      cwd: root,
    });
    for (const row of stdout.split('\n').filter(Boolean)) {
      const colon = row.lastIndexOf(':');
      const file = path.normalize(row.slice(0, colon));
      const seen = found.get(file) ?? { path: file, words: 0, lines: 0 };
      found.set(file, seen);
      seen.words += 1;
      seen.lines += Number(row.slice(colon + 1));
    }
  }
  return [...found.values()]
    .sort(
      (one, other) =>
        other.words - one.words || other.lines - one.lines || (one.path < other.path ? -1 : 1),
    )
    .slice(0, limit);
}

/** Installs ripgrep when it is missing. Its version. */
export async function ripgrepVersion() {
  const version = () => execFileSync('rg', ['--version'], { encoding: 'utf8' }).split('\n')[0];
  try {
    return version();
  } catch {
    await install('ripgrep');
    return version();
  }
}
