import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { access, open, readFile, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BusError } from '../../errors/bus-error.js';
import { crc32 } from '../../wire/crc.js';
import { termSections } from './posting-writer.js';

/**
 * The container of a segment. Little endian.
 *
 *     0   8  magic
 *     8   4  format version
 *    12   4  number of sections
 *    16   8  length of the whole file
 *    24   4  CRC-32 of everything from byte 32 on
 *    28   4  CRC-32 of bytes 0 to 27
 *    32      section table: offset (8 bytes), length (4) and CRC-32 (4), in the order of `sectionNames`
 *     …      sections, each aligned to 8 bytes
 */
export interface SectionLayout<Name extends string> {
  /** Eight letters. */
  magic: string;
  format: number;
  names: readonly Name[];
}

/** Raised whenever the layout or the meaning of a section changes. */
export const segmentFormat = 11;
const headBytes = 32;
const rowBytes = 16;
const alignment = 8;

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
  const pieces: Uint8Array[] = [table];
  let offset = align(headBytes + table.length);
  pieces.push(Buffer.alloc(offset - headBytes - table.length));
  names.forEach((name, index) => {
    const bytes = sections[name];
    table.writeBigUInt64LE(BigInt(offset), index * rowBytes);
    table.writeUInt32LE(bytes.byteLength, index * rowBytes + 8);
    table.writeUInt32LE(crc32(bytes), index * rowBytes + 12);
    const end = offset + bytes.byteLength;
    pieces.push(bytes, Buffer.alloc(align(end) - end));
    offset = align(end);
  });
  const head = Buffer.alloc(headBytes);
  head.write(layout.magic, 'latin1');
  head.writeUInt32LE(layout.format, 8);
  head.writeUInt32LE(names.length, 12);
  head.writeBigUInt64LE(BigInt(offset), 16);
  head.writeUInt32LE(
    pieces.reduce((seed, piece) => crc32(piece, seed), 0),
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

/** Throws INDEX_CORRUPT for anything but a complete file of this layout, INDEX_MISSING when absent. */
export async function readSections<Name extends string>(
  path: string,
  layout: SectionLayout<Name>,
): Promise<Record<Name, Uint8Array>> {
  let file: Buffer;
  try {
    file = await readFile(path);
  } catch (error) {
    throw unreadable(path, error);
  }
  // Views of 32-bit numbers need an aligned start; a small file may be in Node's shared buffer pool.
  const bytes = file.byteOffset % alignment === 0 ? file : copyAligned(file);
  const rows = tableOf(path, bytes, bytes.length, layout);
  if (crc32(bytes.subarray(headBytes)) !== bytes.readUInt32LE(24)) throw corrupt(path, 'checksum');
  const sections = layout.names.map((name, at) => {
    const { start = 0, end = 0 } = rows[at] ?? {};
    return [name, bytes.subarray(start, end)] as const;
  });
  return Object.fromEntries(sections) as unknown as Record<Name, Uint8Array>;
}

interface SectionRow {
  start: number;
  end: number;
  check: number;
}

/** Where the sections are. `bytes`: of the head and the table at least. */
function tableOf<Name extends string>(
  path: string,
  bytes: Buffer,
  length: number,
  { magic, format: wanted, names }: SectionLayout<Name>,
): SectionRow[] {
  if (bytes.length < headBytes + names.length * rowBytes) throw corrupt(path, 'too short');
  if (bytes.toString('latin1', 0, magic.length) !== magic) throw corrupt(path, `no ${magic} file`);
  if (crc32(bytes.subarray(0, 28)) !== bytes.readUInt32LE(28)) throw corrupt(path, 'head');
  const format = bytes.readUInt32LE(8);
  if (format !== wanted) throw corrupt(path, `format ${format}, not ${wanted}`);
  if (bytes.readBigUInt64LE(16) !== BigInt(length)) throw corrupt(path, 'length');
  if (bytes.readUInt32LE(12) !== names.length) throw corrupt(path, 'sections');
  return names.map((name, index) => {
    const row = headBytes + index * rowBytes;
    const start = Number(bytes.readBigUInt64LE(row));
    const end = start + bytes.readUInt32LE(row + 8);
    if (start % alignment !== 0 || end > length) throw corrupt(path, `section ${name}`);
    return { start, end, check: bytes.readUInt32LE(row + 12) };
  });
}

/** Files are closed with the last reference to what reads them. */
const openFiles = new FinalizationRegistry<number>(closeSync);

/**
 * Sections that are read, and checked, when they are first asked for: for those who need few of them. The file may be
 * removed meanwhile. Throws as `readSections`, each section INDEX_CORRUPT.
 */
export function lazySections<Name extends string>(
  path: string,
  layout: SectionLayout<Name>,
): Record<Name, Uint8Array> {
  const file = opened(path);
  const sections = {} as Record<Name, Uint8Array>;
  openFiles.register(sections, file);
  const { size } = fstatSync(file);
  const head = read(path, file, 0, Math.min(size, headBytes + layout.names.length * rowBytes));
  for (const [at, { start, end, check }] of tableOf(path, head, size, layout).entries()) {
    let bytes: Buffer | undefined;
    const get = (): Uint8Array => (bytes ??= checked(path, file, start, end, check));
    Object.defineProperty(sections, layout.names[at] as Name, { get, enumerable: true });
  }
  return sections;
}

function opened(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw unreadable(path, error);
  }
}

function read(path: string, file: number, start: number, end: number): Buffer {
  // Of its own: views of 32-bit numbers need an aligned start.
  const bytes = Buffer.allocUnsafeSlow(end - start);
  for (let at = 0; at < bytes.length;) {
    let count: number;
    try {
      count = readSync(file, bytes, at, bytes.length - at, start + at);
    } catch (error) {
      throw unreadable(path, error);
    }
    if (count === 0) throw corrupt(path, 'too short');
    at += count;
  }
  return bytes;
}

function checked(path: string, file: number, start: number, end: number, check: number): Buffer {
  const bytes = read(path, file, start, end);
  if (crc32(bytes) !== check) throw corrupt(path, 'checksum');
  return bytes;
}

function unreadable(path: string, error: unknown): BusError {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
    ? new BusError('INDEX_MISSING', { path }, { cause: error })
    : corrupt(path, error instanceof Error ? error.message : 'unreadable', error);
}

/** How a file is read: whole and checked, or by those who need few of its sections. */
export type Reading = 'whole' | 'lazy';

/** Reads a file of sections into an object. Throws as `readSections`, and INDEX_CORRUPT for what `make` throws. */
export async function openSections<Name extends string, Made>(
  path: string,
  layout: SectionLayout<Name>,
  make: (sections: Record<Name, Uint8Array>) => Made,
  reading: Reading = 'whole',
): Promise<Made> {
  const sections =
    reading === 'whole' ? await readSections(path, layout) : lazySections(path, layout);
  try {
    return make(sections);
  } catch (error) {
    throw corrupt(path, error instanceof Error ? error.message : 'unreadable', error);
  }
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

export function corrupt(path: string, detail: string, cause?: unknown): BusError {
  return new BusError('INDEX_CORRUPT', { path, detail }, { cause });
}

function copyAligned(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

function align(offset: number): number {
  return Math.ceil(offset / alignment) * alignment;
}
