import { parentPort, workerData } from 'node:worker_threads';
import { unpacked, type PackedBatch } from './audit-batch.js';
import { AuditFile } from './audit-file.js';
import { auditLine, lostLine, type AuditForm } from './audit-line.js';

/** The thread that digests, formats and writes; the bus only pays for a copy. */

export interface WriterParts {
  folder: string;
  form: AuditForm;
  bytesMax: number;
  filesMax: number;
  /** What is written is handed back, too. */
  isCopied: boolean;
}

/** Lines, each with its newline, and how many of them are entries. */
export interface Copy {
  lines: string;
  count: number;
}

type ToWriter = PackedBatch | 'close';

/** Sent after each batch: its buffers, and the outcome; `lost` counts entries that could not be written. */
export interface FromWriter {
  numbers: ArrayBuffer;
  bodies: ArrayBuffer;
  lost: number;
  trouble: string;
  copies: Copy[];
}

/** A file is written to in pieces of about this size. */
const pieceChars = 64 * 1024;

const { form, isCopied, ...place } = workerData as WriterParts;
const file = new AuditFile(place);
/** What is missing from the file and not yet mentioned in it. */
let unmentioned = 0;

/** Returns how many of these could not be written, and why. */
function write(batch: PackedBatch): Pick<FromWriter, 'lost' | 'trouble' | 'copies'> {
  unmentioned += batch.lost;
  const copies: Copy[] = [];
  if (isCopied && batch.lost > 0)
    copies.push({ lines: `${lostLine(Date.now(), batch.lost)}\n`, count: 0 });
  let lost = 0;
  let trouble = '';
  let lines = '';
  let waiting = 0;
  const flush = (): void => {
    if (isCopied && waiting > 0) copies.push({ lines, count: waiting });
    try {
      // Mentioned in the place where they are missing.
      if (unmentioned > 0) file.append(`${lostLine(Date.now(), unmentioned)}\n`);
      unmentioned = 0;
      if (lines !== '') file.append(lines);
    } catch (error) {
      trouble = error instanceof Error ? error.message : String(error);
      lost += waiting;
      unmentioned += waiting;
    }
    lines = '';
    waiting = 0;
  };
  for (const entry of unpacked(batch)) {
    lines += `${auditLine(entry, form)}\n`;
    waiting += 1;
    if (lines.length >= pieceChars) flush();
  }
  flush();
  return { lost, trouble, copies };
}

parentPort?.on('message', (message: ToWriter) => {
  if (message === 'close') {
    try {
      if (unmentioned > 0) file.append(`${lostLine(Date.now(), unmentioned)}\n`);
      file.close();
    } finally {
      parentPort?.close();
    }
    return;
  }
  const outcome = write(message);
  const { numbers, bodies } = message;
  parentPort?.postMessage({ numbers, bodies, ...outcome } satisfies FromWriter, [numbers, bodies]);
});
