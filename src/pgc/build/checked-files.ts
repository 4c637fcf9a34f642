import { lstatSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeAtomically } from '../format/container/segment-file.js';
import { servedFiles, type IndexPlace, type Served } from '../plan/manifest.js';

/** A disk may spoil a file that is not written to: after this long all of them are read again. */
const checkedMsMax = 24 * 60 * 60_000;

const schema = z.object({
  /** When all files were read. */
  checked_ms: z.number(),
  /** By name in `segments/`. */
  stamps: z.record(z.string(), z.string()),
});

/**
 * The served files that were read, or written, and found sound. For as long as they are not written to, a run need not read
 * them to believe that: they are larger than what they were made from.
 */
export class CheckedFiles {
  readonly #place: IndexPlace;
  readonly #startedMs = Date.now();
  readonly #checkedMs: number;
  /** Whether the files of the index that was served before need not be read. */
  readonly areSound: boolean;

  private constructor(place: IndexPlace, checkedMs: number, areSound: boolean) {
    this.#place = place;
    this.#checkedMs = checkedMs;
    this.areSound = areSound;
  }

  static async read(place: IndexPlace, served: Served | undefined): Promise<CheckedFiles> {
    if (served === undefined) return new CheckedFiles(place, Date.now(), true);
    try {
      const { checked_ms, stamps } = schema.parse(
        JSON.parse(await readFile(place.checked, 'utf8')),
      );
      const ageMs = Date.now() - checked_ms;
      const isRecent = ageMs >= 0 && ageMs < checkedMsMax;
      const isSame = (file: string): boolean => {
        const stamp = stampOf(place, file);
        return stamp !== '' && stamps[file] === stamp;
      };
      return new CheckedFiles(place, checked_ms, isRecent && servedFiles(served).every(isSame));
    } catch {
      return new CheckedFiles(place, 0, false);
    }
  }

  /** Call after a run, `isChecked`: that has read what it kept. Throws STORE_UNAVAILABLE. */
  async write(served: Served, isChecked: boolean): Promise<void> {
    // What it did not read may be damaged, and remains to be read.
    if (!isChecked && !this.areSound) return;
    const checked: z.infer<typeof schema> = {
      checked_ms: isChecked ? this.#startedMs : this.#checkedMs,
      stamps: Object.fromEntries(
        servedFiles(served).map((file) => [file, stampOf(this.#place, file)]),
      ),
    };
    await writeAtomically(this.#place.checked, [Buffer.from(JSON.stringify(checked))]);
  }
}

/** Empty: it is not there. */
function stampOf({ segments }: IndexPlace, file: string): string {
  const found = lstatSync(join(segments, file), { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return '';
  // Its ctime changes, too, when another tree takes a link to it.
  const { ino, size, mtimeNs } = found;
  return `${ino} ${size} ${mtimeNs}`;
}
