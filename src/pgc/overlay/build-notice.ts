import { readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { lazily } from '../../base/zod.js';
import type { IndexPlace } from '../plan/manifest.js';
import { writeAtomically } from '../format/segment-file.js';
import type { OverlayName } from '../shapes.js';

const noticeSchema = lazily((z) =>
  z.object({
    pid: z.number(),
    /** Start time of the process (see `beganOf`), because process ids are reused. */
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
      [...this.#overlays].map(([alias, its]) => [alias, [...its]]),
    );
    const { pid } = process;
    const text = JSON.stringify({ pid, began: beganOf(pid), overlays });
    await writeAtomically(this.#path, [Buffer.from(text)]);
  }
}

/** What a run is rebuilding at this moment; undefined without a run. The notice of a killed run does not count. */
export async function readBuilding(place: IndexPlace): Promise<Building | undefined> {
  const text = await readFile(pathOf(place), 'utf8').catch(() => '');
  if (text === '') return undefined;
  const { success, data } = noticeSchema().safeParse(parsed(text));
  if (!success || !isRunning(data.pid, data.began)) return undefined;
  return new Map(Object.entries(data.overlays).map(([alias, its]) => [alias, new Set(its)]));
}

function pathOf(place: IndexPlace): string {
  return join(place.folder, 'building.json');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isRunning(pid: number, began: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process runs under another user.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return beganOf(pid) === began;
}

/** Start time of a process in clock ticks since boot (field 22 of `stat`); empty on systems without /proc. */
export function beganOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The program's name, in brackets, may contain anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
