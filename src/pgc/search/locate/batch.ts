import { z } from 'zod';
import { asBusError, BusError } from '../../../errors/bus-error.js';
import type { LocateAnswer } from './locate.js';
import type { Report } from './report.js';

/** Bytes of one line; one that is longer is refused TOO_LARGE and skipped. */
export const rowBytesMax = 16 * 1024 * 1024;
/** Reports that are under way together. */
const atOnce = 4;

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
function rowOf(line: string): BatchRow {
  const parsed = rowSchema.safeParse(jsonOf(line));
  if (!parsed.success) {
    const detail = z.prettifyError(parsed.error).split('\n').slice(0, 2).join(' ').trim();
    throw new BusError('REPORT_MALFORMED', { detail });
  }
  const { id, title, description } = parsed.data;
  return { id, report: { title, description: description ?? '' } };
}

/** The id of a line that is no report, for its error; undefined where it has none. */
function idOf(line: string): string | number | undefined {
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
 * Answers in the order of the lines, as they come; a line that is no report has an error, and does not stop the others.
 * `lines`: undefined for one of more than `rowBytesMax` bytes. `locate`: is asked for a few reports at once.
 */
export async function* answersOf(
  lines: AsyncIterable<string | undefined>,
  locate: (report: Report) => Promise<LocateAnswer>,
): AsyncGenerator<object> {
  const underWay: Promise<object>[] = [];
  for await (const line of lines) {
    if (line?.trim() === '') continue;
    underWay.push(answerOf(line, locate));
    if (underWay.length >= atOnce) yield (await underWay.shift()) ?? {};
  }
  for (const each of underWay) yield await each;
}

/** Never throws. */
async function answerOf(
  line: string | undefined,
  locate: (report: Report) => Promise<LocateAnswer>,
): Promise<object> {
  try {
    if (line === undefined)
      throw new BusError('TOO_LARGE', {
        ...{ what: 'a line', bytes: rowBytesMax + 1, limit: rowBytesMax },
      });
    const { id, report } = rowOf(line);
    const { files, shards, agents_asked, elapsed_ms, errors } = await locate(report);
    const plain = files.map(({ path, score, agent }) => ({ path, score, agent }));
    const partial = errors.length === 0 ? {} : { errors };
    return { id, files: plain, shards, agents_asked, elapsed_ms, ...partial };
  } catch (error) {
    const id = line === undefined ? undefined : idOf(line);
    const { code, text, retryable } = asBusError(error).toFailure();
    return { ...(id === undefined ? {} : { id }), error: { code, text, retryable } };
  }
}
