import type { Command } from 'commander';
import { asBusError, BusError } from '../../../src/errors/bus-error.js';
import { idOf, rowBytesMax, rowOf, rowsIn } from '../../../src/pgc/locate/batch.js';
import {
  filesMax,
  Locator,
  type LocateAnswer,
  type LocatedFile,
} from '../../../src/pgc/locate/locate.js';
import { reportCharsMax, reportOf } from '../../../src/pgc/locate/report.js';
import type { Reranker } from '../../../src/pgc/locate/reranker.js';
import { judgeOf } from '../../../src/pgc/vectors/judge.js';
import { openEngine } from '../local.js';
import { beginningOf, bytesOf } from '../input.js';
import { configOf, wholeNumber, withCommon, type CommonOptions } from '../options.js';
import { print, printable, usage } from '../output.js';

/** A character takes four bytes at most. */
const reportBytesMax = 4 * reportCharsMax;

interface LocateCommandOptions extends CommonOptions {
  repo?: string;
  limit: number;
  batch?: string;
}

export function addLocateCommand(sigma: Command): void {
  withCommon(
    sigma
      .command('locate')
      .argument('[file]', 'a bug report, a log, a stack trace; - is standard input', '-'),
  )
    .description('which files does this report concern')
    .option('--repo <dir>', 'look in the built index of this tree')
    .option('--limit <n>', 'number of files', wholeNumber(1, filesMax), filesMax)
    .option('--batch <file>', 'JSON Lines {id, title, description}, answered line by line')
    .action(async (file: string, options: LocateCommandOptions) => {
      const { repo, batch } = options;
      if (repo === undefined)
        throw usage('sigma locate needs --repo DIR, the tree whose built index is searched');
      if (batch !== undefined && file !== '-')
        throw usage('give either one report or --batch, not both');
      const config = configOf(options);
      await using engine = await openEngine(config);
      const locator = await Locator.open(repo, config.home);
      const reranker = judgeOf(engine);
      if (batch !== undefined) return await locateAll({ locator, reranker }, batch, options);
      const answer = await locateOne({ locator, reranker }, file, options);
      const isEmpty = answer.files.length === 0;
      const error = isEmpty ? { error: new BusError('NOT_FOUND').toFailure() } : {};
      print({ json: options.json === true }, { ...answer, ...error }, () => render(answer));
      if (isEmpty) process.exitCode = 1;
    });
}

/** What answers: the words of the files, and the model that reads the best of them, where there is one. */
interface Located {
  locator: Locator;
  reranker: Reranker | undefined;
}

async function locateOne(
  { locator, reranker }: Located,
  file: string,
  { limit }: LocateCommandOptions,
): Promise<LocateAnswer> {
  const { text, isCut } = await beginningOf(file, reportBytesMax);
  const answer = await locator.locate(reportOf(text), { limit, ...(reranker && { reranker }) });
  if (isCut) answer.warnings.push(`only the first ${reportBytesMax} bytes were read`);
  return answer;
}

/** Rows go out as they are answered, in the order of the lines; a line that is no report does not stop the others. */
async function locateAll(
  located: Located,
  batch: string,
  { limit }: LocateCommandOptions,
): Promise<void> {
  let failed = 0;
  for await (const line of rowsIn(bytesOf(batch))) {
    // Some editors put the mark of the encoding in front.
    const row = await rowAnswer(located, line?.replace(/^\ufeff/, ''), limit);
    if ('error' in row) failed += 1;
    await writeLine(JSON.stringify(row));
  }
  if (failed > 0) process.exitCode = 1;
}

async function rowAnswer(
  { locator, reranker }: Located,
  line: string | undefined,
  limit: number,
): Promise<object> {
  try {
    if (line === undefined)
      throw new BusError('TOO_LARGE', {
        ...{ what: 'a line', bytes: rowBytesMax + 1, limit: rowBytesMax },
      });
    const { id, report } = rowOf(line);
    const answer = await locator.locate(report, {
      ...{ limit, isBrief: true },
      ...(reranker && { reranker }),
    });
    const { files, shards, agents_asked, elapsed_ms } = answer;
    const plain = files.map(({ path, score, agent }) => ({ path, score, agent }));
    return { id, files: plain, shards, agents_asked, elapsed_ms };
  } catch (error) {
    const id = line === undefined ? undefined : idOf(line);
    const { code, text, retryable } = asBusError(error).toFailure();
    return { ...(id === undefined ? {} : { id }), error: { code, text, retryable } };
  }
}

/** Waits while the reader of the output is behind. */
async function writeLine(line: string): Promise<void> {
  if (process.stdout.write(`${line}\n`)) return;
  await new Promise<void>((resolve) => process.stdout.once('drain', resolve));
}

function render({ files, shards, agents_asked, elapsed_ms, warnings }: LocateAnswer): string {
  const of = shards.length === 1 ? '' : ` · files of ${shards.length} shards`;
  return [
    ...(files.length === 0 ? ['Nothing here is about this report.'] : files.map(renderFile)),
    '',
    `${files.length} files${of} · ${agents_asked} asked · ${Math.round(elapsed_ms)} ms · scores order the files of this report only`,
    ...warnings.map((warning) => `note: ${warning}`),
  ].join('\n');
}

function renderFile({ path, score, evidence }: LocatedFile, at: number): string {
  const told = evidence.map(({ kind, text, line }) => {
    const place = line === undefined ? '' : ` :${line}`;
    return `${kind}${place} ${printable(text)}`;
  });
  const head = `${String(at + 1).padStart(2)}. ${printable(path)}  ${score.toFixed(2)}`;
  return told.length === 0 ? head : `${head}\n    ${told.join(' · ')}`;
}
