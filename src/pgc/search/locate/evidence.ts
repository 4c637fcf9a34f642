import type { Plain, sigma } from '../../../wire/codec.js';
import { wordsOf as termsOf } from '../../format/words.js';
import { featureNames, weights, type Columns, type FeatureName } from './features.js';
import type { Finding } from './named.js';
import type { Reading } from './reading.js';
import type { SoughtTerm } from './word-scores.js';
import type { FunctionsOfFile } from '../rank/files.js';

/** Why a file is where it is. */
export type Evidence = Plain<
  sigma.pgc.FileEvidence,
  {
    kind: 'words' | 'functions' | 'symbol' | 'frame' | 'path' | 'option' | 'string' | 'device';
    line?: number;
  }
>;

const evidencePerFileMax = 6;
const wordsMax = 6;
const textCharsMax = 160;

/** The evidence of a shard for one of its files: its words, and matches in its text. */
export function textEvidence(words: Evidence | undefined, reading: Reading): Evidence[] {
  return [...(words === undefined ? [] : [placed(words, reading)]), ...readEvidence(reading)];
}

/** Evidence that needs no text: which files the report names, which words their paths have, which functions answer. */
export class PathEvidence {
  readonly #columns: Columns;
  readonly #spellings: ReadonlyMap<string, string>;
  readonly #functions: ReadonlyMap<number, FunctionsOfFile['best']>;
  readonly #named = new Map<number, Evidence[]>();

  constructor(
    columns: Columns,
    findings: readonly Finding[],
    terms: readonly Pick<SoughtTerm, 'term' | 'spelling'>[],
    functions: ReadonlyMap<number, FunctionsOfFile['best']>,
  ) {
    this.#columns = columns;
    this.#functions = functions;
    this.#spellings = new Map(terms.map(({ term, spelling }) => [term, spelling]));
    for (const finding of findings) this.#note(finding);
  }

  #note({ feature, text, places, value }: Finding): void {
    const kind = feature === 'file' ? 'path' : feature;
    const noted = new Set<number>();
    for (const { file, line } of places) {
      if (noted.has(file)) continue;
      noted.add(file);
      const evidence = { kind, text: cut(text), weight: weights[feature] * value };
      const known = this.#named.get(file) ?? [];
      known.push(line > 0 ? { ...evidence, line } : evidence);
      this.#named.set(file, known);
    }
  }

  /** All of a file, the weightiest first. */
  with(ofText: readonly Evidence[], file: number, path: string): Evidence[] {
    const ofPath = pathEvidence(this.#columns, this.#spellings, file, path);
    const named = this.#named.get(file) ?? [];
    const of = [...named, ...this.#functionsOf(file), ...ofText];
    return best([...of, ...(ofPath === undefined ? [] : [ofPath])].sort(byWeight));
  }

  /** The best function first, whose line it is. */
  #functionsOf(file: number): Evidence[] {
    const its = this.#functions.get(file) ?? [];
    const [first] = its;
    if (first === undefined) return [];
    return [
      {
        ...{ kind: 'functions', text: cut(its.map(({ name }) => name).join(', ')) },
        ...{ line: first.line, weight: weights.functions * this.#columns.at('functions', file) },
      },
    ];
  }
}

/** Evidence that counts first; evidence that does not count is kept, too. */
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

function readEvidence({ messages, devices, string, device }: Reading): Evidence[] {
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
  columns: Columns,
  spellings: ReadonlyMap<string, string>,
  file: number,
  path: string,
): Evidence | undefined {
  const weight = ofPaths.reduce((sum, name) => sum + weights[name] * columns.at(name, file), 0);
  const words = termsOf(path).flatMap((term) => spellings.get(term) ?? []);
  if (weight === 0 || words.length === 0) return undefined;
  return { kind: 'path', text: cut([...new Set(words)].join(', ')), weight };
}

/** A word of the report that stands in a file, and what the file gains by it. */
export interface Gain {
  spelling: string;
  gain: number;
}

/** The words of the report that count most for a file, as the report writes them. */
export function wordEvidence(gains: readonly Gain[]): Evidence | undefined {
  if (gains.length === 0) return undefined;
  const bySpelling = new Map<string, number>();
  for (const { spelling, gain } of gains)
    bySpelling.set(spelling, (bySpelling.get(spelling) ?? 0) + gain);
  const ranked = [...bySpelling].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  const text = ranked.slice(0, wordsMax).map(([spelling]) => spelling);
  const weight = gains.reduce((sum, { gain }) => sum + gain, 0);
  return { kind: 'words', text: cut(text.join(', ')), weight };
}

function cut(text: string): string {
  return text.length <= textCharsMax ? text : `${text.slice(0, textCharsMax - 1)}…`;
}
