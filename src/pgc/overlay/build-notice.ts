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
    /** When that process began, as the system counts: a number of a process is given again. */
    began: z.string(),
    /** Overlays by the alias of their shard. */
    overlays: z.record(z.string(), z.array(z.string())),
  }),
);

/** Overlays that are being made anew, by the alias of their shard. */
export type Building = ReadonlyMap<string, ReadonlySet<string>>;

/** Tells other processes what the run of this one makes anew; gone when the run ends, however it ends. */
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
  async tell(shards: ReadonlyMap<string, readonly OverlayName[]>): Promise<void> {
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

/** What a run makes anew just now; undefined when none runs. That of a run that was killed does not count. */
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
    // It runs, as somebody else.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return beganOf(pid) === began;
}

/** When a process began, as the system counts: field 22 of `stat`, in ticks since the machine started; empty where the system has no such file. */
export function beganOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program, in brackets, may hold anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
