import { z } from 'zod';
import { BusError } from '../../../errors/bus-error.js';
import type { Report } from './report.js';

/** Bytes of one line; one that is longer is refused TOO_LARGE and skipped. */
export const rowBytesMax = 16 * 1024 * 1024;

const rowSchema = z.object({
  id: z.union([z.string(), z.number()]),
  title: z.string().default(''),
  description: z.string().nullish(),
});

interface BatchRow {
  id: string | number;
  report: Report;
}

/** One line of a batch: `{id, title, description}`; other fields are allowed and not read. Throws REPORT_MALFORMED. */
export function rowOf(line: string): BatchRow {
  const parsed = rowSchema.safeParse(jsonOf(line));
  if (!parsed.success) {
    const detail = z.prettifyError(parsed.error).split('\n').slice(0, 2).join(' ').trim();
    throw new BusError('REPORT_MALFORMED', { detail });
  }
  const { id, title, description } = parsed.data;
  return { id, report: { title, description: description ?? '' } };
}

/** The id of a line that is no report, for its error; undefined where it has none. */
export function idOf(line: string): string | number | undefined {
  try {
    const parsed = rowSchema.pick({ id: true }).safeParse(JSON.parse(line));
    return parsed.success ? parsed.data.id : undefined;
  } catch {
    return undefined;
  }
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    const detail = error instanceof Error ? error.message.slice(0, 120) : 'not JSON';
    throw new BusError('REPORT_MALFORMED', { detail }, { cause: error });
  }
}

/**
 * The lines of a stream, each in UTF-8 without its end; undefined for one of more than `rowBytesMax`
 * bytes, which is never held as a whole. Blank lines are left out.
 */
export async function* rowsIn(stream: AsyncIterable<Buffer>): AsyncGenerator<string | undefined> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  const take = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes <= rowBytesMax) pieces.push(piece);
    else pieces = [];
  };
  const line = (): string | undefined => {
    const text = bytes > rowBytesMax ? undefined : Buffer.concat(pieces).toString('utf8');
    [pieces, bytes] = [[], 0];
    return text;
  };
  for await (const chunk of stream) {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
      take(chunk.subarray(from, end));
      from = end + 1;
      const text = line();
      if (text?.trim() !== '') yield text;
    }
    take(chunk.subarray(from));
  }
  const last = line();
  if (last?.trim() !== '') yield last;
}
