import { percentile, table } from '../../bench/kernel/figures.mjs';
import { claim } from '../claims.mjs';
import { readJournal } from '../journal.mjs';
import { codes, told } from '../report.mjs';
import { finals } from '../tasks/boss.mjs';

/** Without an answer for so long, somebody notices. */
const silenceMs = 500;

/** Prints all of it; resolves with the exit code. */
export function report({ options, counts, claims, load, tasks, faults, seconds, ...its }) {
  const figures = {
    sent: counts.sent,
    accepted: counts.accepted,
    processed: counts.processed,
    'duplicates before dedupe': counts.duplicates,
    'deliveries of a later attempt': counts.redelivered,
    'refusals seen by senders': codes(load.refused),
    'refusals seen by who asks the manager': codes(tasks.refused),
    leaders: ['bus', 'manager']
      .map((each) => `${each} ${its.watches[each].leads.length}`)
      .join(', '),
    'entries of the logs': ['bus', 'manager']
      .map((each) => `${each} ${its.watches[each].entries}`)
      .join(', '),
    faults: faults.length,
    seconds: `${seconds.all.toFixed(0)}, with faults ${seconds.faults.toFixed(0)}`,
    seed: options.seed,
  };
  const outages = outageRows(faults, load, tasks);
  const works = taskRows(tasks);
  if (!options.json) process.stdout.write(`\n${table(outages)}\n\n${table(works)}\n`);
  return told('the bus on NATS under faults', {
    json: options.json,
    figures: options.json ? { ...figures, outages, tasks: works } : figures,
    claims: [...claims, ...taskClaims(tasks)],
  });
}

/** From a fault to the answer that ended the longest silence behind it. */
function outageRows(faults, load, tasks) {
  const bySender = load.senderJournals.map(([, file]) =>
    readJournal(file)
      .filter(([what]) => what === 'ACCEPT')
      .map((fields) => Number(fields[3])),
  );
  const all = bySender.flat().sort((one, other) => one - other);
  const of = (fault) => [
    recoveryMs(all, fault),
    Math.max(
      ...bySender.filter((_, at) => at !== fault.machine).map((times) => recoveryMs(times, fault)),
    ),
    recoveryMs(tasks.answersMs, fault),
  ];
  const kinds = [...new Set(faults.map(({ kind }) => kind))].sort();
  const seconds = (ms) => (ms / 1_000).toFixed(1);
  return [
    [
      'FAULT',
      'TIMES',
      'BUS P50 S',
      'WORST',
      'ALL SENDERS P50 S',
      'WORST',
      'MANAGER P50 S',
      'WORST',
    ],
    ...kinds.map((kind) => {
      const its = faults.filter((each) => each.kind === kind).map(of);
      const columns = [0, 1, 2].map((at) => its.map((each) => each[at]));
      return [
        ...[kind, its.length],
        ...columns.flatMap((ms) => [seconds(percentile(ms, 50)), seconds(Math.max(...ms))]),
      ];
    }),
  ];
}

/** 0: no silence that is worth a word. */
function recoveryMs(timesMs, { atMs, untilMs }) {
  let longest = { ms: silenceMs, endMs: atMs };
  let last = atMs;
  for (const each of timesMs) {
    if (each <= atMs) continue;
    if (each - last > longest.ms) longest = { ms: each - last, endMs: each };
    last = each;
    if (each > untilMs) break;
  }
  return longest.endMs - atMs;
}

const kindsOfTask = ['keyed', 'unkeyed', 'reading'];

function taskRows(tasks) {
  const all = [...tasks.tasks.values()];
  return [
    ['TASKS', 'DELEGATED', 'COMPLETED', 'FAILED', 'OUTCOME_UNKNOWN', 'EFFECTS'],
    ...kindsOfTask.map((kind) => {
      const its = all.filter((each) => each.kind === kind);
      return [
        ...[kind, its.length],
        its.filter(({ ended }) => ended === 'completed').length,
        its.filter(({ ended }) => ended === 'failed').length,
        its.filter(({ unknown }) => unknown).length,
        its.reduce((sum, { id }) => sum + tasks.effectsOf(id), 0),
      ];
    }),
  ];
}

function taskClaims(tasks) {
  const all = [...tasks.tasks.values()];
  const of = (kind) => all.filter((each) => each.kind === kind);
  const told = ({ id, ended }) => `${id} ${ended} ${tasks.effectsOf(id)}`;
  const none = (name, which) => claim(name, which.length === 0, which.map(told).join('; '));
  const lost = tasks.open.filter(({ ended }) => !finals.has(ended));
  const twice = tasks.deliveries.filter(([, states]) => states.length !== 1);
  return [
    claim('no task is lost, and every task ends', lost.length === 0, tasks.stories.join('; ')),
    claim('the end of a task is told once', twice.length === 0, JSON.stringify(twice)),
    none(
      'what has a key is done once, and completed',
      of('keyed').filter(({ id, ended }) => tasks.effectsOf(id) !== 1 || ended !== 'completed'),
    ),
    none(
      'nothing without a key is done twice',
      of('unkeyed').filter(({ id }) => tasks.effectsOf(id) > 1),
    ),
    none(
      'what was interrupted without a key ends as OUTCOME_UNKNOWN',
      of('unkeyed').filter(
        ({ id, ended, unknown }) =>
          ended !== 'completed' && unknown !== true && tasks.effectsOf(id) > 0,
      ),
    ),
  ];
}
