import { createHash } from 'node:crypto';
import { z } from 'zod';
import { BusError } from '../../../errors/bus-error.js';
import { boundFormat } from '../../format/bound-calls.js';
import { minerVersion } from '../../format/facts.js';
import { segmentFormat } from '../../format/container/segment-file.js';
import { wordsFormat } from '../../format/word-lists/words-file.js';
import { overlayFormat } from '../../overlay/overlay-file.js';
import { manifestFormat } from '../../plan/manifest.js';

/**
 * A published index is a folder of plain files:
 *
 *     objects/ab/abcd…                    one file of an index, in gzip, named by the SHA-256 of its content; never changed
 *     heads/VERSIONS/COMMIT.json          the index of one commit, of one set of formats: names its list, which is an object
 *     heads/VERSIONS/latest/ROOT.json     the same of what was published last of one repository, named by its first commit
 *     heads/VERSIONS/latest/any.json      … of any repository, for trees that do not know theirs
 *     heads/latest/ROOT.json, any.json    … by any version, for those who find nothing of their own
 *
 * The index of a folder within a repository has `-` and a digest of that folder behind COMMIT, ROOT and `any`.
 */
const publishedFormat = 2;

/** Two versions with the same can use each other's indexes. */
export const indexVersions = [
  ...[publishedFormat, minerVersion, manifestFormat],
  ...[segmentFormat, overlayFormat, wordsFormat, boundFormat],
].join('.');

export const headBytesMax = 64 * 1024;
/** The list of a kernel takes less than a MiB. */
export const listBytesMax = 64 * 1024 * 1024;
/** One file of an index. */
const objectBytesMax = 1024 * 1024 * 1024;
const filesMax = 200_000;

const objectSchema = z.object({
  /** SHA-256 of the content. */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
  /** Length of the content. */
  bytes: z.number().int().min(0).max(objectBytesMax),
});
/** What one object holds. */
export type ObjectMark = z.infer<typeof objectSchema>;

const headSchema = z.object({
  format: z.literal(publishedFormat),
  versions: z.string().max(100),
  /** The version of the program that published it. */
  sigma: z.string().regex(/^[\w.+-]{1,60}$/),
  commit: z.string().regex(/^[0-9a-f]{40,64}$/),
  /** The first commit of its repository; empty: the clone that published it did not know. */
  repository: z.string().regex(/^(?:[0-9a-f]{40,64})?$/),
  /** Other repositories are published in this place, too. */
  isAmongOthers: z.boolean(),
  /** The folder within its repository. */
  folder: z.string().max(4_096),
  /** ISO 8601. */
  published: z.iso.datetime(),
  list: objectSchema,
});
export type Head = z.infer<typeof headSchema>;

/** Files that an index has one of, under the names of `IndexPlace`. */
export const singleFiles = { shardAnswers: 'verdicts.gz', leftOut: 'left-out.jsonl' } as const;

/** `segments` and `cards` are folders of an index. */
const fileSchema = objectSchema.extend({
  part: z.enum(['segments', 'cards', 'shardAnswers', 'leftOut']),
  name: z.string().regex(/^\w[\w.-]{0,250}$/),
});
export type PublishedFile = z.infer<typeof fileSchema>;

const listSchema = z.object({
  /** See `PortableManifest`. */
  manifest: z.unknown(),
  files: z.array(fileSchema).max(filesMax),
});
export type FileList = z.infer<typeof listSchema>;

export function headOf(head: Omit<Head, 'format' | 'versions'>): Head {
  return { format: publishedFormat, versions: indexVersions, ...head };
}

export function objectName({ digest }: Pick<ObjectMark, 'digest'>): string {
  return `objects/${digest.slice(0, 2)}/${digest}`;
}

/** `folder`: within the repository. */
export function headName(commit: string, folder: string): string {
  return `heads/${indexVersions}/${commit}${suffix(folder)}.json`;
}

/** Of our versions, and of any. `repository` empty: of any. */
export function latestNames(repository: string, folder: string): { ours: string; theirs: string } {
  const name = `latest/${repository || 'any'}${suffix(folder)}.json`;
  return { ours: `heads/${indexVersions}/${name}`, theirs: `heads/${name}` };
}

function suffix(folder: string): string {
  return folder === '' ? '' : `-${digestOf(Buffer.from(folder)).slice(0, 12)}`;
}

export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Throws PUBLISHED_DAMAGED. */
export function parseHead(bytes: Uint8Array, place: string, name: string): Head {
  return parsed(headSchema, bytes, place, name);
}

/** Throws PUBLISHED_DAMAGED. */
export function parseList(bytes: Uint8Array, place: string, name: string): FileList {
  return parsed(listSchema, bytes, place, name);
}

/** Which version published something, though its form may be another one. Throws PUBLISHED_DAMAGED. */
export function parseMaker(
  bytes: Uint8Array,
  place: string,
  name: string,
): Pick<Head, 'versions' | 'sigma'> {
  return parsed(headSchema.pick({ versions: true, sigma: true }), bytes, place, name);
}

function parsed<S extends z.ZodType>(
  schema: S,
  bytes: Uint8Array,
  place: string,
  name: string,
): z.infer<S> {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString());
  } catch (error) {
    throw new BusError('PUBLISHED_DAMAGED', { place, name, detail: 'not JSON' }, { cause: error });
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const detail = z.prettifyError(result.error).split('\n')[0] ?? '';
  throw new BusError('PUBLISHED_DAMAGED', { place, name, detail });
}
