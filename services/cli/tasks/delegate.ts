import type { Command } from 'commander';
import { newId } from '../../../src/base/ids.js';
import { delegatedTaskJsonSchema } from '../../../src/delegation/task/json-schema.js';
import { readTask } from '../../../src/delegation/task/schema.js';
import type { DelegatedTask } from '../../../src/delegation/task/shapes.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { withClient } from '../connect.js';
import { isFileAt, wholeOf } from '../input.js';
import {
  configOf,
  gathered,
  list,
  longDuration,
  operatorSession,
  wholeNumber,
  withCommon,
  type CommonOptions,
} from '../options.js';
import { print, usage } from '../output.js';
import { followed, goesOn, printOutcome } from './task-outcome.js';
import { Tasks } from '../../../src/remote/tasks.js';

/** Larger than any task within its limits. */
const inputBytesMax = 4 * 1024 * 1024;
const attemptsMax = 10;

interface DelegateOptions extends CommonOptions {
  id?: string;
  strategy?: string;
  kind?: string;
  criticality?: string;
  hint?: string[];
  overlays?: string[];
  analyse?: string[];
  algebra?: string;
  criterion?: string[];
  context?: string;
  runner?: string;
  to?: string;
  pgc?: string;
  session?: string;
  dependsOn?: string[];
  timeout?: number;
  attempts?: number;
  evidence?: boolean;
  critique?: boolean;
  wait?: boolean;
  as?: string;
  schema?: boolean;
}

/** `delegate`: a task for a worker. */
export function addDelegateCommand(sigma: Command): void {
  withCommon(
    sigma
      .command('delegate')
      .argument('[task]', 'the task in words, or a JSON file; - reads standard input'),
  )
    .description('delegate a task to a worker; its answer is checked before it counts')
    .option('--id <id>', 'id of the task; delegating again under the same id makes no second task')
    .option(
      '--kind <kind>',
      'question (default for words), simple_refactor, bug_fix, feature, architecture, documentation',
    )
    .option('--strategy <name>', 'pgc_first, pgc_verify, pgc_cite or none (default: by the kind)')
    .option('--criticality <level>', 'C1 to C4; doubtful results of C3 and C4 go to a person')
    .option('--hint <question>', 'ask the index this first; repeatable', gathered)
    .option('--overlays <list>', 'overlays to use, for example O1,O3', list)
    .option(
      '--analyse <type:target>',
      'blast_radius:SYMBOL, security_impact:SYMBOL, dependency_check, algebra_query:EXPRESSION',
      gathered,
    )
    .option('--algebra <expression>', 'an expression as for `sigma algebra`')
    .option('--criterion <text>', 'condition for done; repeatable', gathered)
    .option('--context <text>', 'further context for the worker')
    .option('--runner <name>', 'answer, command, model or agent')
    .option('--to <agent>', 'this worker (default: any that can)')
    .option(
      '--session <name>',
      'session in which approvals of risky actions are remembered (default: operator)',
    )
    .option('--pgc <agent>', 'ask only this shard (default: all shards)')
    .option('--depends-on <list>', 'ids of tasks that must complete first', list)
    .option('--timeout <duration>', 'for all attempts together (default: 10m)', longDuration)
    .option('--attempts <n>', 'most attempts', wholeNumber(1, attemptsMax))
    .option('--evidence', 'require evidence in the answer')
    .option('--no-evidence', 'do not require evidence')
    .option('--critique', 'have a critic review the result before it counts')
    .option('--wait', 'follow it until it is over or asks something (default on a terminal)')
    .option('--no-wait', 'return as soon as the manager has accepted it')
    .option('--as <agent>', 'delegate as this agent, which gets the result as a message')
    .option('--schema', 'print the JSON Schema of a task; delegate nothing')
    .action(async (given: string | undefined, options: DelegateOptions) => {
      if (options.schema === true)
        return void process.stdout.write(`${JSON.stringify(delegatedTaskJsonSchema(), null, 2)}\n`);
      const task = await taskFrom(given, options);
      await delegate(task, options);
    });
}

async function delegate(task: DelegatedTask, options: DelegateOptions): Promise<void> {
  const { as, wait = process.stdout.isTTY } = options;
  const known = { isAccepted: false };
  const accepted = (): void => void (known.isAccepted = true);
  try {
    await withClient(
      configOf(options),
      async (client) => {
        const tasks = new Tasks(client);
        const view = await (as === undefined
          ? tasks.delegate(task)
          : tasks.delegateAs(as, task, accepted));
        accepted();
        if (wait) return printOutcome(options, await followed(client, view));
        print(options, view, () => `delegated as ${view.id} (${view.state})`);
      },
      as === undefined ? 'client' : 'operator',
    );
  } catch (error) {
    throw known.isAccepted ? goesOn(error, task.id) : error;
  }
}

/** Of a file or in words, with what the options say over it. Throws TASK_INVALID, USAGE. */
async function taskFrom(
  given: string | undefined,
  options: DelegateOptions,
): Promise<DelegatedTask> {
  if (given === undefined && process.stdin.isTTY)
    throw usage('no task was given: name a file, - or words');
  const source = given ?? '-';
  const isFile = source === '-' || (await isFileAt(source));
  if (!isFile && /^\S+\.json$/.test(source)) throw usage(`${source} cannot be read`);
  const document = isFile ? await documentIn(source) : { task: source };
  return readTask(withOptions(document, options, !isFile), newId('task'));
}

async function documentIn(file: string): Promise<object> {
  const bytes = await wholeOf(file, inputBytesMax, 'the task');
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : 'not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid('it must be one JSON object');
  return value;
}

function withOptions(document: object, options: DelegateOptions, isInWords: boolean): object {
  const its = document as { grounding?: unknown; limits?: object };
  const { strategy, hint, overlays, analyse, algebra, evidence, timeout, attempts } = options;
  const { id, criticality, context, runner, to, pgc } = options;
  const session = options.session ?? (options.as === undefined ? operatorSession : undefined);
  const grounding = named({
    strategy,
    query_hints: hint,
    overlay_hints: overlays,
    analysis_hints: analyse?.map(analysisOf),
    algebra_expression: algebra,
    evidence_required: evidence,
  });
  const limits = named({ timeout_ms: timeout, attempts_max: attempts });
  const isGrounded = Object.keys(grounding).length > 0;
  const isLimited = Object.keys(limits).length > 0;
  const kind = options.kind ?? (isInWords && strategy === undefined ? 'question' : undefined);
  return {
    ...named({ session }),
    ...document,
    ...named({ id, kind, criticality, context, runner, to, pgc, session: options.session }),
    ...named({ acceptance_criteria: options.criterion, depends_on: options.dependsOn }),
    ...named({ critique: options.critique }),
    ...(isGrounded && { grounding: { ...(its.grounding ?? {}), ...grounding } }),
    ...(isLimited && { limits: { ...its.limits, ...limits } }),
  };
}

function analysisOf(text: string): object {
  const colon = text.indexOf(':');
  if (colon < 0) return { type: text };
  return { type: text.slice(0, colon), target: text.slice(colon + 1) };
}

/** Without what was not given. */
function named(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function invalid(detail: string): BusError {
  return new BusError('TASK_INVALID', { detail });
}
