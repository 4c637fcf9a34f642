// Tasks as they are lived: a manager, executors and PGC hosts as processes of their own over one broker, on a real tree.
// An honest worker and liars; each strategy and each analysis; what goes wrong and what becomes of it; a question there
// and back. Prints what each response held, and what the manager found out about it.
//
//   npm run campaign:tasks -- [--repo DIR] [--home SIGMA_HOME] [--symbol NAME] [--json]
//
// Without --repo, this repository. Without --symbol, a function of the tree that others call, as its index says.
// Exits with 1 when a claim does not hold.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { readTask } from '../../dist/src/delegation/task/schema.js';
import { delegationMessages } from '../../dist/src/delegation/task/messages.js';
import { latticeMessages, latticeService } from '../../dist/src/pgc/serve/messages.js';
import { placeOf, readManifest } from '../../dist/src/pgc/plan/manifest.js';
import { finalStates } from '../../dist/src/task/life/states.js';
import { taskMessages, taskService } from '../../dist/src/task/requests/messages.js';
import { table } from '../bench/kernel/figures.mjs';
import { temporaryFolder } from '../bench/kernel/process.mjs';
import { connectTo, recordOf, until } from './agent.mjs';
import { claim } from './claims.mjs';
import { agentAt, brokerAt, worker } from './processes.mjs';
import { told } from './report.mjs';

const sigma = path.resolve(import.meta.dirname, '../../services/cli/sigma.mjs');
const restMsMax = 180_000;
/** What a damaged file holds. */
const damage = 'no overlay';
/** Until an overlay of a whole tree is made. */
const makingMsMax = 900_000;
/** Call sites of a symbol that is chosen: a liar cites five. */
const callersWanted = 5;
/** A task rests in these: nothing happens any more by itself. */
const resting = [...finalStates, 'deciding', 'clarifying'];
/** And when it is blocked, once the manager has reacted to it in all its ways and asks a person. */
const isAtRest = ({ state, asks }) =>
  resting.includes(state) || (state === 'blocked' && asks !== '');

const { values } = parseArgs({
  options: {
    repo: { type: 'string', default: path.resolve(import.meta.dirname, '../..') },
    home: { type: 'string' },
    symbol: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const { repo, json } = values;
const home = values.home ?? temporaryFolder('sigma-tasks');
const claims = [];
const claimed = (name, holds, detail = '') => claims.push(claim(name, holds, detail));
const rows = [
  [
    'WHAT',
    'STATE',
    'ATTEMPTS',
    'SECONDS',
    'QUERIES',
    'OVERLAYS',
    'CITED',
    'VALID',
    'CONFIDENCE',
    'PGC MS',
    'CONTEXT',
    'WHAT WAS SAID',
  ],
];

indexed();
const tree = realpathSync(repo);
const indexedShards = (await readManifest(placeOf(tree, home), tree)).shards;
const broker = brokerAt(home);
const manager = agentAt(home, 'manager', ['manager']);
const pgc = agentAt(home, 'pgc', ['pgc', repo]);
const executor = agentAt(home, 'executor', ['executor', '--root', repo]);
for (const each of [broker, manager, pgc, executor]) each.start();
const boss = connectTo(home, 'boss');
await boss.ready({ withinMs: 60_000 });
await boss.register(recordOf('boss'));
await until(
  async () => (await boss.agents()).some(({ record }) => record.role === 'executor'),
  60_000,
);
await until(
  async () => (await boss.status()).services.some(({ name }) => name === taskService),
  60_000,
);
const shards = await served();
const symbol = values.symbol ?? (await symbolOfTree());
try {
  await honest();
  await liars();
  await strategies();
  await analyses();
  await errors();
  await clarification();
  await metrics();
} finally {
  await boss.close();
  for (const each of [executor, pgc, manager, broker]) await each.stop();
}
if (!json) process.stdout.write(`${table(rows)}\n`);
process.exitCode = told('tasks as they are lived', {
  json,
  figures: { tree: repo, symbol, shards, tasks: rows.length - 1 },
  claims,
});

function indexed() {
  const env = { ...process.env, SIGMA_HOME: home };
  const { status, stderr } = spawnSync(process.execPath, [sigma, 'index', repo, '--json'], { env });
  if (status !== 0) throw new Error(String(stderr));
}

/** Resolves with the number of shards when all that are indexed are there, and the manager knows each. */
async function served() {
  const wanted = indexedShards.length;
  const { request, answer, type } = latticeMessages.shards;
  return until(
    async () => {
      const online = (await boss.agents({ role: 'pgc' })).filter(({ state }) => state === 'online');
      if (online.length < wanted) return false;
      const reply = await boss.request(`service:${latticeService}`, type, request.encode({}));
      const { known, unknown } = answer.decode(reply.body);
      return known.length >= wanted && unknown.length === 0 && known.length;
    },
    300_000,
    500,
  );
}

/** A function that the tree defines once, and calls. */
async function symbolOfTree() {
  const asked = async ({ request, answer, type }, body) => {
    const options = { deadlineMs: 120_000, isIdempotent: true };
    const to = `service:${latticeService}`;
    return answer.decode((await boss.request(to, type, request.encode(body), options)).body);
  };
  const expression = 'O1[kind=function] & O3[rule=called]';
  const { anchors } = await asked(latticeMessages.algebra, { expression, limit: 500 });
  for (const { symbol: name } of anchors) {
    if (!/[a-z]_[a-z]|[a-z][A-Z]/.test(name)) continue;
    const { definitions, callers } = await asked(latticeMessages.callers, {
      symbol: name,
      cite: 0,
    });
    const places = definitions.filter(({ declaration }) => !declaration);
    if (places.length === 1 && callers.length >= callersWanted) return name;
  }
  throw new Error('no function of this tree is called often enough: name one with --symbol');
}

function callersTask(more = {}) {
  return {
    task: `Find every caller of ${symbol} and say which ignore its result.`,
    grounding: { strategy: 'pgc_first', overlay_hints: ['O1', 'O3'], evidence_required: true },
    acceptance_criteria: [
      { text: 'call sites are cited', check: { citations_min: 1, cites_symbol: symbol } },
    ],
    ...more,
  };
}

async function honest() {
  const view = await lived('every caller, honestly', callersTask());
  const review = view.reviews.at(-1);
  claimed(
    'an honest answer is accepted, every citation verified',
    view.state === 'completed' &&
      review.citations.length > 0 &&
      review.citations.every(({ status }) => status === 'valid'),
    JSON.stringify(review),
  );
  say(view.response.result.split('\n').slice(0, 12).join('\n'));
}

async function liars() {
  const told = [
    'an invented citation',
    'an invented file',
    'the wrong line',
    'inflated confidence',
  ];
  for (const lie of told) {
    const name = `liar-${lie.split(' ').at(-1)}`;
    const child = worker(name, 'tasks/liar.mjs', { home, name, lie });
    child.start();
    await until(() => isThere(name), 30_000);
    // By name: the manager may learn of it a little later than we do.
    const view = await lived(lie, callersTask({ to: name, limits: { attempts_max: 3 } }));
    await child.kill();
    await until(async () => !(await isThere(name)), 30_000);
    const [first] = view.reviews;
    claimed(
      `${lie}: refused with its reason, and done by somebody else`,
      view.state === 'completed' &&
        first.worker === name &&
        first.verdict === 'refused' &&
        view.assigned_to === 'executor',
      JSON.stringify(view.reviews),
    );
    for (const { code, text } of first.findings.filter(({ severity }) => severity === 'error'))
      say(`${lie}: ${code}: ${text}`);
  }
}

async function strategies() {
  for (const strategy of ['pgc_first', 'pgc_verify', 'pgc_cite', 'none']) {
    const view = await lived(strategy, {
      task: `What does ${symbol} do?`,
      grounding: { strategy, query_hints: strategy === 'none' ? [] : [`What does ${symbol} do?`] },
    });
    const evidence = view.response?.grounding_evidence;
    const isNone = strategy === 'none';
    claimed(
      `${strategy} ${isNone ? 'asks nobody' : 'cites what it found'}`,
      isNone ? evidence === null : evidence?.citations.length > 0,
      JSON.stringify(view.response ?? view.error),
    );
  }
  const legacy = await lived('no grounding at all', { task: `What does ${symbol} do?` });
  claimed(
    'without grounding a response is of the legacy version',
    legacy.response?.protocol_version === '1.0-legacy',
    JSON.stringify(legacy.response),
  );
}

async function analyses() {
  const hints = [
    { type: 'blast_radius', target: symbol },
    { type: 'security_impact', target: symbol },
    { type: 'dependency_check', target: '' },
    { type: 'algebra_query', target: 'O1 - O2' },
  ];
  for (const hint of hints) {
    const view = await lived(hint.type, {
      task: `What has to be known before ${symbol} is changed?`,
      kind: 'architecture',
      grounding: { analysis_hints: [hint], evidence_required: false },
    });
    const ran = view.response?.grounding_evidence?.queries_executed ?? [];
    for (const each of view.response?.grounding_evidence?.overlay_warnings ?? [])
      say(`${hint.type}: ${each}`);
    claimed(
      `${hint.type} was run`,
      ran.some((each) => each.includes(hint.type)),
      JSON.stringify(ran),
    );
  }
  const view = await lived('algebra_expression', {
    task: `What has to be known before ${symbol} is changed?`,
    grounding: { strategy: 'pgc_first', algebra_expression: 'O1 & O5', evidence_required: false },
  });
  claimed(
    'an expression was evaluated',
    view.response?.grounding_evidence?.queries_executed.some((each) => each.includes('O1 & O5')),
    JSON.stringify(view.response),
  );
}

async function errors() {
  await legacyWorker();
  await pgcLost();
  await overlaysGone();
  await corrupted();
  await lowConfidence();
}

async function legacyWorker() {
  const name = 'old-timer';
  const child = worker(name, 'tasks/legacy.mjs', { home, name });
  child.start();
  await until(() => isThere(name), 30_000);
  const view = await lived('5.1 a legacy worker', callersTask({ to: name }));
  await child.kill();
  const [first] = view.reviews;
  claimed(
    '5.1: PROTOCOL_MISMATCH, and done by one that knows grounding',
    first.findings.some(({ code }) => code === 'PROTOCOL_MISMATCH') &&
      view.state === 'completed' &&
      view.assigned_to === 'executor',
    JSON.stringify(view.reviews),
  );
}

/** It answers nothing for a while, as a machine that swaps; then it is killed in the middle of what it was asked. */
async function pgcLost() {
  process.kill(pgc.pid, 'SIGSTOP');
  const living = lived(
    '5.2 a PGC that is killed',
    callersTask({
      grounding: { strategy: 'pgc_first', evidence_required: true },
      limits: { timeout_ms: 170_000 },
    }),
  );
  await wait(3_000);
  await pgc.kill();
  const view = await living;
  claimed(
    '5.2: blocked, nothing done',
    view.state === 'blocked' &&
      view.response.status === 'blocked' &&
      view.response.reason === 'PGC_FAILED',
    JSON.stringify(view.response),
  );
  pgc.start();
  await served();
  await change(view.id, 'reassign');
  const after = await rest(view.id);
  claimed(
    '5.2: reassigned, it is completed',
    after.state === 'completed',
    JSON.stringify(after.error),
  );
}

async function overlaysGone() {
  const deleted = overlayFiles('O4');
  await whileNobodyServes(() => deleted.forEach((each) => rmSync(each)));
  await generated(`deleted overlays (${deleted.length} files)`, 'O4');
  // Under other names, where the tree has changed meanwhile; of a large tree later than the task could wait.
  await until(async () => overlayFiles('O4').length >= deleted.length, makingMsMax).catch(() => {});
  const left = overlayFiles('O4').length;
  claimed(
    '5.3: the files are there again',
    deleted.length > 0 && left === deleted.length,
    `${left} of ${deleted.length}`,
  );
  const damaged = overlayFiles('O5');
  await whileNobodyServes(() => damaged.forEach((each) => writeFileSync(each, damage)));
  await generated(`damaged overlays (${damaged.length} files)`, 'O5');
  const areWhole = () => overlayFiles('O5').every((each) => readFileSync(each, 'utf8') !== damage);
  await until(async () => areWhole(), makingMsMax).catch(() => {});
  claimed('5.3: the files are whole again', areWhole());
}

async function generated(what, overlay) {
  const view = await lived(`5.3 ${what}`, {
    task: `What does ${symbol} do?`,
    grounding: { strategy: 'pgc_first', overlay_hints: ['O1', overlay], evidence_required: true },
  });
  const { overlay_warnings: warnings = [], overlays_consulted: consulted = [] } =
    view.response?.grounding_evidence ?? {};
  say(`5.3: consulted ${consulted.join(', ')}. ${warnings.join(' ') || 'No warning.'}`);
  const isConsulted =
    consulted.includes(overlay) && !warnings.some((each) => each.includes(overlay));
  // What takes longer than two minutes, O1 stands in for.
  const isSaid = warnings.some((each) => each.startsWith(`${overlay} is missing`));
  claimed(
    `5.3: ${what}: ${isSaid ? 'not made in two minutes, and said' : 'generated and then consulted'}`,
    view.state === 'completed' && (isConsulted || isSaid),
    JSON.stringify([view.error, consulted, warnings, view.reviews]),
  );
}

/** Of all shards. */
function overlayFiles(overlay) {
  return readdirSync(path.join(home, 'pgc'), { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && each.name.endsWith(`.${overlay}.ovl`))
    .map((each) => path.join(each.parentPath, each.name))
    .sort();
}

/** What is open is served out of memory. */
async function whileNobodyServes(change) {
  await pgc.stop();
  change();
  pgc.start();
  await served();
}

async function corrupted() {
  const { response, assign } = delegationMessages;
  const startedMs = performance.now();
  await boss.post('agent:manager', response.type, Buffer.from('\xff\xff not a response', 'latin1'));
  // Whoever is no manager cannot even hand out nonsense.
  const second = connectTo(home, 'manager-2', { role: 'manager', isEphemeral: true });
  await second.ready({ withinMs: 30_000 });
  await second.post('agent:executor', assign.type, Buffer.from('\xff\xff not a task', 'latin1'));
  await second.close();
  await boss.post('agent:manager', 'text', Buffer.from('{ "task_id": '));
  const operator = connectTo(home, 'operator-1', { role: 'operator', isEphemeral: true });
  await operator.ready({ withinMs: 30_000 });
  const dead = await until(async () => {
    const { messages } = await operator.mail.dead({ mailbox: '*' });
    return messages.length >= 3 && messages;
  }, 60_000).catch(async () => (await operator.mail.dead({ mailbox: '*' })).messages);
  await operator.close();
  const codes = dead.map(({ reason }) => reason).join(' ');
  claimed(
    '5.4: what is malformed is a dead letter with its reason',
    dead.length >= 3 && codes.includes('MALFORMED'),
    codes,
  );
  add([
    '5.4 malformed payloads',
    'dead letters',
    `${dead.length}`,
    seconds(startedMs),
    '',
    '',
    '',
    '',
    '',
    '',
    '',
    codes,
  ]);
  const view = await lived('5.4 and afterwards', callersTask());
  claimed('5.4: and all goes on', view.state === 'completed', JSON.stringify(view.error));
}

async function lowConfidence() {
  for (const criticality of ['C2', 'C4']) {
    const name = `doubtful-${criticality.toLowerCase()}`;
    const child = worker(name, 'tasks/liar.mjs', { home, name, lie: 'low confidence' });
    child.start();
    await until(() => isThere(name), 30_000);
    const view = await lived(
      `5.5 low confidence, ${criticality}`,
      // Of what it cites a criterion would say more than its confidence.
      callersTask({ criticality, to: name, acceptance_criteria: [] }),
    );
    await child.kill();
    await until(async () => !(await isThere(name)), 30_000);
    const isCritical = criticality === 'C4';
    claimed(
      `5.5: ${criticality} ${isCritical ? 'waits for a person' : 'is accepted with a warning'}`,
      view.state === (isCritical ? 'deciding' : 'completed'),
      JSON.stringify(view.reviews),
    );
    if (!isCritical) continue;
    await change(view.id, 'refuse');
    claimed('5.5: refused by a person, it fails', (await rest(view.id)).state === 'failed');
  }
}

async function clarification() {
  const task = {
    task: 'What does no_such_function_anywhere do?',
    grounding: { strategy: 'pgc_first' },
  };
  const view = await lived('needs clarification', task);
  claimed(
    'a task that names nothing known is asked back',
    view.state === 'clarifying' && view.asks !== '',
    JSON.stringify(view.error),
  );
  await change(view.id, 'answer', symbol);
  const after = await rest(view.id);
  add(rowOf('and answered', after, 0));
  claimed(
    'answered, it is completed',
    after.state === 'completed',
    JSON.stringify([after.error, after.asks]),
  );
}

async function metrics() {
  const { numbers } = taskMessages;
  const reply = await boss.request(
    `service:${taskService}`,
    numbers.type,
    numbers.request.encode({}),
  );
  const answer = numbers.answer.decode(reply.body);
  say(JSON.stringify(JSON.parse(answer.rates), null, 1));
}

async function lived(what, task) {
  const startedMs = performance.now();
  const { delegate } = taskMessages;
  const body = delegate.request.encode({ ...readTask(task, ''), id: '' });
  const reply = await boss.request(`service:${taskService}`, delegate.type, body);
  const view = await rest(delegate.answer.decode(reply.body).id);
  add(rowOf(what, view, startedMs));
  return view;
}

async function rest(id) {
  const { show } = taskMessages;
  const endMs = performance.now() + restMsMax;
  let view;
  do {
    const body = show.request.encode({ id, wait_ms: 2_000, revision: view?.revision ?? 0 });
    const options = { deadlineMs: 10_000, isIdempotent: true };
    const reply = await boss.request(`service:${taskService}`, show.type, body, options);
    view = show.answer.decode(reply.body);
  } while (!isAtRest(view) && performance.now() < endMs);
  // Why, and what the manager did about it.
  if (view.state === 'blocked' || !isAtRest(view))
    say(
      [
        `${view.state}: ${view.error?.code ?? ''} ${view.error?.text ?? ''}`,
        view.asks,
        view.progress,
      ]
        .concat(view.notes.map(({ state, text }) => `  ${state}: ${text}`))
        .filter(Boolean)
        .join('\n'),
    );
  return view;
}

async function change(id, what, text = '') {
  const { change: message } = taskMessages;
  const body = message.request.encode({ id, what, text });
  await boss.request(`service:${taskService}`, message.type, body, { deadlineMs: 10_000 });
}

function rowOf(what, view, startedMs) {
  const evidence = view.response?.grounding_evidence;
  const usage = view.response?.usage;
  const review = view.reviews.at(-1);
  const valid = review?.citations.filter(({ status }) => status === 'valid').length ?? 0;
  const blocked = view.state === 'blocked' ? `${view.error?.code}: ${view.error?.text}` : '';
  const said = blocked || view.asks || view.error?.text || view.response?.result || '';
  return [
    ...[what, view.state, `${view.attempt}`, startedMs === 0 ? '' : seconds(startedMs)],
    ...[
      `${evidence?.queries_executed.length ?? '-'}`,
      evidence?.overlays_consulted.join(',') ?? '-',
    ],
    ...[
      `${evidence?.citations.length ?? '-'}`,
      evidence ? `${valid}` : '-',
      review?.confidence ?? '-',
    ],
    ...[`${usage?.grounding_ms ?? '-'}`, `${usage?.context_bytes ?? '-'}`],
    said.replace(/\s+/g, ' ').slice(0, 70),
  ];
}

/** Said as it comes: on a large tree the table stands only after minutes. */
function add(row) {
  rows.push(row);
  process.stderr.write(`${row.join(' | ')}\n`);
}

function seconds(startedMs) {
  return ((performance.now() - startedMs) / 1_000).toFixed(1);
}

async function isThere(name) {
  return (await boss.agents()).some(
    ({ record, state }) => record.id === name && state === 'online',
  );
}

function say(text) {
  if (!json) process.stdout.write(`${text}\n\n`);
}
