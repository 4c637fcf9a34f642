import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { sourcesMax } from '../../pgc/answer/sources.js';
import { BusError } from '../../errors/bus-error.js';

/** Answers that can be gone on with; the oldest is forgotten. */
const answersMax = 256;
/** Places of one, as many as are shown at once. */
export const placesMax = sourcesMax;

const idChars = 8;
const isId = /^[0-9a-f]{8}$/;
const kept = z.strictObject({
  root: z.string().max(4_096),
  places: z.array(z.string().max(4_096)).max(placesMax),
});

/** Places of one tree, `path:line`. */
export type Left = z.output<typeof kept>;

/**
 * What answers had no room for: places of the code, under an id that any process of this home can go on with. Nothing of the question is
 * kept.
 */
export class LeftPlaces {
  readonly #folder: string;

  constructor(home: string) {
    this.#folder = path.join(home, 'explored');
  }

  /** The id; the same places have the same one. Empty where nothing can be written: the answer is worth more than its rest. */
  keep(left: Left): string {
    try {
      return this.#kept(left);
    } catch {
      return '';
    }
  }

  #kept({ root, places }: Left): string {
    const text = JSON.stringify({ root, places: places.slice(0, placesMax) });
    const id = createHash('sha256').update(text).digest('hex').slice(0, idChars);
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    writeFileSync(this.#fileOf(id), text, { mode: 0o600 });
    this.#forget();
    return id;
  }

  /** Throws NOTHING_LEFT. */
  of(id: string): Left {
    if (!isId.test(id)) throw new BusError('NOTHING_LEFT', { id });
    try {
      return kept.parse(JSON.parse(readFileSync(this.#fileOf(id), 'utf8')));
    } catch (error) {
      throw new BusError('NOTHING_LEFT', { id }, { cause: error });
    }
  }

  #fileOf(id: string): string {
    return path.join(this.#folder, `${id}.json`);
  }

  #forget(): void {
    const names = readdirSync(this.#folder);
    if (names.length <= answersMax) return;
    const files = names.map((name) => path.join(this.#folder, name));
    const ages = files.flatMap((file) => {
      const mtimeMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
      return mtimeMs === undefined ? [] : [{ file, mtimeMs }];
    });
    ages.sort((one, other) => other.mtimeMs - one.mtimeMs);
    for (const { file } of ages.slice(answersMax)) rmSync(file, { force: true });
  }
}
