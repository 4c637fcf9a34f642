// Tasks whose results a critic looks at before they count, as processes: broker, manager, executor. Two stories: a
// result that is revised by what the critic found and then accepted, and one that is refused. The critic of the first
// one says what is laid down here (`scripted`); that of the second one is `sigma agent critic`, without a model. The
// manager is killed in between. Prints both stories as `sigma task show --story` tells them.
//
//   npm run campaign:critic-tasks -- [--json]
//
// Exits with 1 when a claim does not hold.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { criticMessages, criticService } from '../../dist/src/critic/messages.js';
import { runSigma, temporaryFolder } from '../bench/kernel/process.mjs';
import { connectTo, recordOf, until } from './agent.mjs';
import { claim } from './claims.mjs';
import { agentAt, brokerAt } from './processes.mjs';
import { told } from './report.mjs';

const isJson = process.argv.includes('--json');
const restMsMax = 120_000;
const folder = temporaryFolder('sigma-critic-tasks');
const home = path.join(folder, 'home');
const root = path.join(folder, 'work');
mkdirSync(home, { recursive: true });
mkdirSync(root);
writeFileSync(path.join(home, 'config.json'), JSON.stringify({ critic: { reviewFrom: 'C3' } }));

/** What the creator hands in each time: its author makes it better when the critic has spoken. */
const drafts = ['The ring has 64 slots.', 'The ring has 64 slots: see ring.c, line 3.'];
const handIn = (at) => writeFileSync(path.join(root, 'answer.txt'), `${drafts[at]}\n`);
handIn(0);

const finding = {
  ...{ id: 'EV-1', mode: 'llm-as-judge', by: 'rules', rule: 'CLAIM_UNCITED', severity: 'major' },
  ...{ is_hard: false, text: 'the number of slots has no source', line_start: 1, line_end: 1 },
  ...{ remedy: 'name the line that says so', evidence: [] },
};

/** What the scripted critic says about a text. */
function critiqueOf({ id, artifact, iteration, context }) {
  const isCited = artifact.text.includes('ring.c');
  const score = isCited ? 0.94 : 0.8;
  const { criticality } = context;
  return {
    ...{ id, artifact: artifact.path, iteration, score, threshold: 0.92, needs_person: false },
    digest: createHash('sha256').update(artifact.text).digest('hex'),
    selection: {
      ...{ outcome: 'review', criticality, floor: criticality, context, tokens: 0, error: '' },
      modes: [{ mode: 'llm-as-judge', tokens: 2_000, is_advisory: false, is_single_pass: false }],
      ...{ flags: [], steps: [] },
    },
    reports: [
      {
        ...{ mode: 'llm-as-judge', strategy: 'S-014', engine: 'rules', status: 'complete' },
        ...{ reason: '', sections: [], findings: isCited ? [] : [finding], score: null },
        ...{ unable: [], dropped: 0, abort: '', texts: [], elapsed_ms: 1, tokens: 0 },
      },
    ],
    verdict: isCited ? 'PASS' : 'REJECTED',
    why: isCited ? 'each claim has its source' : 'a claim has no source',
    ...{ flags: [], engine: 'rules', tokens: 0, begun_ms: Date.now(), elapsed_ms: 1 },
  };
}

const asked = [];
async function scripted(hold) {
  const client = connectTo(home, 'scripted', { role: 'critic' });
  const { type, request, answer } = criticMessages.critique;
  client.serve({
    [type]: async ({ body }) => {
      const decoded = request.decode(body);
      asked.push(decoded.id);
      await hold(asked.length);
      return answer.encode(critiqueOf(decoded));
    },
  });
  await client.ready({ withinMs: 30_000 });
  await client.register(recordOf('scripted'));
  await client.offer([criticService]);
  return client;
}

async function shown(id, states) {
  return until(async () => {
    const { json } = await runSigma(['task', 'show', id, '--json'], { home });
    return states.includes(json?.state) && json;
  }, restMsMax);
}

async function delegated(id) {
  const task = {
    ...{ id, task: 'Say how many slots the ring has.', criticality: 'C3', runner: 'command' },
    action: { argv: ['cat', 'answer.txt'], read_only: true },
  };
  const input = JSON.stringify(task);
  const { json, stderr } = await runSigma(['delegate', '-', '--no-wait', '--json'], {
    home,
    input,
  });
  if (json?.id !== id) throw new Error(`not delegated: ${stderr}`);
}

const stories = [];
async function storyOf(id) {
  const { stdout } = await runSigma(['task', 'show', id, '--story'], { home });
  stories.push(stdout.trimEnd());
}

const broker = brokerAt(home);
const manager = agentAt(home, 'manager', ['manager']);
const executor = agentAt(home, 'executor', ['executor', '--root', root]);
const critic = agentAt(home, 'critic', ['critic']);
const all = [executor, critic, manager, broker];
const claims = [];
try {
  broker.start();
  for (const each of [manager, executor]) {
    each.start();
    await until(() => each.output.includes('"serving"'), 30_000);
  }

  let release;
  const held = new Promise((resolve) => (release = resolve));
  const client = await scripted((nth) => (nth === 1 ? held : undefined));
  await delegated('revised');
  await until(() => asked.length === 1, restMsMax);
  await manager.kill();
  handIn(1);
  release();
  manager.start();
  const revised = await shown('revised', ['completed', 'failed', 'deciding', 'halted']);
  await client.close();
  await storyOf('revised');
  const states = revised.iterations.map(({ state }) => state).join(', ');
  claims.push(
    claim('a result was revised once and then accepted', states === 'revising, accepted', states),
    claim('it is completed', revised.state === 'completed', `${revised.state}: ${revised.asks}`),
    claim(
      'a manager that was killed in between asked for the same review',
      asked[1] === asked[0] && new Set(asked).size === 2,
      asked.join(', '),
    ),
    claim(
      'the second attempt has what was asked for',
      revised.response?.result.includes('ring.c') === true,
      revised.response?.result,
    ),
    claim(
      'what the critic found went with it',
      revised.task.feedback.some((each) => each.includes('EV-1')),
      revised.task.feedback.join('; '),
    ),
  );

  critic.start();
  await until(() => critic.output.includes('"serving"'), 30_000);
  await delegated('refused');
  const waiting = await shown('refused', ['completed', 'failed', 'deciding', 'halted']);
  const score = waiting.iterations.at(-1)?.score ?? null;
  claims.push(
    claim('what was not judged waits for a person', waiting.state === 'deciding', waiting.state),
    claim('nobody makes up a score', score === null, `${score}`),
    claim('it says why it asks', waiting.asks.includes('accept it?'), waiting.asks),
  );
  const why = ['task', 'update', 'refused', '--refuse', '--why', 'no judge'];
  await runSigma(why, { home });
  const refused = await shown('refused', ['failed']);
  await storyOf('refused');
  claims.push(
    claim(
      'a refused one says that it did not stand up to its critique',
      refused.error?.code === 'CRITIQUE_REFUSED',
      refused.error?.code,
    ),
  );
} catch (error) {
  const said = all.map(({ name, output }) => `${name}: ${output.slice(-1_500)}`).join('\n');
  claims.push(claim('the campaign went through', false, `${error.stack}\n${said}`));
} finally {
  for (const each of all) await each.stop();
}
if (!isJson) for (const story of stories) console.log(`\n${story}`);
process.exitCode = told('tasks with a critic', {
  json: isJson,
  figures: { critiques: asked.length },
  claims,
});
