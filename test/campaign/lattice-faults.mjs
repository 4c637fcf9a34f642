// Questions over many shards while the processes that answer them are killed: the manager, one host of shards, all of
// them, the broker. Every question ends in time, with the answer of before, or with less and who is missing, or with a
// code that says that asking again is worth it.
//
//   npm run campaign:lattice-faults -- [--small] [--repo DIR] [--home SIGMA_HOME] [--questions N] [--at-once N]
//                                      [--deadline MS] [--seed N] [--json]
//
// Without --repo, all of Debian's linux-source-6.1; an index that is in --home is taken as it is. --small: this
// repository, in a home of its own. Exits with 1 when a claim does not hold.
import { homedir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { latticeMessages, latticeService } from '../../dist/src/pgc/serve/messages.js';
import { milliseconds, percentile, table } from '../bench/kernel/figures.mjs';
import { processTree, startLattice, temporaryFolder } from '../bench/kernel/process.mjs';
import { questionsOf } from '../bench/lattice/questions.mjs';
import { chance } from '../bench/lookup/random.mjs';
import { ensureIndex, wholeKernel } from '../bench/lookup/sources.mjs';
import { connectTo, until } from './agent.mjs';
import { claim } from './claims.mjs';
import { CountingLink } from './counting-link.mjs';
import { told } from './report.mjs';

const upMsMax = 600_000;
const recoveryMsMax = 180_000;
/** A request may end so much after its deadline: the reply is on its way, the machine is busy. */
const lateMsMax = 3_000;
/** The kill comes at a moment within this of the start of a round. */
const killWithinMs = 400;
const retryPauseMs = 250;
const smallShards = '12';
const smallQuestions = [
  'How does a delegated task reach an executor?',
  'How does the manager ask the shards of the lattice over the bus?',
  'Where is a citation checked against the file?',
  'How is a frame put on the wire by a client?',
  'How does the command line ask the running lattice?',
  'How does an agent that was away get its stored messages?',
  'How does sigma up start the broker and the agents again?',
  'How are the call sites of a function found over all shards?',
];

const options = parseOptions();
const below = chance(options.seed);
const root = options.small
  ? path.resolve(import.meta.dirname, '../..')
  : await wholeKernel(options.repo);
const home = options.small ? temporaryFolder('sigma-faults') : options.home;
const args = options.small ? ['--shards', smallShards] : [];
if (!options.small) await ensureIndex({ root, home });
const texts = options.small
  ? smallQuestions
  : [...questionsOf('reported'), ...questionsOf('dev')].map(({ question }) => question);

const lattice = await startLattice(root, { home, timeoutMs: upMsMax, args });
const link = new CountingLink(home);
const client = connectTo(home, 'faults', { role: 'client', isEphemeral: true, link });
const rows = [];
let changing = [];
let known;
try {
  await client.ready({ withinMs: upMsMax });
  known = await undisturbed();
  for (const [name, victims] of Object.entries(disturbances()))
    rows.push(await disturb(name, victims));
} finally {
  await client.close();
  await lattice.stop();
}
process.exitCode = report();

/** Whom to kill, of the processes of the lattice. */
function disturbances() {
  const named = (name) => processTree(lattice.pid).filter((each) => each.name === name);
  return {
    nobody: () => [],
    'the manager': () => named('agent manager'),
    'one host': () => {
      const hosts = named('agent pgc');
      return hosts.length === 0 ? [] : [hosts[below(hosts.length)]];
    },
    'all hosts': () => named('agent pgc'),
    'the broker': () => named('bus'),
  };
}

/** The answer of each question while nothing is wrong; a question whose answers differ then is not asked. */
async function undisturbed() {
  const answers = new Map();
  for (const question of texts) {
    const [one, other] = [await ask(question), await ask(question)];
    if (one.kind === 'answer' && one.essence === other.essence && one.hops > 1)
      answers.set(question, one.essence);
    else if (one.kind !== 'error' && one.essence !== other.essence) changing.push(question);
  }
  if (answers.size === 0) throw new Error('no question has an answer of several hops');
  return answers;
}

async function disturb(name, victims) {
  const outcomes = [];
  const recoveries = [];
  let killed = 0;
  const pool = [...known.keys()];
  while (outcomes.length < options.questions) {
    const count = Math.min(options.atOnce, options.questions - outcomes.length);
    const round = Array.from({ length: count }, () => ask(pool[below(pool.length)]));
    await wait(below(killWithinMs));
    const those = victims();
    for (const { pid } of those) process.kill(pid, 'SIGKILL');
    killed += those.length;
    outcomes.push(...(await Promise.all(round)));
    const startedMs = performance.now();
    await until(
      async () => (await ask(pool[0])).essence === known.get(pool[0]),
      recoveryMsMax,
      retryPauseMs,
    );
    recoveries.push(performance.now() - startedMs);
  }
  return { name, killed, outcomes: outcomes.map(judged), recoveries };
}

/** Ends in any case: `{ question, kind, ms, … }` */
async function ask(question) {
  const startedMs = performance.now();
  const { query } = latticeMessages;
  const body = query.request.encode({ question, from: '', max_hops: 6, top_k: 5 });
  const wanted = { deadlineMs: options.deadline, isIdempotent: true };
  const reply = client
    .request(`service:${latticeService}`, query.type, body, wanted)
    .then(({ body: bytes }) => answered(query.answer.decode(bytes)))
    .catch((error) => ({
      kind: 'error',
      code: error.code ?? String(error),
      retryable: error.retryable,
    }));
  const late = wait(options.deadline + lateMsMax, { kind: 'hangs' }, { ref: false });
  const outcome = await Promise.race([reply, late]);
  return { question, ...outcome, ms: performance.now() - startedMs };
}

function answered({ partial, errors, query_path, hops }) {
  const ways = hops.map(({ agent, via }) => [agent, via?.symbol, via?.from, via?.to].join(' '));
  const named = errors.filter(({ agent, code }) => agent !== '' && code !== '');
  return {
    kind: partial ? 'partial' : 'answer',
    essence: [query_path.join(' '), ...ways].join('\n'),
    hops: hops.length,
    codes: errors.map(({ code }) => code),
    saysWho: named.length > 0,
  };
}

/** What is wrong with how a question ended; empty: nothing. */
function judged(outcome) {
  const { kind, essence, question, saysWho, retryable } = outcome;
  const wrong = {
    answer: essence === known.get(question) ? '' : 'another answer, and no word of it',
    partial: saysWho ? '' : 'partial, and not who is missing',
    error: retryable === true ? '' : 'an error that is not worth asking again',
    hangs: 'hangs',
  };
  return { ...outcome, wrong: wrong[kind] };
}

function report() {
  const count = (outcomes, kind) => outcomes.filter((each) => each.kind === kind).length;
  const codesOf = (outcomes) => {
    const codes = outcomes.flatMap(({ code, codes: many = [] }) => code ?? many);
    return [...new Set(codes)].sort().join(' ') || '-';
  };
  const head = [
    'KILLED',
    'TIMES',
    'ASKED',
    'SAME',
    'PARTIAL',
    'CODED',
    'WRONG',
    'P50 MS',
    'WORST MS',
  ];
  const text = table([
    [...head, 'WHOLE AGAIN P50 MS', 'CODES'],
    ...rows.map(({ name, killed, outcomes, recoveries }) => [
      ...[name, killed, outcomes.length],
      outcomes.filter(({ kind, wrong }) => kind === 'answer' && wrong === '').length,
      ...[count(outcomes, 'partial'), count(outcomes, 'error')],
      outcomes.filter(({ wrong }) => wrong !== '').length,
      ...[50, 100].map((each) =>
        milliseconds(
          percentile(
            outcomes.map(({ ms }) => ms),
            each,
          ),
        ),
      ),
      milliseconds(percentile(recoveries, 50)),
      codesOf(outcomes),
    ]),
  ]);
  if (!options.json) process.stdout.write(`${text}\n`);
  const outcomes = rows.flatMap((row) =>
    row.outcomes.map((each) => ({ ...each, while: row.name })),
  );
  const twice = [...link.replies].filter(([, times]) => times > 1);
  const none = (what, isIt) => {
    const found = outcomes.filter(isIt);
    const [first] = found;
    const detail =
      first === undefined
        ? ''
        : `${found.length}, as ${first.while}: ${first.question} (${first.code ?? first.codes})`;
    return claim(what, found.length === 0, detail);
  };
  return told('questions while processes are killed', {
    json: options.json,
    figures: {
      tree: root,
      questions: outcomes.length,
      'different questions': known.size,
      'left out, for they change by themselves': changing.length,
      'requests answered': link.replies.size,
      rows: options.json
        ? rows.map(({ outcomes: its, ...row }) => ({ ...row, outcomes: its }))
        : rows.length,
    },
    claims: [
      none('none hangs', ({ kind }) => kind === 'hangs'),
      none('none is silently wrong', ({ kind, wrong }) => kind === 'answer' && wrong !== ''),
      none(
        'a partial answer says who is missing',
        ({ kind, wrong }) => kind === 'partial' && wrong !== '',
      ),
      none('an error is worth asking again', ({ kind, wrong }) => kind === 'error' && wrong !== ''),
      none(
        'nothing fails while nobody is killed',
        (each) => each.while === 'nobody' && each.kind !== 'answer',
      ),
      claim('none is answered twice', twice.length === 0, `${twice.length} requests`),
      claim(
        'somebody was killed each time',
        rows.every(({ name, killed }) => name === 'nobody' || killed > 0),
      ),
    ],
  });
}

function parseOptions() {
  try {
    const { values } = parseArgs({
      options: {
        small: { type: 'boolean', default: false },
        repo: { type: 'string' },
        home: { type: 'string' },
        questions: { type: 'string', default: '100' },
        'at-once': { type: 'string', default: '10' },
        deadline: { type: 'string', default: '20000' },
        seed: { type: 'string', default: '1' },
        json: { type: 'boolean', default: false },
      },
    });
    const given = values.home ?? process.env.SIGMA_HOME ?? path.join(homedir(), '.sigma');
    const [questions, atOnce, deadline, seed] = ['questions', 'at-once', 'deadline', 'seed'].map(
      (name) => Number(values[name]),
    );
    if (![questions, atOnce, deadline].every((each) => each > 0) || Number.isNaN(seed))
      throw new Error('--questions, --at-once, --deadline and --seed are numbers');
    return { ...values, home: path.resolve(given), questions, atOnce, deadline, seed };
  } catch (error) {
    process.stderr.write(`campaign:lattice-faults: ${error.message}\n`);
    process.exit(2);
  }
}
