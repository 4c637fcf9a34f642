import { open, rename, rm } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { BusError } from '../../errors/bus-error.js';
import { codec, scip } from '../../wire/codec.js';
import { DocumentOfFile } from './document-of-file.js';
import { ExportedSymbols } from './exported-symbols.js';
import type { ShardIndex } from '../format/shard-index.js';

const indexCodec = codec<object>(scip.Index);

export interface ExportJob {
  root: string;
  project: string;
  version: string;
  shards: readonly ShardIndex[];
  /** The text of a file as it was indexed; undefined: it has changed since. */
  textOf: (path: string, blob: string) => Promise<string | undefined>;
}

export interface ExportReport {
  documents: number;
  /** Files that have changed since they were indexed, or are not there. */
  left_out: number;
  definitions: number;
  references: number;
  /** Of the index, whose place on the line is not clear. */
  unplaced: number;
  symbols: number;
}

/**
 * Writes what is known of a tree as a SCIP index: definitions, the references that are proven, and implementations. The
 * file is complete, or it is not there. Throws STORE_UNAVAILABLE.
 */
export async function writeScip(job: ExportJob, path: string): Promise<ExportReport> {
  const aside = `${path}.${process.pid}.tmp`;
  try {
    const report = await written(job, aside);
    await rename(aside, path);
    return report;
  } catch (error) {
    await rm(aside, { force: true }).catch(() => undefined);
    if (error instanceof BusError) throw error;
    const detail = error instanceof Error ? error.message : String(error);
    throw new BusError('STORE_UNAVAILABLE', { path, detail }, { cause: error });
  }
}

async function written(job: ExportJob, path: string): Promise<ExportReport> {
  const report = {
    ...{ documents: 0, left_out: 0, definitions: 0, references: 0, unplaced: 0, symbols: 0 },
  };
  const out = await open(path, 'w');
  // One message after the other: repeated fields of protobuf may come in pieces.
  const write = (piece: object): Promise<void> => out.appendFile(indexCodec.encode(piece));
  try {
    await write({
      metadata: {
        tool_info: { name: 'sigma-bus', version: job.version },
        project_root: pathToFileURL(job.root).href,
        text_document_encoding: 1,
      },
    });
    const symbols = new ExportedSymbols(job.project, job.shards);
    for (const [shard, index] of job.shards.entries())
      for (let file = 0; file < index.fileCount; file += 1) {
        const row = index.file(file);
        const text = await job.textOf(row.path, row.blob);
        if (text === undefined) {
          report.left_out += 1;
          continue;
        }
        const made = new DocumentOfFile(symbols, { shard, file, text });
        report.documents += 1;
        report.definitions += made.definitions;
        report.references += made.references;
        report.unplaced += made.unplaced;
        report.symbols += made.document.symbols.length;
        await write({ documents: [made.document] });
      }
  } finally {
    await out.close();
  }
  return report;
}
