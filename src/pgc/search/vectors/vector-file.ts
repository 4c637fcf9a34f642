import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ManifestShard } from '../../plan/manifest.js';
import {
  corrupt,
  readSections,
  writeSections,
  type SectionLayout,
} from '../../format/segment-file.js';
import { codeBytes } from './sign-codes.js';
import { textRecipe } from './symbol-text.js';

/** Raised whenever the layout or the meaning of a section changes. */
const vectorFormat = 1;

const names = [
  'info', // JSON: VectorInfo
  'documents', // u32: document of each row, ascending
  'codes', // signs of each row's vector: see `sign-codes.ts`
] as const;
const layout: SectionLayout<(typeof names)[number]> = {
  magic: 'SIGMAVEC',
  format: vectorFormat,
  names,
};

const infoShape = z.object({
  alias: z.string(),
  /** Of the shard: documents are those of its segment. */
  version: z.string(),
  /** Of the embedder. */
  fingerprint: z.string(),
  dims: z.number().int().min(1),
});
type VectorInfo = z.infer<typeof infoShape>;

/** What goes into names of files and versions: the embedder, and how texts are made for it. */
export function shortFingerprint(fingerprint: string): string {
  return createHash('sha256').update(`${fingerprint}\0${textRecipe}`).digest('hex').slice(0, 8);
}

/** Another one for another shard, another embedder and another way to make texts. */
export function vectorFileName(
  { alias, version }: Pick<ManifestShard, 'alias' | 'version'>,
  fingerprint: string,
): string {
  return `${alias}-${version}.${shortFingerprint(fingerprint)}.vec`;
}

/** What answers depend on: with vectors, or with those of another engine, they may be others. */
export function servedVersion({
  version,
  bound,
  vectors,
}: Pick<ManifestShard, 'version' | 'bound' | 'vectors'>): string {
  const whole = [
    version,
    bound?.split('.').at(-2),
    vectors && shortFingerprint(vectors.fingerprint),
  ];
  return whole.filter((each) => each !== undefined).join('.');
}

/** Vectors of the symbols of one shard, as one bit a number. */
export class VectorFile {
  private constructor(
    readonly info: VectorInfo,
    readonly documents: Uint32Array,
    readonly codes: Uint8Array,
  ) {}

  /** Throws INDEX_CORRUPT, or INDEX_MISSING when there is no such file. */
  static async open(path: string): Promise<VectorFile> {
    const { info, documents, codes } = await readSections(path, layout);
    const parsed = infoShape.safeParse(jsonOf(info));
    if (!parsed.success) throw corrupt(path, 'info');
    const rows = Math.floor(documents.byteLength / 4);
    if (codes.length !== rows * codeBytes(parsed.data.dims)) throw corrupt(path, 'codes');
    return new VectorFile(
      parsed.data,
      new Uint32Array(documents.buffer, documents.byteOffset, rows),
      codes,
    );
  }

  /** Throws STORE_UNAVAILABLE. */
  static async write(
    path: string,
    info: VectorInfo,
    documents: Uint32Array,
    codes: Uint8Array,
  ): Promise<void> {
    await writeSections(path, layout, {
      info: Buffer.from(JSON.stringify(info)),
      documents: new Uint8Array(documents.buffer, documents.byteOffset, documents.byteLength),
      codes,
    });
  }
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}
