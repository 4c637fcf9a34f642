import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { BusError } from '../../../errors/bus-error.js';
import {
  portable,
  servedFiles,
  type IndexPlace,
  type Manifest,
  type PortableManifest,
} from '../../plan/manifest.js';
import { cardFileName } from '../../search/card/card-file.js';
import { readServed } from '../../search/open-index.js';
import { checkIndex } from '../index-check.js';
import { leftOutText } from '../left-out-files.js';
import type { IndexProgress } from '../source-mining.js';
import { pinned, rowsOf, type Pin } from './pinned.js';
import { eachOf, getObject, isWhole, packed, type PublishedPlace } from './published-place.js';
import {
  digestOf,
  headBytesMax,
  headName,
  headOf,
  latestNames,
  objectName,
  parseHead,
  parseList,
  singleFiles,
  type FileList,
  type ObjectMark,
  type PublishedFile,
} from './published.js';

export interface PublishRequest {
  root: string;
  /** SIGMA_HOME. */
  home: string;
  to: PublishedPlace;
  /** Version of the program. */
  sigma: string;
  /** Read what is there already, and replace what is damaged. */
  isChecked?: boolean;
  onProgress?: (progress: IndexProgress) => void;
  signal?: AbortSignal;
}

/** What `sigma index --publish --json` prints. */
export interface PublishReport {
  place: string;
  commit: string;
  /** Files of the index, and what they hold. */
  files: number;
  bytes: number;
  /** What was sent, as it is stored; everything else was there. */
  sent_objects: number;
  sent_bytes: number;
  elapsed_ms: number;
  notes: string[];
}

const shallowNote =
  'this clone is shallow, so the index knows little of the history of its files: clone it with more of its commits';

/**
 * Copies the index of a tree to where others can pull it: files that are not there yet, then the list of all, then the head that
 * names it. Killed at any point, it leaves what was published before, and the next run goes on. Throws REPO_UNREADABLE,
 * INDEX_MISSING, INDEX_CORRUPT, INDEX_UNPINNED, INTERRUPTED, PUBLISHED_*.
 */
export async function publishIndex(request: PublishRequest): Promise<PublishReport> {
  const startedMs = performance.now();
  const { root, home, to } = request;
  const { files, is_sound } = await checkIndex(root, home);
  const damaged = files.find(({ problem }) => problem !== '');
  if (!is_sound)
    throw new BusError('INDEX_CORRUPT', {
      ...{ path: damaged?.file ?? root, detail: damaged?.problem ?? '' },
    });
  return readServed(root, home, async (place, manifest, realRoot) => {
    const commit = manifest.as_of || manifest.history?.commit;
    const { pin, leftOut } = await pinned(realRoot, home, {
      ...{ commit, isOfCommit: manifest.as_of !== '', rows: await rowsOf(place, manifest) },
    });
    const sending = new Sending(request, await publishedAt(to, pin));
    const list = await sending.files(filesOf(place, manifest));
    list.push({
      ...{ part: 'leftOut', name: singleFiles.leftOut },
      ...(await sending.one(Buffer.from(leftOutText(leftOut)))),
    });
    const bytes = list.reduce((sum, file) => sum + file.bytes, 0);
    const mark = await sending.one(
      Buffer.from(JSON.stringify({ manifest: withoutPlaces(manifest), files: list })),
    );
    await sending.head(pin, mark);
    return {
      ...{ place: to.title, commit: pin.commit, files: list.length, bytes },
      ...{ sent_objects: sending.objects, sent_bytes: sending.bytes },
      elapsed_ms: Math.round(performance.now() - startedMs),
      notes: manifest.history?.why === 'shallow' ? [shallowNote] : [],
    };
  });
}

/** A file of an index, and where it lies. */
type LocalFile = Pick<PublishedFile, 'part' | 'name'> & { path: string };

/** What is cached beside an index saves its readers work; it may be absent. */
function filesOf(place: IndexPlace, manifest: Manifest): (LocalFile & { isNeeded: boolean })[] {
  const segments = [...new Set(servedFiles(manifest))].map((name) => ({
    ...({ part: 'segments', name, isNeeded: true } as const),
    path: join(place.segments, name),
  }));
  const cards = manifest.shards.map(cardFileName).map((name) => ({
    ...({ part: 'cards', name, isNeeded: false } as const),
    path: join(place.cards, name),
  }));
  const answers = { part: 'shardAnswers', name: singleFiles.shardAnswers } as const;
  return [...segments, ...cards, { ...answers, isNeeded: false, path: place.shardAnswers }];
}

/** Where SCIP indexes lay is of no use elsewhere, and private. */
function withoutPlaces(manifest: Manifest): PortableManifest {
  const { scip, ...others } = portable(manifest);
  if (scip === undefined) return others;
  const sources = scip.sources.map((each) => ({ ...each, path: basename(each.path) }));
  return { ...others, scip: { ...scip, sources } };
}

/** Digests of what is known to be there: it is named by a head, which is written last. */
async function publishedAt(
  to: PublishedPlace,
  { commit, folder, repository }: Pin,
): Promise<Set<string>> {
  const known = new Set<string>();
  for (const name of [latestNames(repository, folder).ours, headName(commit, folder)]) {
    const list = await listAt(to, name).catch((error: unknown) => {
      // It is written anew.
      if (error instanceof BusError && error.code === 'PUBLISHED_DAMAGED') return undefined;
      throw error;
    });
    for (const { digest } of list?.files ?? []) known.add(digest);
  }
  return known;
}

async function listAt(to: PublishedPlace, name: string): Promise<FileList | undefined> {
  const bytes = await to.get(name, headBytesMax);
  if (bytes === undefined) return undefined;
  const { list } = parseHead(bytes, to.title, name);
  const { content } = await getObject(to, list);
  return parseList(content, to.title, objectName(list));
}

/** Sends what is missing, and counts it. */
class Sending {
  objects = 0;
  bytes = 0;
  readonly #request: PublishRequest;
  /** Digests of what is there. */
  readonly #known: Set<string>;

  constructor(request: PublishRequest, known: Set<string>) {
    this.#request = request;
    this.#known = known;
  }

  /** In the order of the files. */
  async files(wanted: readonly (LocalFile & { isNeeded: boolean })[]): Promise<PublishedFile[]> {
    const { to, onProgress } = this.#request;
    const found: (PublishedFile | undefined)[] = [];
    let done = 0;
    await eachOf(wanted.entries(), to.atOnce, async ([at, { part, name, path, isNeeded }]) => {
      const content = await readFile(path).catch((error: unknown) => {
        if (!isNeeded) return undefined;
        // A refresh has removed it: the manifest that is served now names others.
        throw new BusError('INDEX_MISSING', { path }, { cause: error });
      });
      if (content !== undefined) found[at] = { part, name, ...(await this.one(content)) };
      done += 1;
      onProgress?.({ phase: 'publish', done, total: wanted.length, lines: 0 });
    });
    return found.filter((each) => each !== undefined);
  }

  async one(content: Buffer): Promise<ObjectMark> {
    const { to, isChecked, signal } = this.#request;
    if (signal?.aborted === true) throw new BusError('INTERRUPTED');
    const mark = { digest: digestOf(content), bytes: content.length };
    if (isChecked === true ? await isWhole(to, mark) : this.#known.has(mark.digest)) return mark;
    const stored = await packed(content);
    const name = objectName(mark);
    // A killed run may have sent it, whole or in part.
    const isThere = isChecked !== true && (await to.lengthOf(name)) === stored.length;
    if (!isThere) await this.#put(name, stored);
    this.#known.add(mark.digest);
    return mark;
  }

  /** Last of all. */
  async head({ commit, folder, repository }: Pin, list: ObjectMark): Promise<void> {
    const { sigma } = this.#request;
    const published = new Date().toISOString();
    const isAmongOthers = await this.#isAmongOthers({ commit, folder, repository });
    const head = headOf({
      ...{ sigma, commit, folder, repository, isAmongOthers, published, list },
    });
    const bytes = Buffer.from(`${JSON.stringify(head, null, 1)}\n`);
    const latest = [repository, ''].map((of) => latestNames(of, folder));
    const names = [
      headName(commit, folder),
      ...latest.flatMap(({ ours, theirs }) => [ours, theirs]),
    ];
    for (const name of new Set(names)) await this.#put(name, bytes);
  }

  /** Once there were others, there always are. */
  async #isAmongOthers({ folder, repository }: Pin): Promise<boolean> {
    const { to } = this.#request;
    // That of all versions outlives an upgrade.
    const { ours, theirs } = latestNames('', folder);
    for (const name of [ours, theirs]) {
      try {
        const bytes = await to.get(name, headBytesMax);
        const last = bytes && parseHead(bytes, to.title, name);
        if (last?.isAmongOthers === true || (last && last.repository !== repository)) return true;
      } catch (error) {
        // There may have been.
        if (error instanceof BusError && error.code === 'PUBLISHED_DAMAGED') return true;
        throw error;
      }
    }
    return false;
  }

  async #put(name: string, bytes: Buffer): Promise<void> {
    await this.#request.to.put(name, bytes);
    this.objects += 1;
    this.bytes += bytes.length;
  }
}
