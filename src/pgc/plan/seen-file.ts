import { minerVersion, type FactsLanguage } from '../format/facts.js';
import {
  openSections,
  writeSections,
  type SectionLayout,
  type SectionsOf,
} from '../format/container/segment-file.js';
import type { FileRow } from '../format/shard-index.js';
import type { RuleDigests } from '../mine/fact-store.js';
import type { LeftOut, LeftOutReason } from '../source/source-tree.js';

/** Raised whenever the content, or the rules that decide whether a file is read, change. */
const format = 3;
/** Device, inode, size, and both times in nanoseconds. */
export const stampNumbers = 5;
const blobBytes = 20;

export type Known = FileRow | LeftOut;

/** What a run has seen of a tree. A row is a path of the listing. */
export interface Seen {
  /** In order of the files, then of what the listing left out. */
  paths: string[];
  /** As the name says, or the text; undefined: the listing left it out. */
  languages: (FactsLanguage | undefined)[];
  /** What was found in it; undefined: it was not read, or its miner failed. */
  known: (Known | undefined)[];
  /** `stampNumbers` of each; zeros: it may have changed since. */
  stamps: BigUint64Array;
  about: SeenAbout;
}

export interface SeenAbout {
  /** Digest of the manifest that was written from this, and what else its files depend on; empty: none was. */
  served: string;
  /** When the run began: a file was read after that. */
  started_ms: number;
  digests: RuleDigests;
  /** See `Listing`. */
  by: 'git' | 'walk';
  note: string;
  /** The files outside of the tree that the listing depends on, and their stamps. */
  inputs: Record<string, string>;
  /** The index was pulled: there may be no facts of what it holds. They are mined when they are needed. */
  lacks_facts: boolean;
}

const names = [
  'about', // JSON: SeenAbout, the languages and the reasons
  'paths', // UTF-8, each with a zero byte behind it
  'stamps', // u64
  'blobs', // 20 bytes each; zeros where there is none
  'lines', // u32
  'languages', // u8: place in `about` + 1; 0: none
  'reasons', // u8: likewise
] as const;
const layout: SectionLayout<(typeof names)[number]> = { magic: 'SIGMASEE', format, names };

interface Header extends SeenAbout {
  miner: number;
  languages: FactsLanguage[];
  reasons: LeftOutReason[];
}

/** Undefined for a file that is absent, damaged or of another version. */
export async function readSeen(path: string): Promise<Seen | undefined> {
  const read = await readColumns(path);
  if (read === undefined) return undefined;
  const { sections, header, paths, stamps, blobAt } = read;
  const { miner, languages, reasons, ...about } = header;
  if (miner !== minerVersion) return undefined;
  const lines = new Uint32Array(aligned(sections.lines));
  const seen: Seen = { paths, languages: [], known: [], about, stamps };
  for (const [at, name] of paths.entries()) {
    const language = languages[(sections.languages[at] ?? 0) - 1];
    const reason = reasons[(sections.reasons[at] ?? 0) - 1];
    const blob = blobAt(at);
    seen.languages.push(language);
    seen.known.push(
      reason !== undefined
        ? { path: name, reason }
        : language === undefined || isNothing.test(blob)
          ? undefined
          : { path: name, language, blob, lines: lines[at] ?? 0 },
    );
  }
  return seen;
}

/** The files whose content a run has read, and how each was found. */
export interface SeenFiles {
  served: string;
  startedMs: number;
  /** Of the rows of the other columns; those of files that were not read are empty. */
  paths: readonly string[];
  stamps: BigUint64Array;
  /** Empty: it was not read. */
  blobAt: (at: number) => string;
}

/** As `readSeen`, in a tenth of its time. */
export async function readSeenFiles(path: string): Promise<SeenFiles | undefined> {
  const read = await readColumns(path);
  if (read === undefined) return undefined;
  const { header, paths, stamps, blobAt } = read;
  const { served, started_ms: startedMs } = header;
  return {
    ...{ served, startedMs, paths, stamps },
    blobAt: (at) => (isNothing.test(blobAt(at)) ? '' : blobAt(at)),
  };
}

interface Columns {
  sections: Record<(typeof names)[number], Buffer>;
  header: Header;
  paths: string[];
  stamps: BigUint64Array;
  blobAt: (at: number) => string;
}

async function readColumns(path: string): Promise<Columns | undefined> {
  try {
    const sections = await openSections(path, layout, wholeOf);
    const header = JSON.parse(text(sections.about)) as Header;
    const paths = text(sections.paths).split('\0');
    paths.pop();
    const blobAt = (at: number): string =>
      sections.blobs.toString('hex', blobBytes * at, blobBytes * (at + 1));
    return {
      ...{ sections, header, paths, blobAt },
      stamps: new BigUint64Array(aligned(sections.stamps)),
    };
  } catch {
    return undefined;
  }
}

function wholeOf(
  sections: SectionsOf<(typeof names)[number]>,
): Record<keyof typeof sections, Buffer> {
  return Object.fromEntries(names.map((name) => [name, sections[name].whole()])) as Record<
    keyof typeof sections,
    Buffer
  >;
}

/** Of files whose content is known, but not whether this tree has it: each is read. Throws STORE_UNAVAILABLE. */
export async function writePulled(path: string, rows: readonly FileRow[]): Promise<void> {
  await writeSeen(path, {
    ...{ paths: rows.map((row) => row.path), languages: rows.map(({ language }) => language) },
    ...{ known: [...rows], stamps: new BigUint64Array(rows.length * stampNumbers) },
    about: {
      ...{ served: '', started_ms: 0, digests: {}, by: 'walk', note: '', lacks_facts: true },
      // Never as they were: this tree has not been listed yet.
      inputs: { [path]: '' },
    },
  });
}

/** Throws STORE_UNAVAILABLE. */
export async function writeSeen(path: string, seen: Seen): Promise<void> {
  const { paths, known, stamps } = seen;
  const languages = new Places<FactsLanguage>();
  const reasons = new Places<LeftOutReason>();
  const blobs = Buffer.alloc(paths.length * blobBytes);
  const lines = new Uint32Array(paths.length);
  const places = { language: Buffer.alloc(paths.length), reason: Buffer.alloc(paths.length) };
  for (const [at, its] of known.entries()) {
    if (its !== undefined && 'blob' in its) {
      blobs.write(its.blob, at * blobBytes, 'hex');
      lines[at] = its.lines;
    }
    places.language[at] = languages.of(seen.languages[at]);
    places.reason[at] = reasons.of(its !== undefined && 'reason' in its ? its.reason : undefined);
  }
  const header: Header = {
    ...seen.about,
    ...{ miner: minerVersion, languages: languages.all, reasons: reasons.all },
  };
  await writeSections(path, layout, {
    about: Buffer.from(JSON.stringify(header)),
    paths: Buffer.from(paths.map((each) => `${each}\0`).join('')),
    stamps: new Uint8Array(stamps.buffer, stamps.byteOffset, stamps.byteLength),
    blobs,
    lines: new Uint8Array(lines.buffer),
    languages: places.language,
    reasons: places.reason,
  });
}

const isNothing = /^0+$/;

/** The few different values of a column, as they come; 0 stands for none. */
class Places<T> {
  readonly all: T[] = [];
  readonly #places = new Map<T, number>();

  of(value: T | undefined): number {
    if (value === undefined) return 0;
    const known = this.#places.get(value);
    if (known !== undefined) return known;
    this.#places.set(value, this.all.push(value));
    return this.all.length;
  }
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}

function aligned(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
