import type { Command } from 'commander';
import { BusError } from '../../../src/errors/bus-error.js';
import { analyse, questionCharsMax } from '../../../src/pgc/search/question/question.js';
import { type Answer, type AskRequest, overlayNames } from '../../../src/pgc/shapes.js';
import { beginningOf } from '../input.js';
import { askAgent } from '../../../src/remote/questions.js';
import { withClient, withQuestions } from '../connect.js';
import {
  configOf,
  duration,
  engine,
  engineHelp,
  gathered,
  list,
  wholeNumber,
  withCommon,
  withTree,
  type CommonOptions,
  type TreeOptions,
} from '../options.js';
import { print, withError } from '../output.js';
import { renderAnswer } from '../../../src/render/answer.js';

const deadlineMsDefault = 30_000;
const sourcesMax = 10;
/** One more than is read, so that a cut is noticed. */
const sentCharsMax = questionCharsMax + 1;
/** A character takes four bytes at most. */
const questionBytesMax = 4 * sentCharsMax;

interface AskOptions extends TreeOptions {
  overlays?: string[];
  hint?: string[];
  topK: number;
  engine?: string;
  agent?: string;
}

export function addAskCommands(sigma: Command): void {
  withTree(sigma.command('ask').argument('<question>'))
    .description('ask a question about the code; the answer cites its sources')
    .addHelpText(
      'after',
      '\nUse - to read the question from standard input, for example a log or a stack trace.',
    )
    .option('--overlays <names>', 'only these overlays, for example O1,O3', list)
    .option('--hint <words>', 'where to look: words, names or paths; repeatable', gathered)
    .option('--top-k <n>', 'number of sources', wholeNumber(1, sourcesMax), 5)
    .option('--engine <name>', engineHelp, engine)
    .option('--agent <alias>', 'ask one shard')
    .action(async (question: string, options: AskOptions) => {
      report(options, await ask(requestOf(await textOf(question), options), options));
    });

  withCommon(sigma.command('query').argument('<agent>').argument('<question>'))
    .description('ask a question to one agent')
    .option('--overlays <names>', 'only these overlays, for example O1,O3', list)
    .option('--hint <words>', 'where to look: words, names or paths; repeatable', gathered)
    .option('--top-k <n>', 'number of sources', wholeNumber(1, sourcesMax), 5)
    .option('--engine <name>', engineHelp, engine)
    .option('--timeout <duration>', 'longest wait', duration, deadlineMsDefault)
    .action(
      async (
        agent: string,
        question: string,
        options: Omit<AskOptions, 'deadline'> & { timeout: number },
      ) => {
        const request = requestOf(question, options);
        report(
          options,
          await withClient(configOf(options), (client) =>
            askAgent(client, agent, request, options.timeout),
          ),
        );
      },
    );
}

/** `-` is standard input; what is beyond a question's length is not read. */
async function textOf(question: string): Promise<string> {
  return question === '-' ? (await beginningOf('-', questionBytesMax)).text : question;
}

/**
 * Refused here already, so that a slip costs no round trip. Throws EMPTY_QUESTION, QUESTION_UNREADABLE,
 * UNKNOWN_OVERLAY.
 */
function requestOf(
  text: string,
  options: { overlays?: string[]; hint?: string[]; topK: number; engine?: string },
): AskRequest {
  const question = text.trim().slice(0, sentCharsMax);
  analyse(question);
  const overlays = (options.overlays ?? []).map((each) => each.toUpperCase());
  const unknown = overlays.find((each) => !(overlayNames as readonly string[]).includes(each));
  if (unknown !== undefined) throw new BusError('UNKNOWN_OVERLAY', { overlay: unknown });
  const { topK: top_k, hint: query_hints = [], engine: named = '' } = options;
  return { question, overlays, top_k, query_hints, engine: named };
}

async function ask(request: AskRequest, options: AskOptions): Promise<Answer> {
  const config = configOf(options);
  const { agent, repo, deadline } = options;
  if (agent === undefined)
    return withQuestions(
      config,
      repo,
      (questions) => questions.ask(request, { deadlineMs: deadline }),
      'meaning',
    );
  if (repo === undefined)
    return withClient(config, (client) => askAgent(client, agent, request, deadline));
  const { askShard } = await import('../local.js');
  return askShard(config, repo, agent, request, { deadlineMs: deadline });
}

function report(options: CommonOptions, answer: Answer): void {
  const isEmpty = answer.evidence.length === 0;
  print(options, withError(answer, isEmpty), () => renderAnswer(answer));
  if (isEmpty) process.exitCode = 1;
}
