import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { isName } from '../../base/ids.js';
import { BusError } from '../../errors/bus-error.js';
import { aliasOf } from './planned-shards.js';
import { planModes, type ShardPlan } from './shard-plan.js';
import { corrupt, segmentFormat, writeAtomically } from '../format/container/segment-file.js';

export const manifestFormat = 7;

/** `missing`: not requested. `failed`: its generator failed; the other overlays are served. */
const overlayStates = ['missing', 'building', 'ready', 'failed'] as const;

/** How much there is of one language, and how much of it could not be parsed. */
const languageSchema = z.object({
  files: z.number(),
  lines: z.number(),
  bytes: z.number(),
  /** Bytes in parse errors. */
  error_bytes: z.number(),
  /** Files with so long a list of definitions that only names and lines are kept. */
  scanned: z.number(),
});
export type LanguageCount = z.infer<typeof languageSchema>;

/** Aliases and versions are parts of file names, and a manifest may come from elsewhere. */
const aliasSchema = z.string().refine(isName);
const versionSchema = z.string().regex(/^[\w-]{1,100}$/);
/** Handed to git as an argument. */
const commitPattern = /^[0-9a-f]{40,64}$/;

/**
 * What has changed in a shard since its other files were written: the files that are new or other ones, in files of their
 * own.
 */
const deltaSchema = z.object({
  /** Of these files. */
  version: versionSchema,
  segment: z.string().regex(/^[\w.-]+\.seg$/),
  candidates: z.string().regex(/^[\w.-]+\.ovl$/),
  words: z.string().regex(/^[\w.-]+\.words$/),
  /** Files in `segments/`, by overlay. */
  overlays: z.record(z.string(), z.string().regex(/^[\w.-]+\.ovl$/)),
  /** Paths of earlier files that these replace, or that are gone. */
  hides: z.array(z.string()),
  /** Of the other files, as they were written. */
  base_languages: z.record(z.string(), languageSchema),
});
export type ShardDelta = z.infer<typeof deltaSchema>;

const planSchema = z.object({
  mode: z.enum(planModes),
  shards: z.array(
    z.object({
      alias: aliasSchema,
      paths: z.array(z.string()),
      lines: z.number().optional(),
    }),
  ),
});

const manifestSchema = z.object({
  format: z.literal(manifestFormat),
  segment_format: z.literal(segmentFormat),
  project: z.string(),
  /** Absolute, without links. */
  root: z.string(),
  plan: planSchema,
  shards: z.array(
    z.object({
      alias: aliasSchema,
      scope: z.array(z.string()),
      /** Of all its files. */
      version: versionSchema,
      /** Of the files of its segment; another one than `version` where there is a delta. */
      base: versionSchema,
      /** Digest of what files depend on besides texts: miner, formats, rules, attributes. */
      made_with: z.string(),
      delta: deltaSchema.optional(),
      /** File name in `segments/`. */
      segment: z.string().regex(/^[\w.-]+\.seg$/),
      files: z.number(),
      lines: z.number(),
      languages: z.record(z.string(), languageSchema),
      items: z.record(z.string(), z.number()),
      /** Items of O3 in the segment; the others are history. */
      calls: z.number(),
      /** File name in `segments/`: candidates for O7, which all shards together decide on. */
      candidates: z.string().regex(/^[\w.-]+\.ovl$/),
      /** File name in `segments/`: the word lists of complete files. */
      words: z.string().regex(/^[\w.-]+\.words$/),
      /** File name in `segments/`: what its calls are bound to. Absent: no language of it is bound. */
      bound: z
        .string()
        .regex(/^[\w.-]+\.bound$/)
        .optional(),
      overlays: z.record(
        z.string(),
        z.object({
          state: z.enum(overlayStates),
          /** Name and version of the generator. */
          generator: z.string(),
          version: z.string(),
          items: z.number(),
          /** Why it failed; else empty. */
          reason: z.string(),
          /** File name in `segments/`; empty for what the segment holds. */
          file: z.string().regex(/^(?:[\w.-]+\.ovl)?$/),
        }),
      ),
    }),
  ),
  left_out: z.record(z.string(), z.number()),
  /** Digest of what calls were bound by: the versions of miner and binder, and the names of modules. Absent: nothing was bound. */
  bound_by: z.string().optional(),
  /** What SCIP indexes say of bindings. Absent: none were given. */
  scip: z
    .object({
      /** File name in `segments/`. */
      file: z.string().regex(/^[\w.-]+\.scip$/),
      /** The indexes that were read, with SHA-256 of their content. */
      sources: z.array(z.object({ path: z.string(), digest: z.string(), tool: z.string() })),
    })
    .optional(),
  /** The commit that was read instead of the work tree; empty: the work tree. */
  as_of: z.union([z.literal(''), z.string().regex(commitPattern)]),
  /** The git history behind O3; `why`: why it is not complete. Absent without git, and when git failed. */
  history: z
    .object({ commit: z.string().regex(commitPattern), commits: z.number(), why: z.string() })
    .optional(),
  /** Digest of everything else. */
  digest: z.string(),
});

const portableSchema = manifestSchema.omit({
  ...{ format: true, segment_format: true, project: true, root: true, digest: true },
});

/** A manifest without what depends on the place of the tree, and on the version that wrote it. */
export type PortableManifest = Omit<
  Manifest,
  'format' | 'segment_format' | 'project' | 'root' | 'digest'
>;

export function portable(manifest: Manifest): PortableManifest {
  return portableSchema.parse(manifest);
}

/** Of data that came from elsewhere. Throws what zod throws. */
export function parsePortable(value: unknown): PortableManifest {
  return portableSchema.parse(value);
}

/** What is served: the shards with their files, and the plan that the next refresh keeps. */
export interface Manifest extends z.infer<typeof manifestSchema> {
  plan: ShardPlan;
}
export type ManifestShard = Manifest['shards'][number];

/** The files of an index in `segments/`: those of its shards, and those of all of them. */
export type Served = Pick<Manifest, 'shards' | 'scip'>;

export function servedFiles({ shards, scip }: Served): string[] {
  return [...shards.flatMap(filesOf), ...(scip === undefined ? [] : [scip.file])];
}

/** All files of a shard in `segments/`. */
export function filesOf(shard: ManifestShard): string[] {
  const { segment, candidates, words, bound, overlays, delta } = shard;
  const overlayFiles = Object.values(overlays).map(({ file }) => file);
  const others =
    delta === undefined
      ? []
      : [delta.segment, delta.candidates, delta.words, ...Object.values(delta.overlays)];
  return [segment, candidates, words, bound ?? '', ...overlayFiles, ...others].filter(
    (file) => file !== '',
  );
}

/** What answers depend on: with the calls of a shard bound in another way, they may be others. */
export function servedVersion({
  version,
  bound,
}: Pick<ManifestShard, 'version' | 'bound'>): string {
  const binding = bound?.split('.').at(-2);
  return binding === undefined ? version : `${version}.${binding}`;
}

/** Of what the calls of a shard are bound to; empty: they are not. */
export function boundPath({ segments }: IndexPlace, { bound }: ManifestShard): string {
  return bound === undefined ? '' : join(segments, bound);
}

/** Where the index of one tree is stored: depends on the real path of its root alone. */
export interface IndexPlace {
  project: string;
  folder: string;
  facts: string;
  /** An empty store whose lock makes a process the only one that indexes. */
  guard: string;
  segments: string;
  /** Cards, by version of the shard. */
  cards: string;
  manifest: string;
  /** A second copy of the plan: should the manifest be damaged, the plan alone cannot be rebuilt from the tree. */
  plan: string;
  /** See `SeenTree`. */
  seen: string;
  /** Which tree it is of; see `inherit`. */
  tree: string;
  /** See `CheckedFiles`. */
  checked: string;
  /** The shards' answers for O7. */
  shardAnswers: string;
  /** JSON Lines `{path, reason}`: all files that were left out. */
  leftOut: string;
  /** Files of an index that is being pulled. */
  incoming: string;
}

/** `root`: absolute, without links. */
export function placeOf(root: string, home: string): IndexPlace {
  const project = projectOf(root);
  const digest = createHash('sha256').update(root).digest('hex').slice(0, 12);
  return placeIn(join(home, 'pgc', `${project}-${digest}`), project);
}

/** `folder`: of the index. */
export function placeIn(folder: string, project: string): IndexPlace {
  return {
    project,
    folder,
    facts: join(folder, 'facts'),
    guard: join(folder, 'guard'),
    segments: join(folder, 'segments'),
    cards: join(folder, 'cards'),
    manifest: join(folder, 'manifest.json'),
    plan: join(folder, 'plan.json'),
    seen: join(folder, 'seen'),
    tree: join(folder, 'tree.json'),
    checked: join(folder, 'checked.json'),
    shardAnswers: join(folder, 'verdicts.gz'),
    leftOut: join(folder, 'left-out.jsonl'),
    incoming: join(folder, 'incoming'),
  };
}

export function projectOf(root: string): string {
  return aliasOf(basename(root));
}

/**
 * What is served of the tree at `root`. Nothing is, where a run has only begun with the index of another tree. Throws
 * INDEX_MISSING or INDEX_CORRUPT.
 */
export async function readManifest(place: IndexPlace, root: string): Promise<Manifest> {
  const manifest = await manifestIn(place, root);
  if (manifest.root !== root) throw new BusError('INDEX_MISSING', { path: root });
  return manifest;
}

/** Of whichever tree. `path`: for messages. Throws INDEX_MISSING or INDEX_CORRUPT. */
export async function manifestIn(place: IndexPlace, path: string): Promise<Manifest> {
  let text: string;
  try {
    text = await readFile(place.manifest, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new BusError('INDEX_MISSING', { path }, { cause: error });
    }
    const detail = error instanceof Error ? error.message : String(error);
    throw new BusError('STORE_UNAVAILABLE', { path: place.manifest, detail }, { cause: error });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw corrupt(place.manifest, 'not JSON', error);
  }
  const other = otherFormat(value);
  if (other !== undefined) throw corrupt(place.manifest, other);
  const parsed = manifestSchema.safeParse(value);
  if (!parsed.success)
    throw corrupt(place.manifest, z.prettifyError(parsed.error).split('\n')[0] ?? '');
  if (parsed.data.digest !== digestOf(value as object)) throw corrupt(place.manifest, 'digest');
  return parsed.data;
}

function otherFormat(value: unknown): string | undefined {
  const formats = z.object({ format: z.number(), segment_format: z.number() }).safeParse(value);
  if (!formats.success) return undefined;
  const { format, segment_format } = formats.data;
  if (format === manifestFormat && segment_format === segmentFormat) return undefined;
  return `another version wrote it: format ${format}.${segment_format}, not ${manifestFormat}.${segmentFormat}`;
}

function digestOf(manifest: object): string {
  const rest = { ...manifest, digest: undefined };
  return createHash('sha256').update(JSON.stringify(rest)).digest('hex').slice(0, 20);
}

/** The plan of an index, even with a damaged or older manifest; undefined when both copies are lost. */
export async function keptPlan(place: IndexPlace): Promise<ShardPlan | undefined> {
  for (const path of [place.plan, place.manifest]) {
    try {
      const value = JSON.parse(await readFile(path, 'utf8')) as { plan?: unknown };
      return planSchema.parse(value.plan);
    } catch {
      // Try the other copy.
    }
  }
  return undefined;
}

/** Swaps the index: the shards in `manifest` are served from now on. Resolves with its digest. */
export async function writeManifest(
  place: IndexPlace,
  manifest: Omit<Manifest, 'format' | 'segment_format' | 'digest'>,
): Promise<string> {
  const { plan } = manifest;
  const all = { format: manifestFormat, segment_format: segmentFormat, ...manifest } as const;
  const complete: Manifest = { ...all, digest: digestOf(all) };
  await writeAtomically(place.plan, [Buffer.from(`${JSON.stringify({ plan }, null, 1)}\n`)]);
  await writeAtomically(place.manifest, [Buffer.from(`${JSON.stringify(complete, null, 1)}\n`)]);
  return complete.digest;
}
