import type { Command } from 'commander';
import type { Client } from '../../../src/client/client.js';
import { asBusError } from '../../../src/errors/bus-error.js';
import { Metrics } from '../../../src/observe/metrics.js';
import { samplesText } from '../../../src/observe/samples.js';
import {
  taskMessages,
  taskService,
  type TaskNumbersAnswer,
} from '../../../src/task/requests/messages.js';
import {
  noAttentionNumbers,
  ratesOfSignal,
  revisionsOf,
  signalsInOrder,
  type AttentionNumbers,
} from '../../../src/task/numbers/attention-numbers.js';
import type { TaskNumbers, TaskRates } from '../../../src/task/numbers/numbers.js';
import { samplesOf } from '../../../src/task/numbers/samples.js';
import { withClient } from '../connect.js';
import { configOf, withCommon, type CommonOptions } from '../options.js';
import { print, printable, table } from '../output.js';

export function addMetricsCommand(sigma: Command): void {
  withCommon(sigma.command('metrics'))
    .description('the broker and its tasks in the text format of Prometheus, asked over the bus')
    .option('--tasks', 'how tasks fare, for a reader')
    .action(async (options: CommonOptions & { tasks?: boolean }) => {
      const [status, tasks] = await withClient(configOf(options), async (client) => [
        await client.status(),
        await numbersOf(client, options.tasks === true),
      ]);
      const text = await new Metrics({ status: () => status }).text();
      const samples = tasks === undefined ? '' : await samplesText(samplesOf(tasks));
      const read = tasks && { states: tasks.states, ...parsed(tasks) };
      print({ json: options.json === true }, { metrics: text + samples, tasks: read ?? null }, () =>
        options.tasks === true && read !== undefined ? rendered(read) : text + samples,
      );
    });
}

interface TaskFigures {
  states: Record<string, number>;
  numbers: TaskNumbers;
  rates: TaskRates;
}

/** A bus without a manager has no tasks: that is only a failure for who asked for them. */
async function numbersOf(
  client: Client,
  isWanted: boolean,
): Promise<TaskNumbersAnswer | undefined> {
  const { numbers } = taskMessages;
  try {
    const body = numbers.request.encode({});
    const reply = await client.request(`service:${taskService}`, numbers.type, body);
    return numbers.answer.decode(reply.body);
  } catch (error) {
    if (!isWanted && asBusError(error).code === 'NO_RESPONDER') return undefined;
    throw error;
  }
}

function parsed({ numbers, rates }: TaskNumbersAnswer): Pick<TaskFigures, 'numbers' | 'rates'> {
  return {
    numbers: JSON.parse(numbers) as TaskNumbers,
    rates: JSON.parse(rates) as TaskRates,
  };
}

const share = (value: number): string => `${(100 * value).toFixed(1)} %`;

function rendered({ states, numbers, rates }: TaskFigures): string {
  const by = (values: Record<string, number>): string =>
    Object.entries(values)
      .map(([name, value]) => `${name} ${share(value)}`)
      .join(', ') || 'none';
  const now = Object.entries(states).map(([name, count]) => `${count} ${name}`);
  return table([
    ['FIGURE', ''],
    ['now', now.join(', ') || 'no tasks'],
    ['finished', String(numbers.finished)],
    ['completed', share(rates.completed)],
    ['accepted without revision', share(rates.accepted_without_revision)],
    ['accepted without manual review', share(rates.accepted_without_manual_review)],
    ['responses without grounding', share(rates.responses_without_grounding)],
    ['adoption of grounding', share(rates.adoption)],
    ['time spent on grounding', share(rates.grounding_overhead)],
    ['bytes of context a task', String(rates.bytes_per_task)],
    ['tokens a task', String(rates.tokens_per_task)],
    ['rejected, by confidence', by(rates.rejection_by_confidence)],
    ['overlays that were cited', by(rates.overlay_coverage)],
    ...riskRows({ ...noAttentionNumbers, ...numbers.attention }),
  ]);
}

/** What became of risky actions: how many were asked about, how they were judged, and how long that took. */
function riskRows(attention: AttentionNumbers): string[][] {
  const { actions, silent } = attention;
  const rows = signalsInOrder(attention).map(([signal, its]) => {
    const { judged, approved, mean_ms } = ratesOfSignal(its);
    const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
    const how =
      judged === 0
        ? ''
        : `, ${share(approved)} approved, after ${seconds(mean_ms)} on average, ${seconds(its.judged_ms_max)} at most`;
    return [
      signal,
      `asked ${its.asked}${how}; expired ${its.expired}, in passing ${its.advisory}, missed ${its.missed}`,
    ];
  });
  const revisions = revisionsOf(attention).map((each) => ['worth a revision', printable(each)]);
  return [['actions that passed in silence', `${silent} of ${actions}`], ...rows, ...revisions];
}
