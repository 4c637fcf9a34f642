import { BusError } from '../../../errors/bus-error.js';
import { parsePortable, servedFiles, type PortableManifest } from '../../plan/manifest.js';
import { cardFileName } from '../../search/card/card-file.js';
import { isInnerPath } from '../../source/confined-reader.js';
import { hasCommit } from '../../source/git/revision.js';
import { candidatesFor } from './pinned.js';
import { getObject, type PublishedPlace } from './published-place.js';
import {
  headBytesMax,
  headName,
  indexVersions,
  latestNames,
  listBytesMax,
  objectName,
  parseHead,
  parseList,
  parseMaker,
  singleFiles,
  type Head,
  type PublishedFile,
} from './published.js';

/**
 * The head of the commit of `asOf`; else of the nearest commit that the tree comes from; else of what was published last of its
 * repository. A tree that does not know its repository gets what was published last, unless there are several. Throws PUBLISHED_MISSING, PUBLISHED_VERSION, PUBLISHED_DAMAGED, and as `place.get`.
 */
export async function findHead(
  from: PublishedPlace,
  root: string,
  asOf: string | undefined,
): Promise<Head> {
  const { commits, folder, repository } = await candidatesFor(root, asOf);
  for (let at = 0; at < commits.length; at += from.atOnce) {
    const few = commits.slice(at, at + from.atOnce);
    const heads = await Promise.all(few.map((commit) => headAt(from, commit, folder)));
    const nearest = heads.find((head) => head !== undefined);
    if (nearest !== undefined) return nearest;
  }
  const own = await repository();
  const latest = Array.from(new Set([own, '']), (each) => latestNames(each, folder));
  for (const { ours } of asOf === undefined ? latest : []) {
    const bytes = await from.get(ours, headBytesMax);
    const head = bytes && ofFolder(bytes, from, ours, folder);
    if (head !== undefined && (await isOfRepository(root, own, head))) return head;
  }
  for (const { theirs } of latest) {
    const bytes = await from.get(theirs, headBytesMax);
    const maker = bytes && parseMaker(bytes, from.title, theirs);
    if (maker !== undefined && maker.versions !== indexVersions)
      throw new BusError('PUBLISHED_VERSION', { place: from.title, theirs: maker.sigma });
  }
  const what = asOf === undefined ? root : `commit ${commits[0] ?? asOf}`;
  throw new BusError('PUBLISHED_MISSING', { place: from.title, what });
}

/** `own`: of the tree; empty: it does not know. */
async function isOfRepository(root: string, own: string, head: Head): Promise<boolean> {
  if (own === '' ? !head.isAmongOthers : own === head.repository) return true;
  return hasCommit(root, head.commit);
}

async function headAt(
  from: PublishedPlace,
  commit: string,
  folder: string,
): Promise<Head | undefined> {
  const name = headName(commit, folder);
  const bytes = await from.get(name, headBytesMax);
  const head = bytes && ofFolder(bytes, from, name, folder);
  if (head === undefined || head.commit === commit) return head;
  throw damaged(from, name, `it speaks of commit ${head.commit}`);
}

function ofFolder(bytes: Buffer, from: PublishedPlace, name: string, folder: string): Head {
  const head = parseHead(bytes, from.title, name);
  if (head.versions !== indexVersions) throw damaged(from, name, `it is of ${head.versions}`);
  if (head.folder !== folder) throw damaged(from, name, 'it speaks of another folder');
  return head;
}

/**
 * What a head names, after nothing of it has been believed: names are those that the manifest has, and paths lie within the
 * tree. Throws PUBLISHED_DAMAGED, and as `place.get`.
 */
export async function listOf(
  from: PublishedPlace,
  { list: mark }: Head,
): Promise<{ manifest: PortableManifest; files: PublishedFile[] }> {
  const name = objectName(mark);
  if (mark.bytes > listBytesMax) throw damaged(from, name, `a list of ${mark.bytes} bytes`);
  const { content } = await getObject(from, mark);
  const { manifest: told, files } = parseList(content, from.title, name);
  const manifest = manifestOf(told);
  if (manifest === undefined) throw damaged(from, name, 'its manifest is none');
  const paths = [
    ...manifest.plan.shards.map((each) => each.paths),
    ...manifest.shards.map(({ scope }) => scope),
  ];
  const outside = paths.flat().find((path) => !isInnerPath(path));
  if (outside !== undefined) throw damaged(from, name, 'a shard of it lies outside of the tree');
  const named = new Set(files.map((file) => `${file.part}/${file.name}`));
  const wanted = servedFiles(manifest).map((file) => `segments/${file}`);
  const cards = manifest.shards.map((shard) => `cards/${cardFileName(shard)}`);
  const single = Object.entries(singleFiles).map(([part, file]) => `${part}/${file}`);
  const known = new Set([...wanted, ...cards, ...single]);
  if (named.size !== files.length || [...named].some((each) => !known.has(each)))
    throw damaged(from, name, 'it names files that are none of the index');
  if (wanted.some((each) => !named.has(each)))
    throw damaged(from, name, 'it does not name all files of the index');
  return { manifest, files };
}

function manifestOf(told: unknown): PortableManifest | undefined {
  try {
    return parsePortable(told);
  } catch {
    return undefined;
  }
}

function damaged({ title: place }: PublishedPlace, name: string, detail: string): BusError {
  return new BusError('PUBLISHED_DAMAGED', { place, name, detail });
}
