import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { lazily } from '../../../base/lazy-schema.js';
import { BusError } from '../../../errors/bus-error.js';
import { readProcessFile, writeProcessFile } from '../../overlay/process-file.js';
import type { IndexPlace } from '../../plan/manifest.js';

const fileName = 'watch.json';
const treesMax = 1_024;

const noticeSchema = lazily((z) =>
  z.object({
    pid: z.number(),
    began: z.string(),
    root: z.string(),
    /** How changes are noticed. */
    kind: z.enum(['events', 'poll']),
    state: z.enum(['watching', 'refreshing', 'failed']),
    /** End of the last refresh; 0: none yet. */
    refreshed_ms: z.number(),
    elapsed_ms: z.number(),
    /** Files with new content. */
    files_mined: z.number(),
    /** Successful refreshes, and failed ones. */
    refreshes: z.number(),
    failures: z.number(),
    /** Code of the last failure or of a limitation; else empty. */
    code: z.string(),
  }),
);

/** A watched tree, as `sigma status` shows it. */
export type Watched = Omit<z.infer<ReturnType<typeof noticeSchema>>, 'began'>;

/** A file that tells other processes that a tree is watched, and the state of the watch. Removed with the process. */
export class WatchNotice implements AsyncDisposable {
  readonly #path: string;
  #watched: Watched;
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, watched: Watched) {
    this.#path = path;
    this.#watched = watched;
  }

  /** Throws ALREADY_WATCHED, STORE_UNAVAILABLE. */
  static async begin(place: IndexPlace, root: string): Promise<WatchNotice> {
    const path = join(place.folder, fileName);
    const other = await readProcessFile(path, noticeSchema);
    if (other !== undefined) throw new BusError('ALREADY_WATCHED', { path: root, pid: other.pid });
    const notice = new WatchNotice(path, {
      ...{ pid: process.pid, root, kind: 'poll', state: 'watching', refreshed_ms: 0 },
      ...{ elapsed_ms: 0, files_mined: 0, refreshes: 0, failures: 0, code: '' },
    });
    await notice.update({});
    return notice;
  }

  get watched(): Watched {
    return this.#watched;
  }

  /** Throws STORE_UNAVAILABLE. */
  update(changes: Partial<Watched>): Promise<void> {
    this.#watched = { ...this.#watched, ...changes };
    const watched = this.#watched;
    const write = (): Promise<void> => writeProcessFile(this.#path, watched);
    this.#writing = this.#writing.then(write, write);
    return this.#writing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing.catch(() => undefined);
    await rm(this.#path, { force: true });
  }
}

/** All trees of this home that are being watched. */
export async function watchedTrees(home: string): Promise<Watched[]> {
  const folder = join(home, 'pgc');
  const names = await readdir(folder).catch((): string[] => []);
  const found: Watched[] = [];
  for (const name of names.sort().slice(0, treesMax)) {
    const notice = await readProcessFile(join(folder, name, fileName), noticeSchema);
    if (notice === undefined) continue;
    const { began: _, ...watched } = notice;
    found.push(watched);
  }
  return found;
}
