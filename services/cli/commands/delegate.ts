import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { newId } from '../../../src/base/ids.js';
import { delegatedTaskJsonSchema } from '../../../src/delegation/task/json-schema.js';
import { readTask } from '../../../src/delegation/task/schema.js';
import type { DelegatedTask } from '../../../src/delegation/task/shapes.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { withClient } from '../connect.js';
import { wholeOf } from '../input.js';
import {
  configOf,
  gathered,
  list,
  longDuration,
  wholeNumber,
  withCommon,
  type CommonOptions,
} from '../options.js';
import { print, usage } from '../output.js';
import { followed, goesOn, printOutcome } from '../task-outcome.js';
import { Tasks } from '../tasks.js';

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

/** `delegate`: a task for whoever can do it. */
export function addDelegateCommand(sigma: Command): void {
  withCommon(
    sigma
      .command('delegate')
      .argument('[task]', 'a file with a task as JSON, - for standard input, or the task in words'),
  )
    .description('hand a task to a worker; its answer is checked before it counts')
    .option('--id <id>', 'delegated again under the same id, it is one task')
    .option(
      '--kind <kind>',
      'question (default in words), simple_refactor, bug_fix, feature, architecture, documentation',
    )
    .option('--strategy <name>', 'pgc_first, pgc_verify, pgc_cite or none; follows from the kind')
    .option('--criticality <level>', 'C1 to C4; of C3 and C4 a person decides what is doubtful')
    .option('--hint <question>', 'ask the PGC this first; may be given several times', gathered)
    .option('--overlays <list>', 'overlays that matter, O1,O3 for example', list)
    .option(
      '--analyse <type:target>',
      'blast_radius:SYMBOL, security_impact:SYMBOL, dependency_check, algebra_query:EXPRESSION',
      gathered,
    )
    .option('--algebra <expression>', 'overlays combined, as `sigma algebra` reads them')
    .option('--criterion <text>', 'when it counts as done; may be given several times', gathered)
    .option('--context <text>', 'what the worker should know besides')
    .option('--runner <name>', 'answer, command, model or agent')
    .option('--to <agent>', 'who shall do it; whoever can, when absent')
    .option('--session <name>', 'for which approvals of risky actions are remembered (operator)')
    .option('--pgc <agent>', 'which PGC agent is asked; the whole lattice, when absent')
    .option('--depends-on <list>', 'ids of tasks that must be completed first', list)
    .option('--timeout <duration>', 'for all attempts together (10m)', longDuration)
    .option('--attempts <n>', 'that may fail', wholeNumber(1, attemptsMax))
    .option('--evidence', 'its answer must carry evidence')
    .option('--no-evidence', 'its answer need not carry evidence')
    .option('--critique', 'a critic reviews its result, and has it revised, before it counts')
    .option('--wait', 'follow it until it is over or asks something (default on a terminal)')
    .option('--no-wait', 'return as soon as the manager has it')
    .option('--as <agent>', 'in whose name: that agent gets the result as a message')
    .option('--schema', 'print the JSON Schema of a task, and delegate nothing')
    .action(async (given: string | undefined, options: DelegateOptions) => {
      if (options.schema === true)
        return void process.stdout.write(`${JSON.stringify(delegatedTaskJsonSchema(), null, 2)}\n`);
      const task = await taskFrom(given, options);
      await delegate(task, options);
    });
}

async function delegate(task: DelegatedTask, options: DelegateOptions): Promise<void> {
  const { as, json, wait = process.stdout.isTTY } = options;
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
        print({ json: json === true }, view, () => `delegated as ${view.id} (${view.state})`);
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
  if (given === undefined && process.stdin.isTTY) throw usage('which task? A file, - or words');
  const source = given ?? '-';
  const isFile = source === '-' || (await isFileAt(source));
  if (!isFile && /^\S+\.json$/.test(source)) throw usage(`${source} cannot be read`);
  const document = isFile ? await documentIn(source) : { task: source };
  return readTask(withOptions(document, options, !isFile), newId('task'));
}

async function isFileAt(path: string): Promise<boolean> {
  return stat(path).then(
    (its) => its.isFile(),
    () => false,
  );
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
  // Every command is another agent: what a person approved is remembered for them all.
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

const operatorSession = 'operator';

/** Without what was not given. */
function named(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function invalid(detail: string): BusError {
  return new BusError('TASK_INVALID', { detail });
}
