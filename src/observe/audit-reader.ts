import { open, type FileHandle } from 'node:fs/promises';
import { auditFile } from './audit-file.js';
import type { AuditLine } from './audit-line.js';

const chunkBytes = 64 * 1024;
const newline = 10;
/** Lines of several machines are not in the order of their clocks; a line that is older by more has only older ones before it. */
const skewMsMax = 10 * 60_000;

/** An absent field matches all. A name that ends in `*` is a prefix. */
export interface AuditFilter {
  from?: string;
  /** An address, or only its name. */
  to?: string;
  type?: string;
  /** From it or to it. */
  agent?: string;
  /** So many lines are looked at, at most; absent: all. */
  linesMax?: number;
  /** Nothing older; Unix milliseconds. */
  sinceMs?: number;
}

/** Of `lines`, which come newest first, the last `limit` that match, oldest first. */
export async function tailAudit(
  lines: AsyncIterable<AuditLine>,
  filter: AuditFilter,
  limit: number,
): Promise<AuditLine[]> {
  const found: AuditLine[] = [];
  let left = filter.linesMax ?? Infinity;
  for await (const line of lines) {
    left -= 1;
    if (left < 0) break;
    const olderMs = (filter.sinceMs ?? -Infinity) - Date.parse(line.at);
    if (olderMs > skewMsMax) break;
    if (olderMs > 0) continue;
    if (isWanted(line, filter)) found.push(line);
    if (found.length >= limit) break;
  }
  return found.reverse();
}

function isWanted(line: AuditLine, { from, to, type, agent }: AuditFilter): boolean {
  const isFiltered = [from, to, type, agent].some((each) => each !== undefined);
  // A reader must learn that entries are missing there.
  if (line.what === 'lost') return true;
  if (!isFiltered) return true;
  const name = line.to?.slice(line.to.indexOf(':') + 1);
  return (
    (agent === undefined || line.from === agent || name === agent) &&
    (from === undefined || matches(from, line.from)) &&
    (to === undefined || matches(to, line.to) || matches(to, name)) &&
    (type === undefined || matches(type, line.type))
  );
}

function matches(pattern: string, text = ''): boolean {
  return pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern;
}

/**
 * Newest first. Files are read from their ends, so that the length of the log does not matter. A line moved by a concurrent rotation may be
 * missed or repeated.
 */
export async function* auditFiles(folder: string): AsyncGenerator<AuditLine> {
  for (let age = 0; ; age += 1) {
    let file: FileHandle;
    try {
      file = await open(auditFile(folder, age), 'r');
    } catch (error) {
      if ((error as { code?: string }).code === 'ENOENT') return;
      throw error;
    }
    try {
      for await (const text of linesBackwards(file)) {
        const line = parsed(text);
        if (line !== undefined) yield line;
      }
    } finally {
      await file.close();
    }
  }
}

/** Newest first, of pieces that are. */
export async function* auditPieces(
  pieces: AsyncIterable<{ host: string; lines: string }>,
): AsyncGenerator<AuditLine> {
  for await (const { host, lines } of pieces)
    for (const text of lines.split('\n').reverse()) {
      const line = parsed(text);
      if (line !== undefined) yield { ...line, host };
    }
}

/** Undefined: half a line, from a crash or still being written. */
function parsed(text: string): AuditLine | undefined {
  try {
    const value = JSON.parse(text) as Partial<AuditLine> | null;
    return typeof value?.at === 'string' && value.what !== undefined
      ? (value as AuditLine)
      : undefined;
  } catch {
    return undefined;
  }
}

async function* linesBackwards(file: FileHandle): AsyncGenerator<string> {
  let end = (await file.stat()).size;
  /** Pieces of the line whose beginning was not seen yet, last piece first. */
  let rest: Buffer[] = [];
  while (end > 0) {
    const from = Math.max(0, end - chunkBytes);
    const chunk = Buffer.alloc(end - from);
    const { bytesRead } = await file.read(chunk, 0, chunk.length, from);
    if (bytesRead < chunk.length) return;
    let stop = chunk.length;
    for (let at = chunk.lastIndexOf(newline); at >= 0; at = chunk.lastIndexOf(newline, at - 1)) {
      yield Buffer.concat([chunk.subarray(at + 1, stop), ...rest.reverse()]).toString();
      rest = [];
      stop = at;
      if (at === 0) break;
    }
    rest.push(chunk.subarray(0, stop));
    end = from;
  }
  yield Buffer.concat(rest.reverse()).toString();
}
