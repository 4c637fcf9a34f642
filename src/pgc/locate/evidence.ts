import { wordsOf as termsOf } from '../miners/words.js';
import type { Candidates } from './candidates.js';
import { featureNames, weights, type FeatureName } from './features.js';
import type { Reading } from './reading.js';
import type { WordIndex } from './word-index.js';

/** Why a file is where it is. */
export interface Evidence {
  kind: 'words' | 'symbol' | 'frame' | 'path' | 'option' | 'string' | 'device';
  /** Of the report, as it is written there. */
  text: string;
  /** Of the file, 1-based; absent: all of it. */
  line?: number;
  /** How much it adds to the score; 0: it is told, but does not count. */
  weight: number;
}

const evidencePerFileMax = 5;
const wordsMax = 6;
const textCharsMax = 160;

/** The weightiest evidence for each of these files, by file. */
export function evidenceFor(
  index: WordIndex,
  candidates: Candidates,
  files: readonly number[],
  readings: ReadonlyMap<number, Reading>,
): Map<number, Evidence[]> {
  const words = wordsOf(index, candidates, files);
  const found = new Map<number, Evidence[]>(files.map((file) => [file, []]));
  for (const { feature, text, places, value } of candidates.findings) {
    const kind = feature === 'file' ? 'path' : feature;
    const told = new Set<number>();
    for (const { file, line } of places) {
      if (told.has(file)) continue;
      told.add(file);
      const evidence = { kind, text: cut(text), weight: weights[feature] * value };
      found.get(file)?.push(line > 0 ? { ...evidence, line } : evidence);
    }
  }
  const spellings = new Map(candidates.terms.map(({ term, spelling }) => [term, spelling]));
  for (const [file, its] of found) {
    const inText = words.get(file);
    const reading = readings.get(file);
    if (inText !== undefined) its.push(placed(inText, reading));
    const inPath = pathEvidence(candidates, spellings, file, index.path(file));
    if (inPath !== undefined) its.push(inPath);
    if (reading !== undefined) its.push(...told(reading));
    its.sort(byWeight);
  }
  return new Map([...found].map(([file, its]) => [file, best(its)]));
}

/** What counts first; of what does not count, one of each kind is told all the same. */
function best(evidence: readonly Evidence[]): Evidence[] {
  const counting = evidence.filter(({ weight }) => weight > 0);
  const others = evidence.filter(({ weight }) => weight === 0);
  return [...counting.slice(0, evidencePerFileMax - others.length), ...others].map((each) => ({
    ...each,
    weight: Math.round(each.weight * 1_000) / 1_000,
  }));
}

function byWeight(a: Evidence, b: Evidence): number {
  return (
    b.weight - a.weight ||
    (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : 0) ||
    (a.text < b.text ? -1 : 1)
  );
}

/** Where most of the words stand together, which counts too. */
function placed(words: Evidence, reading: Reading | undefined): Evidence {
  if (reading === undefined || reading.passage.line === 0) return words;
  const { score, line } = reading.passage;
  return { ...words, line, weight: words.weight + weights.passage * score };
}

function told({ messages, devices, string, device }: Reading): Evidence[] {
  const found: Evidence[] = [];
  const [message] = messages;
  if (message !== undefined)
    found.push({
      ...{ kind: 'string', text: cut(message.line), line: message.at },
      weight: weights.string * string,
    });
  const [known] = devices;
  if (known !== undefined)
    found.push({
      ...{ kind: 'device', text: known.text, line: known.at },
      weight: weights.device * device,
    });
  return found;
}

/** What the path gains by its words. */
const ofPaths: readonly FeatureName[] = [
  ...featureNames.filter((name) => /_(?:file|folder)_share$|^prose_folder$/.test(name)),
  ...(['path_words', 'stem', 'module'] as const),
];

/** Words of the report that the path has. */
function pathEvidence(
  { columns }: Candidates,
  spellings: ReadonlyMap<string, string>,
  file: number,
  path: string,
): Evidence | undefined {
  const weight = ofPaths.reduce((sum, name) => sum + weights[name] * columns.at(name, file), 0);
  const words = termsOf(path).flatMap((term) => spellings.get(term) ?? []);
  if (weight === 0 || words.length === 0) return undefined;
  return { kind: 'path', text: cut([...new Set(words)].join(', ')), weight };
}

/** The words of the report that count most for each file, as the report writes them. */
function wordsOf(
  index: WordIndex,
  { terms }: Candidates,
  files: readonly number[],
): Map<number, Evidence> {
  const gains = new Map<number, { spelling: string; gain: number }[]>(
    files.map((file) => [file, []]),
  );
  const wanted = new Set(files);
  const shards = new Set(files.map((file) => index.shardOf(file)));
  for (const { term, spelling, names, once, often, cover } of terms) {
    if (names + once + often + cover === 0) continue;
    for (const shard of shards)
      index.standingIn(term, shard, wanted, (file, its) => {
        const gain = names * its.names + once * its.once + often * its.often + cover;
        gains.get(file)?.push({ spelling, gain });
      });
  }
  const found = new Map<number, Evidence>();
  for (const [file, its] of gains) {
    const bySpelling = new Map<string, number>();
    for (const { spelling, gain } of its)
      bySpelling.set(spelling, (bySpelling.get(spelling) ?? 0) + gain);
    const ranked = [...bySpelling].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
    const text = ranked.slice(0, wordsMax).map(([spelling]) => spelling);
    const weight = its.reduce((sum, { gain }) => sum + gain, 0);
    if (text.length > 0) found.set(file, { kind: 'words', text: cut(text.join(', ')), weight });
  }
  return found;
}

function cut(text: string): string {
  return text.length <= textCharsMax ? text : `${text.slice(0, textCharsMax - 1)}…`;
}
