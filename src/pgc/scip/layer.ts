import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { BusError } from '../../errors/bus-error.js';
import { unreadable } from '../format/container/section-file.js';
import { writeAtomically } from '../format/container/segment-file.js';

/** Raised whenever the layout changes. */
const format = 1;
const fileBytesMax = 1024 ** 3;

const header = z.object({ format: z.literal(format) });
const target = z.object({
  path: z.string(),
  container: z.string(),
  name: z.string(),
  kind: z.string(),
  line: z.number(),
});
/** What stands for a target where there is none. */
const said = { outside: -1, value: -2, outer: -3 } as const;
const documentSchema = z.object({
  path: z.string(),
  /** Of the content that it speaks of. */
  blob: z.string(),
  targets: z.array(target),
  /** Line, name, then what it means: targets, or one of `said`. */
  sites: z.array(z.tuple([z.number(), z.string()]).rest(z.number())),
  /** Target, and one of this document that may run in its place. */
  implementations: z.array(z.tuple([z.number(), z.number()])),
});

/** A definition of ours that an indexer means. */
export type LayerTarget = z.infer<typeof target>;
/** What an indexer says of one file. */
export type LayerDocument = z.infer<typeof documentSchema>;
/** `outside`: of a library or the language · `outer`: such a thing that is no member of a type · `value`: a local variable. */
export type Meaning = readonly LayerTarget[] | keyof typeof said;

/** Collects one document; a target that is given twice is kept once. */
export class LayerDocumentWriter {
  readonly #document: LayerDocument;
  readonly #targetOf = new Map<string, number>();

  constructor(path: string, blob: string) {
    this.#document = { path, blob, targets: [], sites: [], implementations: [] };
  }

  add(line: number, name: string, meaning: Meaning): void {
    const means =
      typeof meaning === 'string' ? [said[meaning]] : meaning.map((each) => this.#target(each));
    this.#document.sites.push([line, name, ...means]);
  }

  implement(what: LayerTarget, by: LayerTarget): void {
    this.#document.implementations.push([this.#target(what), this.#target(by)]);
  }

  get document(): LayerDocument {
    return this.#document;
  }

  #target(its: LayerTarget): number {
    const key = `${its.path}\0${its.line}\0${its.container}\0${its.name}\0${its.kind}`;
    const known = this.#targetOf.get(key) ?? this.#targetOf.size;
    this.#targetOf.set(key, known);
    this.#document.targets[known] = its;
    return known;
  }
}

export function meaningOf({ targets }: LayerDocument, means: readonly number[]): Meaning {
  if (means[0] === said.outside) return 'outside';
  if (means[0] === said.value) return 'value';
  if (means[0] === said.outer) return 'outer';
  return means.flatMap((each) => targets[each] ?? []);
}

/** Named by its content. Resolves with the name. Throws STORE_UNAVAILABLE. */
export async function writeLayer(
  folder: string,
  documents: readonly LayerDocument[],
): Promise<string> {
  const bytes = gzipSync([{ format }, ...documents].map((each) => JSON.stringify(each)).join('\n'));
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
  const file = `precise-${digest}.scip`;
  await writeAtomically(join(folder, file), [bytes]);
  return file;
}

/** Throws INDEX_MISSING, INDEX_CORRUPT, STORE_UNAVAILABLE. */
export async function readLayer(path: string): Promise<LayerDocument[]> {
  const packed = await readFile(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  try {
    // gzip carries a checksum.
    const text = gunzipSync(packed, { maxOutputLength: fileBytesMax }).toString();
    const [first = '', ...lines] = text.split('\n');
    header.parse(JSON.parse(first));
    return lines.map((line) => documentSchema.parse(JSON.parse(line)));
  } catch (error) {
    const detail = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    throw new BusError('INDEX_CORRUPT', { path, detail }, { cause: error });
  }
}
