import { access, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BusError } from '../../../errors/bus-error.js';
import { crc32 } from '../../../wire/crc.js';
import { bytesOf } from '../bytes.js';
import { termSections } from '../posting-writer.js';
import { blocksIn, checksOf, Section } from './section.js';
import { corrupt, type OpenFiles, SectionFile } from './section-file.js';

export { corrupt };

/**
 * The container of a segment. Little endian.
 *
 *     0   8  magic
 *     8   4  format version
 *    12   4  number of sections
 *    16   8  length of the whole file
 *    24   4  CRC-32 of the section table and the checksums
 *    28   4  CRC-32 of bytes 0 to 27
 *    32      section table: offset and length (8 bytes each), in the order of `sectionNames`
 *     …      CRC-32 (4 bytes) of each block of each section
 *     …      sections
 */
export interface SectionLayout<Name extends string> {
  /** Eight letters. */
  magic: string;
  format: number;
  names: readonly Name[];
}

/** Raised whenever the layout or the meaning of a section changes. */
export const segmentFormat = 12;
const headBytes = 32;
const rowBytes = 16;
const checkBytes = 4;
/** Read at once: head, table and checksums of most files. */
const beginBytes = 4_096;

/** Sections with columns are tables of `packRows`; other numbers are u32. */
export const sectionNames = [
  'info', // JSON: ShardInfo
  'kinds', // JSON: of symbols
  'fileRows', // path, language, lines
  'fileBlobs', // 20 bytes each
  'fileSymbols', // first symbol of each file, and the end
  'filesByPath', // files in order of their paths
  'importStarts', // first import of each file, and the end
  'importRows', // columns: target, line, first name
  'importNames', // labels
  'symbolRows', // columns: name, kind, flags, file, first line, lines after it, signature, container, doc
  'callRows', // columns: name, caller, line, receiver, kind and flags; in order of the callers, outside of symbols last
  'callExpressions', // column: what is called, by call
  'typeStarts', // first row of types of each file, and the end
  'typeRows', // columns: owner + 1, role, name, type
  'outsideCalls', // first call outside of all symbols of each file, and the end
  'nameBlocks', // sorted names of symbols and callees; see `packSorted`
  'nameBytes', // front-coded
  'nameSymbols', // column: symbols in the order of their names, definitions first
  'nameCalls', // column: calls in the order of their names
  'useRows', // as callRows: names that are used, not called
  'useExpressions',
  'outsideUses',
  'nameUses',
  'slotRows', // columns: name, caller + 1, file, line, structure.field, what it is put into; in the order of the names
  ...termSections,
  'vectorSymbols', // functions that have a vector, in order
  'vectorRows', // i8: what each of them is about; see `vectors/word-vectors.ts`
  'scannedBlocks', // names of long lists of definitions, sorted
  'scannedNames', // front-coded
  'scannedPlaces', // columns: file, line; in their order
  'labelOffsets', // column: what comes again and again, and what is read without the rest: paths, containers, receivers, fields
  'labelBytes',
  'textOffsets', // column: signatures and documentation
  'textBytes',
] as const;
export type SectionName = (typeof sectionNames)[number];
export type Sections = Record<SectionName, Uint8Array>;
export const segmentLayout: SectionLayout<SectionName> = {
  magic: 'SIGMASEG',
  format: segmentFormat,
  names: sectionNames,
};

/** Concurrent fsync calls. */
const settledAtOnce = 8;

/**
 * Writes a file beside its place, then renames it: readers see the whole file or none. A new file survives a power cut
 * only after `settle`; nothing may name it before. A file that replaces another one is safe at once.
 */
export async function writeSections<Name extends string>(
  path: string,
  layout: SectionLayout<Name>,
  sections: Record<Name, Uint8Array>,
): Promise<number> {
  const { names } = layout;
  const table = Buffer.alloc(names.length * rowBytes);
  const checks = names.map((name) => bytesOf(checksOf(sections[name])));
  const before = [table, ...checks];
  const pieces: Uint8Array[] = [...before];
  let offset = headBytes + before.reduce((sum, { length }) => sum + length, 0);
  names.forEach((name, index) => {
    const bytes = sections[name];
    table.writeBigUInt64LE(BigInt(offset), index * rowBytes);
    table.writeBigUInt64LE(BigInt(bytes.byteLength), index * rowBytes + 8);
    pieces.push(bytes);
    offset += bytes.byteLength;
  });
  const head = Buffer.alloc(headBytes);
  head.write(layout.magic, 'latin1');
  head.writeUInt32LE(layout.format, 8);
  head.writeUInt32LE(names.length, 12);
  head.writeBigUInt64LE(BigInt(offset), 16);
  head.writeUInt32LE(
    before.reduce((seed, piece) => crc32(piece, seed), 0),
    24,
  );
  head.writeUInt32LE(crc32(head.subarray(0, 28)), 28);
  const isNew = await access(path).then(
    () => false,
    () => true,
  );
  if (isNew) await writeInPlace(path, [head, ...pieces]);
  else await writeAtomically(path, [head, ...pieces]);
  return offset;
}

/**
 * Brings new files of a folder to disk, before anything names them. Concurrently, because each alone would wait twice
 * for the file system's journal. Throws STORE_UNAVAILABLE.
 */
export async function settle(folder: string, names: readonly string[]): Promise<void> {
  const queue = names.values();
  const work = async (): Promise<void> => {
    for (const name of queue) await syncOne(join(folder, name), 'r+');
  };
  await Promise.all(Array.from({ length: settledAtOnce }, work));
  if (names.length > 0) await syncOne(folder, 'r');
}

/** What a reader gets for each section. */
export type SectionsOf<Name extends string> = Readonly<Record<Name, Section>>;

/** How a file is read: whole, by those who check it; each block when it is first needed, by those who ask, and who close it. */
export type Reading = 'whole' | OpenFiles;

/**
 * Reads a file of sections into an object. Throws INDEX_CORRUPT for anything but a complete
 * file of this layout, and for what `make` throws; INDEX_MISSING when it is absent. What is read later is INDEX_CORRUPT then.
 */
export async function openSections<Name extends string, Made>(
  path: string,
  layout: SectionLayout<Name>,
  make: (sections: SectionsOf<Name>) => Made,
  reading: Reading = 'whole',
): Promise<Made> {
  const sections =
    reading === 'whole' ? wholeSections(path, layout) : sectionsIn(path, layout, reading);
  try {
    return await Promise.resolve(make(sections));
  } catch (error) {
    if (error instanceof BusError) throw error;
    throw corrupt(path, error instanceof Error ? error.message : 'unreadable', error);
  }
}

/** Throws as `SectionFile`, and INDEX_CORRUPT. */
export function sectionsIn<Name extends string>(
  path: string,
  layout: SectionLayout<Name>,
  files: OpenFiles,
): SectionsOf<Name> {
  return sectionsOf(files.open(path), layout);
}

function wholeSections<Name extends string>(
  path: string,
  layout: SectionLayout<Name>,
): SectionsOf<Name> {
  using file = new SectionFile(path);
  const sections = sectionsOf(file, layout);
  for (const name of layout.names) sections[name].whole();
  return sections;
}

function sectionsOf<Name extends string>(
  file: SectionFile,
  { magic, format: wanted, names }: SectionLayout<Name>,
): SectionsOf<Name> {
  const { path, size } = file;
  const begin = partOf(file, 0, Math.min(size, beginBytes));
  const tableEnd = headBytes + names.length * rowBytes;
  if (begin.length < tableEnd) throw corrupt(path, 'too short');
  if (begin.toString('latin1', 0, magic.length) !== magic) throw corrupt(path, `no ${magic} file`);
  if (crc32(begin.subarray(0, 28)) !== begin.readUInt32LE(28)) throw corrupt(path, 'head');
  const format = begin.readUInt32LE(8);
  if (format !== wanted) throw corrupt(path, `format ${format}, not ${wanted}`);
  if (begin.readUInt32LE(12) !== names.length) throw corrupt(path, 'sections');
  if (begin.readBigUInt64LE(16) !== BigInt(size)) throw corrupt(path, 'length');
  const rows = names.map((_, index) => ({
    start: Number(begin.readBigUInt64LE(headBytes + index * rowBytes)),
    length: Number(begin.readBigUInt64LE(headBytes + index * rowBytes + 8)),
  }));
  const blocks = rows.reduce((sum, { length }) => sum + blocksIn(length), 0);
  const end = tableEnd + blocks * checkBytes;
  if (!(end <= size)) throw corrupt(path, 'too short');
  const head = end <= begin.length ? begin : partOf(file, 0, end);
  if (crc32(head.subarray(headBytes, end)) !== head.readUInt32LE(24)) throw corrupt(path, 'table');
  const checks = new Uint32Array(head.buffer, head.byteOffset + tableEnd, blocks);
  let at = 0;
  const sections = rows.map(({ start, length }, index) => {
    if (start + length > size) throw corrupt(path, `section ${names[index] ?? ''}`);
    const its = checks.subarray(at, (at += blocksIn(length)));
    return [names[index], Section.in(file, { start, length, checks: its })] as const;
  });
  return Object.fromEntries(sections) as SectionsOf<Name>;
}

function partOf(file: SectionFile, start: number, end: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(end - start);
  file.read(bytes, start);
  return bytes;
}

/**
 * Replaces a file in one step that survives a power cut; the name ends in `.tmp` while writing. Throws
 * STORE_UNAVAILABLE.
 */
export async function writeAtomically(path: string, pieces: readonly Uint8Array[]): Promise<void> {
  await writeInPlace(path, pieces, (handle) => handle.sync());
  await syncOne(dirname(path), 'r');
}

async function writeInPlace(
  path: string,
  pieces: readonly Uint8Array[],
  end: (handle: FileHandle) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const handle = await open(temporary, 'w', 0o600);
    try {
      for (const piece of pieces) await handle.writeFile(piece);
      await end(handle);
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw unavailable(path, error);
  }
}

async function syncOne(path: string, mode: 'r' | 'r+'): Promise<void> {
  try {
    const handle = await open(path, mode);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw unavailable(path, error);
  }
}

function unavailable(path: string, cause: unknown): BusError {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new BusError('STORE_UNAVAILABLE', { path, detail }, { cause });
}
