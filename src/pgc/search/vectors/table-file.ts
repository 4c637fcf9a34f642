import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { BusError } from '../../../errors/bus-error.js';
import { fingerprintOf, type Minilm } from '../../../model/minilm.js';
import { tableRecipe, TokenTable, type TableRows } from '../../../model/token-table.js';
import { WordPiece } from '../../../model/word-piece.js';
import {
  corrupt,
  readSections,
  writeSections,
  type SectionLayout,
} from '../../format/segment-file.js';
import { shortFingerprint } from './vector-file.js';

/** Raised whenever the layout or the meaning of a section changes. */
const tableFormat = 1;

const names = [
  'info', // JSON: fingerprint, dims
  'vocabulary', // pieces in the order of their ids, one a line
  'scales', // f32, one a piece
  'rows', // i8: dims a piece
] as const;
const layout: SectionLayout<(typeof names)[number]> = {
  magic: 'SIGMATAB',
  format: tableFormat,
  names,
};
const infoShape = z.object({ fingerprint: z.string(), dims: z.number().int().min(1) });

/** Of the table that is made from the bundled model. */
export const tableFingerprint = fingerprintOf(tableRecipe);

/** `home`: SIGMA_HOME. All trees of a home share it. */
export function tablePath(home: string): string {
  return join(home, 'models', `${shortFingerprint(tableFingerprint)}.table`);
}

/** Undefined: it was not derived yet. Throws INDEX_CORRUPT. */
export async function readTable(home: string): Promise<TokenTable | undefined> {
  const path = tablePath(home);
  const sections = await readSections(path, layout).catch((error: unknown) => {
    if (error instanceof BusError && error.code === 'INDEX_MISSING') return undefined;
    throw error;
  });
  if (sections === undefined) return undefined;
  try {
    const { info, vocabulary, scales, rows } = sections;
    const { fingerprint, dims } = infoShape.parse(JSON.parse(Buffer.from(info).toString()));
    if (fingerprint !== tableFingerprint) throw new Error(`it is of ${fingerprint}`);
    const pieces = Buffer.from(vocabulary).toString().split('\n');
    const table = {
      dims,
      rows: new Int8Array(rows.buffer, rows.byteOffset, rows.byteLength),
      scales: new Float32Array(scales.buffer, scales.byteOffset, scales.byteLength / 4),
    };
    return new TokenTable(new WordPiece(pieces), table, fingerprint);
  } catch (error) {
    throw corrupt(path, error instanceof Error ? error.message : String(error), error);
  }
}

/**
 * The table of this home; made and kept when there is none that is whole. Takes some seven seconds then.
 * Throws as `Minilm.derive`, STORE_UNAVAILABLE.
 */
export async function readOrMakeTable(
  home: string,
  model: Minilm | undefined,
  signal?: AbortSignal,
): Promise<TokenTable | undefined> {
  const known = await readTable(home).catch((error: unknown) => {
    // A damaged one is made anew.
    if (error instanceof BusError && error.code === 'INDEX_CORRUPT') return undefined;
    throw error;
  });
  if (known !== undefined || model === undefined) return known;
  const { table, vocabulary } = await model.derive(signal);
  await writeTable(home, table, vocabulary);
  return new TokenTable(new WordPiece(vocabulary), table, tableFingerprint);
}

/** Throws STORE_UNAVAILABLE. */
export async function writeTable(
  home: string,
  { scales, rows, dims }: TableRows,
  vocabulary: readonly string[],
): Promise<void> {
  const path = tablePath(home);
  await makeFolder(dirname(path));
  await writeSections(path, layout, {
    info: Buffer.from(JSON.stringify({ fingerprint: tableFingerprint, dims })),
    vocabulary: Buffer.from(vocabulary.join('\n')),
    scales: new Uint8Array(scales.buffer, scales.byteOffset, scales.byteLength),
    rows: new Uint8Array(rows.buffer, rows.byteOffset, rows.byteLength),
  });
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    const detail = error instanceof Error ? error.message : String(error);
    throw new BusError('STORE_UNAVAILABLE', { path, detail }, { cause: error });
  });
}
