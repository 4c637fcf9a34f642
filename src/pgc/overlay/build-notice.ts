import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { lazily } from '../../base/lazy-schema.js';
import type { IndexPlace } from '../plan/manifest.js';
import type { OverlayName } from '../shapes.js';
import { readProcessFile, writeProcessFile } from './process-file.js';

const noticeSchema = lazily((z) =>
  z.object({
    pid: z.number(),
    began: z.string(),
    /** Overlays by shard alias. */
    overlays: z.record(z.string(), z.array(z.string())),
  }),
);

/** Overlays that are being rebuilt, by shard alias. */
export type Building = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * A file that tells other processes which overlays the current run rebuilds. Removed when the run ends, also after a
 * failure.
 */
export class BuildNotice implements AsyncDisposable {
  readonly #path: string;
  readonly #overlays = new Map<string, Set<OverlayName>>();

  private constructor(path: string) {
    this.#path = path;
  }

  /** Throws STORE_UNAVAILABLE. */
  static async begin(place: IndexPlace): Promise<BuildNotice> {
    const notice = new BuildNotice(pathOf(place));
    await notice.#write();
    return notice;
  }

  /** Throws STORE_UNAVAILABLE. */
  async add(shards: ReadonlyMap<string, readonly OverlayName[]>): Promise<void> {
    let isNew = false;
    for (const [alias, overlays] of shards) {
      const known = this.#overlays.get(alias) ?? new Set();
      isNew ||= overlays.some((each) => !known.has(each));
      this.#overlays.set(alias, new Set([...known, ...overlays]));
    }
    if (isNew) await this.#write();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#path, { force: true });
  }

  async #write(): Promise<void> {
    const overlays = Object.fromEntries(
      [...this.#overlays].map(([alias, names]) => [alias, [...names]]),
    );
    await writeProcessFile(this.#path, { overlays });
  }
}

/** What a run is rebuilding at this moment; undefined without a run. The notice of a killed run does not count. */
export async function readBuilding(place: IndexPlace): Promise<Building | undefined> {
  const notice = await readProcessFile(pathOf(place), noticeSchema);
  return (
    notice &&
    new Map(Object.entries(notice.overlays).map(([alias, names]) => [alias, new Set(names)]))
  );
}

function pathOf(place: IndexPlace): string {
  return join(place.folder, 'building.json');
}
