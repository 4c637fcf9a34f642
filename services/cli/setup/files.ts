import {
  chmod,
  mkdir,
  readFile,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { BusError } from '../../../src/errors/bus-error.js';
import { Refusal } from './edits.js';
import { spliceOf, undone, type Splice } from './splice.js';

/** No settings of a client are larger. */
const fileBytesMax = 16 * 1024 * 1024;

/** What we changed in which file, so that it can be undone byte by byte. Kept in the home. */
export class Changes {
  readonly #file: string;
  readonly #splices: Map<string, Splice>;

  private constructor(file: string, splices: Record<string, Splice>) {
    this.#file = file;
    this.#splices = new Map(Object.entries(splices));
  }

  /** Throws CONFIG_INVALID: what cannot be read cannot be undone. */
  static async open(home: string): Promise<Changes> {
    const file = path.join(home, 'setup.json');
    try {
      const text = (await textOf(file)) ?? '{}';
      return new Changes(file, JSON.parse(text) as Record<string, Splice>);
    } catch {
      throw new BusError('CONFIG_INVALID', { detail: `${file} cannot be read` });
    }
  }

  /** The text as it was before us; undefined: that cannot be said any more. */
  before(file: string, text: string): string | undefined {
    const splice = this.#splices.get(file);
    return splice && undone(text, splice);
  }

  /** Something of ours was written there. */
  knows(file: string): boolean {
    return this.#splices.has(file);
  }

  /** It did not exist before us, and holds nothing else. */
  isWhollyOurs(file: string, text: string): boolean {
    const splice = this.#splices.get(file);
    return splice?.made !== undefined && splice.after === text;
  }

  async write(file: string, old: string | undefined, text: string): Promise<void> {
    const known = this.#splices.get(file);
    const before = old === undefined ? undefined : (this.before(file, old) ?? old);
    const made = known?.made ?? (old === undefined ? await missingAbove(file) : undefined);
    // First what undoes it: a file that was not changed is found to be so.
    this.#splices.set(file, { ...spliceOf(before ?? '', text), ...(made && { made }) });
    await this.#save();
    await replace(file, old, text);
  }

  async remove(file: string, old: string, text: string | undefined): Promise<void> {
    if (text !== undefined) await replace(file, old, text);
    else {
      await rm(file);
      // One that holds something else stays.
      for (const folder of this.#splices.get(file)?.made ?? [])
        await rmdir(folder).catch(() => undefined);
    }
    this.#splices.delete(file);
    await this.#save();
  }

  async #save(): Promise<void> {
    if (this.#splices.size === 0) return rm(this.#file, { force: true });
    await mkdir(path.dirname(this.#file), { recursive: true, mode: 0o700 });
    await swap(
      this.#file,
      `${JSON.stringify(Object.fromEntries(this.#splices), null, 1)}\n`,
      0o600,
    );
  }
}

/** Undefined: there is none. Throws Refusal. */
export async function textOf(file: string): Promise<string | undefined> {
  try {
    const { size } = await stat(file);
    if (size > fileBytesMax) throw new Refusal(`it has more than ${fileBytesMax} bytes`);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(file));
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new Refusal(
      code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
        ? 'it is not UTF-8'
        : `it cannot be read (${code})`,
    );
  }
}

async function replace(file: string, old: string | undefined, text: string): Promise<void> {
  // Clients write these files, too.
  if ((await textOf(file)) !== old)
    throw new Refusal('it was changed meanwhile: run sigma setup again');
  try {
    if (old === undefined) {
      await mkdir(path.dirname(file), { recursive: true });
      await swap(file, text, undefined);
    } else {
      // A link stays one: many keep such files elsewhere.
      const its = await realpath(file);
      await swap(its, text, (await stat(its)).mode);
    }
  } catch (error) {
    throw new Refusal(`it cannot be written (${(error as NodeJS.ErrnoException).code})`);
  }
}

async function swap(file: string, text: string, mode: number | undefined): Promise<void> {
  const next = `${file}.sigma-${process.pid}`;
  try {
    await writeFile(next, text, { flag: 'wx' });
    if (mode !== undefined) await chmod(next, mode & 0o7777);
    await rename(next, file);
  } finally {
    await rm(next, { force: true });
  }
}

async function missingAbove(file: string): Promise<string[]> {
  const missing: string[] = [];
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const isThere = await stat(folder).then(
      () => true,
      () => false,
    );
    if (isThere) return missing;
    missing.push(folder);
  }
}
