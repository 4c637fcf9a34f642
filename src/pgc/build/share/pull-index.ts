import {
  copyFile,
  link,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { asBusError, BusError } from '../../../errors/bus-error.js';
import { settle } from '../../format/container/segment-file.js';
import {
  filesOf,
  placeOf,
  writeManifest,
  type IndexPlace,
  type Manifest,
  type PortableManifest,
} from '../../plan/manifest.js';
import { addTo } from '../../plan/planned-shards.js';
import { realRoot } from '../../source/source-tree.js';
import { writePulled } from '../../plan/seen-file.js';
import { checkShard } from '../index-check.js';
import { IndexCleaner } from '../index-cleaner.js';
import { servedBefore } from '../index-folder.js';
import { parseLeftOut, writeLeftOut } from '../left-out-files.js';
import { openFacts } from '../open-facts.js';
import { RunBudget, type BudgetRequest } from '../run-budget.js';
import type { IndexProgress } from '../source-mining.js';
import { findHead, listOf } from './find-head.js';
import { distanceFrom, rowsOf, type Distance } from './pinned.js';
import { eachOf, getObject, type PublishedPlace } from './published-place.js';
import {
  digestOf,
  objectName,
  type Head,
  type ObjectMark,
  type PublishedFile,
} from './published.js';

export interface PullRequest extends BudgetRequest {
  root: string;
  /** SIGMA_HOME. */
  home: string;
  from: PublishedPlace;
  /** A revision of git, whose index alone is wanted; absent: the nearest to the tree. */
  asOf?: string;
  onProgress?: (progress: IndexProgress) => void;
  signal?: AbortSignal;
}

/** What `sigma index --pull --json` prints. */
export interface PullReport extends Pick<Head, 'commit' | 'published' | 'sigma'> {
  place: string;
  project: string;
  shards: number;
  /** Files of the index, and what they hold. */
  files: number;
  bytes: number;
  /** What was moved, as it is stored; everything else was here. */
  moved_objects: number;
  moved_bytes: number;
  /** Of this tree from that commit; null: git cannot tell. */
  distance: Distance | null;
  elapsed_ms: number;
}

/**
 * Takes over a published index: files that are not here yet are fetched and checked beside the index, and the manifest is
 * swapped last. Killed at any point, it leaves the old index, and the next run goes on. The tree is not read: the next
 * `indexFolder` mines only what differs from that commit. Throws REPO_UNREADABLE, USAGE, INDEX_BUILDING, INTERRUPTED,
 * STORE_UNAVAILABLE, PUBLISHED_*.
 */
export async function pullIndex(request: PullRequest): Promise<PullReport> {
  const startedMs = performance.now();
  const { from, home } = request;
  const root = await realRoot(request.root);
  const place = placeOf(root, home);
  await mkdir(place.segments, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw unwritable(place.segments, error);
  });
  using budget = new RunBudget(place.folder, request);
  // For its lock: no run builds this index meanwhile.
  await using _opened = await openFacts(place, root, {});
  const head = await findHead(from, root, request.asOf);
  const { manifest, files } = await listOf(from, head);
  const before = await servedBefore(place, root);
  await using cleaner = await IndexCleaner.begin(place, before);
  const pulling = new Pulling(request, place, budget);
  const fresh = await pulling.arrived(files);
  await pulling.check(manifest, files, { fresh, before });
  await pulling.takeOver(fresh);
  // What each file held there; whether it still does is seen when it is read.
  await writePulled(place.seen, await rowsOf(place, manifest));
  pulling.throwIfAborted();
  // A swap that throws may still have happened.
  cleaner.keepAll();
  await writeManifest(place, { ...manifest, project: place.project, root, as_of: '' });
  await cleaner.setServed(manifest);
  const { commit, published, sigma } = head;
  return {
    ...{ place: from.title, project: place.project, commit, published, sigma },
    ...{ shards: manifest.shards.length, files: files.length, bytes: bytesOf(files) },
    ...{ moved_objects: pulling.objects, moved_bytes: pulling.bytes },
    distance: (await distanceFrom(root, commit)) ?? null,
    elapsed_ms: Math.round(performance.now() - startedMs),
  };
}

/** The files of one pull, which lie beside the index until all of them have arrived. */
class Pulling {
  objects = 0;
  bytes = 0;
  readonly #request: PullRequest;
  readonly #place: IndexPlace;
  readonly #budget: RunBudget;

  constructor(request: PullRequest, place: IndexPlace, budget: RunBudget) {
    this.#request = request;
    this.#place = place;
    this.#budget = budget;
  }

  throwIfAborted(): void {
    if (this.#budget.signal.aborted) throw asBusError(this.#budget.signal.reason);
    if (this.#request.signal?.aborted === true) throw new BusError('INTERRUPTED');
  }

  /** Fetches what is missing. Resolves with the files that are not part of the index yet. */
  async arrived(files: readonly PublishedFile[]): Promise<PublishedFile[]> {
    const { from, onProgress } = this.#request;
    const twins = await Twins.in([this.#place.segments, this.#place.cards]);
    const fresh: PublishedFile[] = [];
    const missing = new Map<string, PublishedFile[]>();
    await eachOf(files, from.atOnce, async (file) => {
      this.throwIfAborted();
      if (await holds(this.#pathOf(file), file)) return;
      fresh.push(file);
      if (await holds(this.#staged(file), file)) return;
      const twin = await twins.of(file);
      if (twin === undefined) addTo(missing, file.digest, file);
      else await copied(twin, this.#staged(file));
    });
    const objects = [...missing.values()];
    await this.#budget.expectDisk(objects.reduce((sum, [file]) => sum + (file?.bytes ?? 0), 0));
    await eachOf(objects, from.atOnce, async (same) => {
      this.throwIfAborted();
      const [first, ...others] = same as [PublishedFile, ...PublishedFile[]];
      const { content, moved } = await getObject(from, first);
      await written(this.#staged(first), content);
      for (const other of others) await copied(this.#staged(first), this.#staged(other));
      this.objects += 1;
      this.bytes += moved;
      onProgress?.({ phase: 'pull', done: this.objects, total: objects.length, lines: 0 });
    });
    return fresh;
  }

  /** Whether what has arrived are files of an index that fit together. Throws PUBLISHED_DAMAGED. */
  async check(
    { shards }: PortableManifest,
    files: readonly PublishedFile[],
    { fresh, before }: { fresh: readonly PublishedFile[]; before: Manifest | undefined },
  ): Promise<void> {
    const served = new Set(before?.shards.map((shard) => JSON.stringify(shard)));
    const arrived = new Set(fresh.map(({ name }) => name));
    const named = new Map(files.map((file) => [file.name, file]));
    const staging = { ...this.#place, segments: join(this.#place.incoming, 'segments') };
    for (const shard of shards) {
      this.throwIfAborted();
      const its = filesOf(shard);
      const isServed = served.has(JSON.stringify(shard));
      if (isServed && !its.some((name) => arrived.has(name))) continue;
      for (const name of its) {
        const file = named.get(name);
        // What is here already is looked at beside the rest.
        if (file !== undefined && !arrived.has(name))
          await copied(this.#pathOf(file), this.#staged(file));
      }
      const bad = (await checkShard(staging, shard)).find(({ problem }) => problem !== '');
      if (bad === undefined) continue;
      const mark = named.get(bad.file);
      throw new BusError('PUBLISHED_DAMAGED', {
        place: this.#request.from.title,
        name: mark === undefined ? bad.file : objectName(mark),
        detail: bad.problem,
      });
    }
  }

  /** Moves what has arrived into the index, which does not name it yet. Throws STORE_UNAVAILABLE. */
  async takeOver(fresh: readonly PublishedFile[]): Promise<void> {
    const { segments } = this.#place;
    for (const file of fresh) {
      if (file.part === 'leftOut')
        await writeLeftOut(this.#place, parseLeftOut(await readFile(this.#staged(file), 'utf8')));
      // Stays where it arrived, in case that this run ends before the swap.
      else await copied(this.#staged(file), this.#pathOf(file));
    }
    const names = fresh.filter(({ part }) => part === 'segments').map(({ name }) => name);
    await settle(segments, names);
  }

  #pathOf({ part, name }: PublishedFile): string {
    const place = this.#place[part];
    return part === 'segments' || part === 'cards' ? join(place, name) : place;
  }

  #staged({ part, name }: PublishedFile): string {
    return join(this.#place.incoming, part, name);
  }
}

/** Files that an index has already, to be found by their content: one of a new version may hold what an old one did. */
class Twins {
  readonly #paths = new Map<number, string[]>();
  readonly #digests = new Map<string, Promise<string>>();

  static async in(folders: readonly string[]): Promise<Twins> {
    const twins = new Twins();
    for (const folder of folders)
      for (const name of await readdir(folder).catch((): string[] => [])) {
        const path = join(folder, name);
        addTo(twins.#paths, (await stat(path)).size, path);
      }
    return twins;
  }

  async of({ digest, bytes }: ObjectMark): Promise<string | undefined> {
    for (const path of this.#paths.get(bytes) ?? []) {
      const known = this.#digests.get(path) ?? readFile(path).then(digestOf);
      this.#digests.set(path, known);
      if ((await known) === digest) return path;
    }
    return undefined;
  }
}

function bytesOf(files: readonly ObjectMark[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Whether a file is there and has this content. */
async function holds(path: string, { digest, bytes }: ObjectMark): Promise<boolean> {
  try {
    if ((await stat(path)).size !== bytes) return false;
    return digestOf(await readFile(path)) === digest;
  } catch {
    return false;
  }
}

async function written(path: string, content: Buffer): Promise<void> {
  await replaced(path, (temporary) => writeFile(temporary, content, { mode: 0o600 }));
}

/** Files of an index do not change: where the file system allows it, both names are of one file. */
async function copied(from: string, to: string): Promise<void> {
  await replaced(to, (temporary) => link(from, temporary).catch(() => copyFile(from, temporary)));
}

/** Throws STORE_UNAVAILABLE. */
async function replaced(path: string, make: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // What a killed run of the same process id has left may be a name of a served file: it must not be written to.
    await rm(temporary, { force: true });
    await make(temporary);
    await rename(temporary, path);
    // Two names of one file are left as they are by a rename.
    await rm(temporary, { force: true });
  } catch (error) {
    await rm(temporary, { force: true });
    throw unwritable(path, error);
  }
}

function unwritable(path: string, cause: unknown): BusError {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new BusError('STORE_UNAVAILABLE', { path, detail }, { cause });
}
