// Tasks in plain words, as somebody types them who has just cloned a repository: `sigma delegate "TEXT"`, and nothing else.
// Broker, hosts, manager and executor are real processes; each repository has its own. The texts, and what a user would
// accept of each, were written before the first run (tasks.jsonl).
//
//   npm run campaign:plain-tasks -- --out DIR [--sources DIR] [--runner CMD] [--only IDS] [--timeout MINUTES]
//
// --out: gets what each task printed, its record and its changes, and results.md. --sources: work trees by their short
// names; what is missing there is fetched. --runner: the program of the agent that does edits, with its arguments; it
// reads the task on standard input and works in the tree. --only: beginnings of ids (q, a, e07). --timeout: of one wait.
// Exits with 1 when a task that was not done counts as done.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { runSigma, startLattice, temporaryFolder } from '../../bench/kernel/process.mjs';
import { seconds, table } from '../../bench/kernel/figures.mjs';
import { outputOf, treeOf } from '../../oracle/sources.mjs';

const readyMsMax = 900_000;

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    sources: { type: 'string' },
    runner: { type: 'string' },
    only: { type: 'string', default: '' },
    timeout: { type: 'string', default: '15' },
  },
});
if (values.out === undefined) throw new Error('--out DIR: where what is printed goes');
const out = path.resolve(values.out);
const waitMs = Number(values.timeout) * 60_000;
const beginnings = values.only.split(',');
mkdirSync(out, { recursive: true });

const tasks = readFileSync(path.join(import.meta.dirname, 'tasks.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))
  .filter(({ id }) => beginnings.some((each) => id.startsWith(each)));
const repositories = [...new Set(tasks.map(({ repository }) => repository))];
const told = (await Promise.all(repositories.map(tasksOf))).flat();
const results = written();
writeFileSync(path.join(out, 'results.md'), results);
process.stdout.write(results);
process.exitCode = told.some(({ verdict }) => verdict === 'FALSE SUCCESS') ? 1 : 0;

/** All tasks of one repository, one after the other: each finds the tree as it was cloned. */
async function tasksOf(repository) {
  const own = tasks.filter((each) => each.repository === repository);
  const name = repository.replace('https://github.com/', '');
  const source = await treeOf({ name, commit: own[0].commit }, values.sources);
  const tree = path.join(temporaryFolder('plain-tasks'), path.basename(name));
  const git = (...args) => outputOf('git', args, tree);
  await outputOf('git', ['clone', '-q', source.root, tree], out);
  await git('checkout', '-q', own[0].commit);
  const home = temporaryFolder('plain-tasks-home');
  const agent = values.runner?.split(' ');
  const executor = { root: tree, ...(agent && { agent }) };
  writeFileSync(path.join(home, 'config.json'), JSON.stringify({ executor }));
  const lattice = await startLattice(tree, { home, timeoutMs: readyMsMax });
  const done = [];
  try {
    for (const task of own) {
      done.push({ task, ...(await delegated(task, { home, git })) });
      const { state, verdict, ms } = done.at(-1);
      process.stderr.write(`${task.id} ${state} ${verdict} ${seconds(ms)}\n`);
      await git('checkout', '-q', '.');
      await git('clean', '-fdq');
    }
  } finally {
    await lattice.stop();
  }
  return done;
}

async function delegated(task, { home, git }) {
  const startedMs = performance.now();
  // What a terminal waits for by itself.
  const said = await runSigma(['delegate', task.text, '--wait'], { home, timeoutMs: waitMs });
  const ms = performance.now() - startedMs;
  const text = said.stdout + said.stderr;
  const listed = await runSigma(['task', 'list', '--json'], { home });
  const id = listed.json?.tasks.findLast((each) => each.task.task === task.text)?.id;
  const shown = id && (await runSigma(['task', 'show', id, '--json'], { home })).json;
  const changed = await git('status', '--porcelain');
  const keep = (ending, text) => writeFileSync(path.join(out, `${task.id}.${ending}`), text);
  keep('txt', `${text}exit code ${said.code}\n`);
  if (shown) keep('json', JSON.stringify(shown, undefined, 2));
  if (changed !== '') keep('diff', `${changed}${await git('diff')}`);
  // Nobody answers here: what waits for a person is over.
  if (said.code !== 0 && id) await runSigma(['task', 'cancel', id], { home });
  const state = shown?.state ?? 'no task';
  return { state, ms, text, ...judged(task, { state, changed, shown, text }) };
}

/** Whether the outcome is the one that was written down as acceptable, as far as a program sees. */
function judged({ accept }, { state, changed, shown, text }) {
  const isDone = state === 'completed';
  const kind = isDone ? 'completed' : isTrouble(state, shown) ? 'failed' : 'refused';
  if (['refuse', 'not done'].includes(accept.outcome))
    return { kind, verdict: isDone ? 'FALSE SUCCESS' : 'as wanted' };
  if (!isDone) return { kind, verdict: 'not done' };
  const missing =
    accept.outcome === 'done'
      ? accept.files.filter((file) => !changed.includes(file))
      : accept.names.filter((each) => !text.includes(each));
  if (missing.length === 0) return { kind, verdict: 'as wanted' };
  const verdict = accept.outcome === 'done' ? 'FALSE SUCCESS' : `lacks ${missing.join(', ')}`;
  return { kind, verdict };
}

/** Something broke; anything else that is not done was declined in words. */
function isTrouble(state, shown) {
  const code = shown?.error?.code ?? '';
  return ['no task', 'timed_out'].includes(state) || /^(ACTION_FAILED|PGC_|INTERNAL)/.test(code);
}

function written() {
  const kinds = [...new Set(tasks.map(({ kind }) => kind))];
  const count = (kind, holds) =>
    told.filter((each) => (kind === 'all' || each.task.kind === kind) && holds(each)).length;
  const rows = [...kinds, 'all'].map((kind) => [
    kind,
    count(kind, () => true),
    ...['completed', 'refused', 'failed'].map((what) => count(kind, (each) => each.kind === what)),
    count(kind, ({ verdict }) => verdict === 'as wanted'),
    count(kind, ({ verdict }) => verdict === 'FALSE SUCCESS'),
  ]);
  const head = ['KIND', 'TASKS', 'COMPLETED', 'REFUSED', 'FAILED', 'AS WANTED', 'FALSE SUCCESS'];
  const each = told.map(({ task, kind, state, verdict, ms }) => [
    ...[task.id, kind, state, seconds(ms), verdict, task.text],
  ]);
  const messages = told
    .filter(({ kind }) => kind !== 'completed')
    .map(({ task, text }) => `${task.id} ${task.text}\n${text.trim().replace(/^/gm, '    ')}`);
  return [
    '```',
    table([head, ...rows]),
    '',
    table([['ID', 'OUTCOME', 'STATE', 'TIME', 'VERDICT', 'TASK'], ...each]),
    '```',
    '',
    'What was refused or failed, and what was said:',
    '',
    ...messages.map((text) => `\`\`\`\n${text}\n\`\`\``),
    '',
  ].join('\n');
}
