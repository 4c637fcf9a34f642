import type { Command } from 'commander';
import { asBusError, BusError } from '../../../src/errors/bus-error.js';
import type { Questions } from '../../../src/lattice/questions.js';
import { idOf, rowBytesMax, rowOf, rowsIn } from '../../../src/pgc/search/locate/batch.js';
import {
  filesMax,
  Locator,
  type LocateAnswer,
  type LocatedFile,
} from '../../../src/pgc/search/locate/locate.js';
import {
  parseReport,
  reportCharsMax,
  reportOf,
  type Report,
} from '../../../src/pgc/search/locate/report.js';
import { judgeOf } from '../../../src/pgc/search/vectors/judge.js';
import { RemoteQuestions } from '../../../src/remote/questions.js';
import { withClient } from '../connect.js';
import { beginningOf, bytesOf } from '../input.js';
import { openEngine } from '../local.js';
import { configOf, duration, wholeNumber, withCommon, type CommonOptions } from '../options.js';
import { printable } from '../../../src/render/terminal.js';
import { print, usage } from '../output.js';

/** A character takes four bytes at most. */
const reportBytesMax = 4 * reportCharsMax;
const deadlineMsDefault = 30_000;
/** Reports of a batch that the lattice answers at once. */
const batchAtOnce = 4;

interface LocateCommandOptions extends CommonOptions {
  repo?: string;
  limit: number;
  batch?: string;
  deadline: number;
}

/** The side that answers: a built index in this process, or the running lattice. */
interface Locating {
  locate(report: Report, isBrief: boolean): Promise<LocateAnswer>;
  /** Reports of a batch that are under way together. */
  atOnce: number;
}

export function addLocateCommand(sigma: Command): void {
  withCommon(
    sigma
      .command('locate')
      .argument('[file]', 'a bug report, log or stack trace; - reads standard input', '-'),
  )
    .description('rank the files that a bug report, a log or a stack trace is about')
    .option('--repo <dir>', 'use the index of this tree directly, without a broker')
    .option('--limit <n>', 'number of files', wholeNumber(1, filesMax), filesMax)
    .option(
      '--batch <file>',
      'many reports as JSON Lines {id, title, description}; one answer per line',
    )
    .option('--deadline <duration>', 'longest wait per report', duration, deadlineMsDefault)
    .action(async (file: string, options: LocateCommandOptions) => {
      const { batch } = options;
      if (batch !== undefined && file !== '-')
        throw usage('give either one report or --batch, not both');
      if (batch !== undefined)
        return await withLocating(options, (locating) => locateAll(locating, batch));
      const { report, isCut } = await reportIn(file);
      const answer = await withLocating(options, (locating) => locating.locate(report, false));
      if (isCut) answer.warnings.push(`only the first ${reportBytesMax} bytes were read`);
      const isEmpty = answer.files.length === 0;
      const error = isEmpty ? { error: new BusError('NOT_FOUND').toFailure() } : {};
      print(options, { ...answer, ...error }, () => render(answer));
      if (isEmpty) process.exitCode = 1;
    });
}

/** Refused here already, so that a slip costs no round trip. Throws REPORT_EMPTY, REPORT_UNREADABLE. */
async function reportIn(file: string): Promise<{ report: Report; isCut: boolean }> {
  const { text, isCut } = await beginningOf(file, reportBytesMax);
  const report = reportOf(text);
  parseReport(report);
  return { report, isCut };
}

async function withLocating<T>(
  options: LocateCommandOptions,
  work: (locating: Locating) => Promise<T>,
): Promise<T> {
  const config = configOf(options);
  const { repo, limit, deadline: deadlineMs } = options;
  if (repo === undefined)
    return await withClient(config, (client) => {
      const questions = new RemoteQuestions(client);
      const locate = (report: Report, isBrief: boolean): Promise<LocateAnswer> =>
        askLattice(questions, report, { limit, isBrief, deadlineMs });
      return work({ locate, atOnce: batchAtOnce });
    });
  await using engine = await openEngine(config);
  const locator = await Locator.open(repo, config.home);
  const reranker = judgeOf(engine);
  return await work({
    locate: (report, isBrief) =>
      locator.locate(report, { limit, isBrief, ...(reranker && { reranker }) }),
    atOnce: 1,
  });
}

async function askLattice(
  questions: Questions,
  { title, description }: Report,
  { deadlineMs, ...wanted }: { limit: number; isBrief: boolean; deadlineMs: number },
): Promise<LocateAnswer> {
  // Text beyond the limit is not read: it need not be sent.
  const text = description.slice(0, reportCharsMax);
  const request = { text, title: title.slice(0, reportCharsMax - text.length), ...wanted };
  const answer = await questions.locate(request, { deadlineMs });
  const chars = title.length + description.length;
  if (chars > reportCharsMax)
    answer.warnings.push(`only the first ${reportCharsMax} characters were read, of ${chars}`);
  return answer;
}

/** Rows go out in the order of the lines, as they are answered; a line that is no report does not stop the others. */
async function locateAll(locating: Locating, batch: string): Promise<void> {
  let failed = 0;
  const underWay: Promise<object>[] = [];
  const next = async (): Promise<void> => {
    const row = await underWay.shift();
    if (row === undefined) return;
    if ('error' in row) failed += 1;
    await writeLine(JSON.stringify(row));
  };
  for await (const line of rowsIn(bytesOf(batch))) {
    // Some editors put the mark of the encoding in front.
    underWay.push(rowAnswer(locating, line?.replace(/^\ufeff/, '')));
    if (underWay.length >= locating.atOnce) await next();
  }
  while (underWay.length > 0) await next();
  if (failed > 0) process.exitCode = 1;
}

/** Never throws. */
async function rowAnswer(locating: Locating, line: string | undefined): Promise<object> {
  try {
    if (line === undefined)
      throw new BusError('TOO_LARGE', {
        ...{ what: 'a line', bytes: rowBytesMax + 1, limit: rowBytesMax },
      });
    const { id, report } = rowOf(line);
    const answer = await locating.locate(report, true);
    const { files, shards, agents_asked, elapsed_ms, errors } = answer;
    const plain = files.map(({ path, score, agent }) => ({ path, score, agent }));
    const partial = errors.length === 0 ? {} : { errors };
    return { id, files: plain, shards, agents_asked, elapsed_ms, ...partial };
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

function render(answer: LocateAnswer): string {
  const { files, shards, agents_asked, elapsed_ms, warnings, errors } = answer;
  const of = shards.length === 1 ? '' : ` · files of ${shards.length} shards`;
  return [
    ...(files.length === 0 ? ['Nothing here is about this report.'] : files.map(renderFile)),
    '',
    `${files.length} files${of} · ${agents_asked} asked · ${Math.round(elapsed_ms)} ms · scores order the files of this report only`,
    ...warnings.map((warning) => `note: ${warning}`),
    ...errors.map(({ agent, text }) => `missing: ${printable(agent)}: ${printable(text)}`),
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
