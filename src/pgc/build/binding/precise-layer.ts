import { join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asBusError, BusError } from '../../../errors/bus-error.js';
import type { FileRow } from '../../format/shard-index.js';
import type { IndexPlace, Manifest } from '../../plan/manifest.js';
import { Intake } from '../../scip/intake.js';
import { readLayer, writeLayer, type LayerDocument } from '../../scip/layer.js';
import { PreciseBindings, type LayerCounts } from '../../scip/precise-bindings.js';
import { ScipFile, type ScipDocument, type ScipMetadata } from '../../scip/read-index.js';
import type { TreeSymbols } from '../../scip/tree-symbols.js';

/** Of all indexes together. */
const documentsMax = 2_000_000;

/** The paths of SCIP indexes; `none`: without any from now on; undefined: those of the last run. */
export type LayerRequest = readonly string[] | 'none' | undefined;

export interface LayerReport extends LayerCounts {
  /** Documents that were taken. */
  documents: number;
  left_out: { reason: string; documents: number; such_as: string }[];
}

export interface LayerJob {
  place: IndexPlace;
  root: string;
  files: readonly FileRow[];
  before: Manifest | undefined;
  scip: LayerRequest;
  textOf: (file: FileRow) => Promise<string | undefined>;
  throwIfAborted: () => void;
}

/** What SCIP indexes say of the sites of all shards. */
export interface PreciseLayer {
  /** To be remembered in the manifest. */
  served: Manifest['scip'];
  bindings: PreciseBindings;
  report: () => LayerReport;
}

/** Throws SCIP_UNREADABLE, or SCIP_INVALID where a file does not begin like a SCIP index. */
export async function checkScip(request: LayerRequest): Promise<void> {
  for (const path of listed(request)) {
    await using file = await ScipFile.open(path);
    await file.metadata();
  }
}

/** Whether the run has a layer: given now, or kept. */
export function hasLayer({ scip, before }: Pick<LayerJob, 'scip' | 'before'>): boolean {
  return scip === undefined ? before?.scip !== undefined : scip !== 'none';
}

/** Whether what was kept can be read. */
export async function isLayerWhole(place: IndexPlace, served: Manifest['scip']): Promise<boolean> {
  if (served === undefined) return true;
  return readLayer(join(place.segments, served.file)).then(
    () => true,
    () => false,
  );
}

/**
 * Reads the SCIP indexes of the request and stores what they say, or reads what was stored: a document holds for as long as
 * its file has the content that it speaks of. Throws SCIP_*, STORE_UNAVAILABLE.
 */
export async function openLayer(job: LayerJob, symbols: TreeSymbols): Promise<PreciseLayer> {
  const left = new Left();
  const kept = job.scip === undefined ? job.before?.scip : undefined;
  const { served, documents } =
    kept === undefined ? await taken(job, symbols, left) : await keptLayer(job.place, kept, left);
  const bindings = new PreciseBindings(symbols, documents);
  return {
    served,
    bindings,
    report: () => ({
      documents: documents.length,
      ...{ left_out: left.rows(), ...bindings.counts },
    }),
  };
}

interface LayerOfRun {
  served: Manifest['scip'];
  documents: LayerDocument[];
}

async function keptLayer(
  place: IndexPlace,
  served: NonNullable<Manifest['scip']>,
  left: Left,
): Promise<LayerOfRun> {
  try {
    return { served, documents: await readLayer(join(place.segments, served.file)) };
  } catch (error) {
    if (asBusError(error).code === 'STORE_UNAVAILABLE') throw error;
    left.add('what was kept of SCIP is damaged: give the indexes again', asBusError(error).message);
    return { served: undefined, documents: [] };
  }
}

async function taken(job: LayerJob, symbols: TreeSymbols, left: Left): Promise<LayerOfRun> {
  const intake = new Intake();
  const files = new Map(job.files.map((each) => [each.path, each]));
  const sources = [];
  for (const path of listed(job.scip)) {
    const before = intake.count;
    await using file = await ScipFile.open(path);
    const metadata = await file.metadata();
    for await (const document of file.documents()) {
      job.throwIfAborted();
      const reason = await take(job, intake, files, { path, metadata, document });
      if (reason !== undefined) left.add(reason, document.relative_path);
      if (intake.count + left.count > documentsMax)
        throw new BusError('SCIP_TOO_LARGE', { path, what: 'documents', limit: documentsMax });
    }
    if (intake.count === before) throw new BusError('SCIP_UNRELATED', { path });
    const { tool_info } = metadata;
    const tool = tool_info === null ? '' : `${tool_info.name} ${tool_info.version}`.trim();
    sources.push({ path, digest: file.digest(), tool });
  }
  const documents = [...intake.layer((...where) => symbols.find(...where))];
  return { served: { file: await writeLayer(job.place.segments, documents), sources }, documents };
}

/** Why the document is left out; else undefined. */
async function take(
  { root, textOf }: LayerJob,
  intake: Intake,
  files: Map<string, FileRow>,
  its: { path: string; metadata: ScipMetadata; document: ScipDocument },
): Promise<string | undefined> {
  const path = pathIn(root, its.metadata, its.document.relative_path);
  if (path === undefined) return 'outside the tree';
  const file = files.get(path);
  if (file === undefined) return 'not a file of the index';
  if (intake.has(path)) return 'given twice';
  const text = await textOf(file);
  if (text === undefined) return 'changed';
  return intake.add(its.document, { path, blob: file.blob, text }, its.path);
}

/**
 * Paths of documents start at the project of the indexer: a folder of this tree, or around it. Any other is a copy of the
 * tree elsewhere. Undefined: it leaves the tree.
 */
function pathIn(root: string, { project_root }: ScipMetadata, path: string): string | undefined {
  if (path === '' || posix.isAbsolute(path) || posix.normalize(path) !== path) return undefined;
  if (path === '..' || path.startsWith('../')) return undefined;
  const project = folderOf(project_root);
  if (project === undefined || project === root) return path;
  if (isBelow(project, root)) return posix.join(slashed(relative(root, project)), path);
  if (!isBelow(root, project)) return path;
  const inner = posix.relative(slashed(relative(project, root)), path);
  return inner.startsWith('../') ? undefined : inner;
}

function folderOf(uri: string): string | undefined {
  try {
    return fileURLToPath(uri).replace(/(?<=.)[\\/]$/, '');
  } catch {
    return undefined;
  }
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

function slashed(path: string): string {
  return path.split(sep).join('/');
}

function listed(request: LayerRequest): readonly string[] {
  return request === undefined || request === 'none' ? [] : request;
}

/** Documents that were left out, by reason. */
class Left {
  readonly #rows = new Map<string, { documents: number; such_as: string }>();
  count = 0;

  add(reason: string, path: string): void {
    this.count += 1;
    const row = this.#rows.get(reason);
    if (row === undefined) this.#rows.set(reason, { documents: 1, such_as: path });
    else row.documents += 1;
  }

  rows(): LayerReport['left_out'] {
    return [...this.#rows].map(([reason, row]) => ({ reason, ...row }));
  }
}
