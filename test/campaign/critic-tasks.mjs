// Tasks whose results a critic looks at before they count, as processes: broker, shards of a small tree, manager,
// executor and `sigma agent critic`. Three stories:
//
//   revised   a model judges: the first result says what the code does not, the second one is right and is accepted.
//             The manager is killed in the middle of the first critique, the critic in the middle of the second one.
//   refused   a model judges: it never gets better, a person is asked at the limit and refuses it.
//   nobody    no model: so little of a short result can be judged by rules that there is no score. A person has one
//             such result revised and refuses it then, and accepts another one.
//
// The model is a server on loopback that says what `critic-tasks/judge.mjs` laid down; all else is the product. Prints
// the stories as `sigma task story` tells them.
//
//   npm run campaign:critic-tasks -- [--json]
//
// Exits with 1 when a claim does not hold.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runSigma, temporaryFolder } from '../bench/kernel/process.mjs';
import { until } from './agent.mjs';
import { claim } from './claims.mjs';
import { drafts, judge, treeIn } from './critic-tasks/judge.mjs';
import { agentAt, brokerAt } from './processes.mjs';
import { told } from './report.mjs';

const isJson = process.argv.includes('--json');
const restMsMax = 60_000;
const readyMsMax = 30_000;
const folder = temporaryFolder('sigma-critic-tasks');
const home = path.join(folder, 'home');
const work = path.join(folder, 'work');
for (const each of [home, work]) mkdirSync(each);
const tree = treeIn(path.join(folder, 'ring'));
const model = await judge();

function configured(withModel) {
  const settings = {
    critic: { reviewFrom: 'C3' },
    ...(withModel && { model: model.config }),
  };
  writeFileSync(path.join(home, 'config.json'), JSON.stringify(settings));
}
const handIn = (draft) => writeFileSync(path.join(work, 'answer.md'), drafts[draft]);

async function shown(id, states) {
  return until(async () => {
    const { json } = await runSigma(['task', 'show', id, '--json'], { home });
    return states.includes(json?.state) && json;
  }, restMsMax);
}
const rest = ['completed', 'failed', 'deciding', 'halted', 'timed_out'];

async function delegated(id) {
  const task = {
    ...{ id, task: 'Say how many slots the ring has, and who fills them.', criticality: 'C3' },
    ...{ runner: 'command', action: { argv: ['cat', 'answer.md'], read_only: true } },
    acceptance_criteria: [{ text: 'it says how many slots the ring has' }],
  };
  const input = JSON.stringify(task);
  const { json, stderr } = await runSigma(['delegate', '-', '--no-wait', '--json'], {
    home,
    input,
  });
  if (json?.id !== id) throw new Error(`not delegated: ${stderr}`);
}

async function decided(id, ...how) {
  const { code, stdout, stderr } = await runSigma(['task', 'update', id, ...how], { home });
  if (code !== 0) throw new Error(`${how.join(' ')}: ${stderr}`);
  return stdout.trim();
}

const stories = [];
async function storyOf(id) {
  const { stdout } = await runSigma(['task', 'story', id], { home });
  stories.push(stdout.trimEnd());
}

/** Modes of a review that are over, in the order in which the critic has said so. */
function modesOver(review) {
  return critic.output
    .split('\n')
    .filter((line) => line.includes('"mode is over"') && line.includes(`"${review}"`))
    .map((line) => JSON.parse(line).mode);
}

const broker = brokerAt(home);
const manager = agentAt(home, 'manager', ['manager']);
const executor = agentAt(home, 'executor', ['executor', '--root', work]);
const pgc = agentAt(home, 'pgc', ['pgc', tree]);
const critic = agentAt(home, 'critic', ['critic']);
const all = [executor, critic, pgc, manager, broker];
const serving = (child) => until(() => child.output.includes('"serving"'), readyMsMax);
const claims = [];
const scoresOf = ({ iterations }) => iterations.map(({ score }) => score);

async function revised() {
  const id = 'revised';
  handIn('wrong');
  await delegated(id);
  await until(() => modesOver(`${id}-c2-a1`).length >= 2, restMsMax);
  const whenManagerDied = modesOver(`${id}-c2-a1`).length;
  await manager.kill();
  handIn('right');
  manager.start();
  await until(() => modesOver(`${id}-c3-a2`).length >= 2, restMsMax);
  const asked = (await model.asked()).length;
  await critic.kill();
  critic.start();
  const view = await shown(id, rest);
  await storyOf(id);
  const first = view.iterations[0];
  const reviews = new Map();
  for (const { mode, draft } of await model.asked())
    reviews.set(`${mode} ${draft}`, (reviews.get(`${mode} ${draft}`) ?? 0) + 1);
  const twice = [...reviews].filter(([, count]) => count > 1).map(([name]) => name);
  const states = view.iterations.map(({ state }) => state).join(', ');
  const scores = scoresOf(view);
  claims.push(
    claim('a result was revised once and then accepted', states === 'revising, accepted', states),
    claim('it is completed', view.state === 'completed', `${view.state}: ${view.asks}`),
    claim('the second result is the better one', scores[1] > scores[0], scores.join(', ')),
    claim(
      'a manager that was killed in the middle of a critique has it once',
      whenManagerDied < 9 && first?.critique === `${id}-c2-a1`,
      `killed after ${whenManagerDied} modes; ${view.iterations.map(({ critique }) => critique)}`,
    ),
    claim(
      'a critic that was killed in the middle of one begins only the mode under way again',
      twice.every((each) => each.endsWith('right')) && twice.length <= 1,
      `killed after ${asked} questions to the model; asked twice: ${twice.join(', ') || 'none'}`,
    ),
    claim(
      'the claim that the code contradicts was found by looking it up',
      first?.findings.some(({ rule }) => rule === 'CLAIM_CONTRADICTED') === true,
      first?.findings.map(({ rule, text }) => `${rule} ${text}`).join('; '),
    ),
    claim(
      'what the critic found went with the second attempt',
      view.task.feedback.some((each) => each.startsWith('critique: ') && each.includes('64')),
      view.task.feedback.join(' | '),
    ),
    claim(
      'the critic was told the criteria',
      (await model.asked()).every(({ text }) => text.includes('it says how many slots')),
      '',
    ),
  );
}

async function refused() {
  const id = 'refused';
  handIn('wrong');
  await delegated(id);
  const waiting = await shown(id, rest);
  claims.push(
    claim('what stays wrong waits for a person', waiting.state === 'deciding', waiting.state),
    claim('it was tried twice', waiting.iterations.length === 2, scoresOf(waiting).join(', ')),
    claim('it says why it asks', /^accept it\? .*worst: /s.test(waiting.asks), waiting.asks),
  );
  await decided(id, '--refuse', '--why', 'the ring has 32 slots');
  const view = await shown(id, ['failed']);
  await storyOf(id);
  const { json: history } = await runSigma(['critic', 'history', `task/${id}`, '--json'], { home });
  claims.push(
    claim(
      'a refused one says that it did not stand up to its critique',
      view.error?.code === 'CRITIQUE_REFUSED',
      view.error?.code,
    ),
    claim(
      'the history of the critic knows who refused it',
      history?.state === 'refused' && history.ratifications.length === 1,
      JSON.stringify([history?.state, history?.ratifications]),
    ),
  );
}

async function nobody() {
  handIn('short');
  await delegated('nobody');
  const asking = await shown('nobody', rest);
  const score = asking.iterations.at(-1)?.score ?? null;
  const looked = await runSigma(['task', 'review', 'nobody', '--repo', tree], { home });
  const revising = await decided('nobody', '--revise', 'say where it stands');
  const again = await until(async () => {
    const view = await shown('nobody', rest);
    return view.iterations.length === 2 && view;
  }, restMsMax);
  await decided('nobody', '--refuse', '--why', 'nobody has judged it');
  const view = await shown('nobody', ['failed']);
  await storyOf('nobody');
  await delegated('taken');
  await shown('taken', rest);
  await decided('taken', '--accept');
  const taken = await shown('taken', ['completed']);
  claims.push(
    claim('what was not judged waits for a person', asking.state === 'deciding', asking.state),
    claim('nobody makes up a score', score === null, `${score}`),
    claim(
      'it says what is missing',
      /accept it\? it could not be judged/.test(asking.asks),
      asking.asks,
    ),
    claim(
      'a look at it tells the question',
      looked.stdout.includes('it could not be judged'),
      looked.stdout,
    ),
    claim('a person has it revised', again.attempt === 2, `${revising}; attempt ${again.attempt}`),
    claim(
      'with what they said',
      again.task.feedback.includes('say where it stands'),
      again.task.feedback.join(' | '),
    ),
    claim('a person refuses it', view.error?.code === 'CRITIQUE_REFUSED', view.error?.code),
    claim(
      'a person accepts another one',
      taken.iterations.at(-1)?.judged === 'accept' && taken.error === null,
      JSON.stringify(taken.iterations.at(-1)),
    ),
  );
}

try {
  configured(true);
  const { code, stderr } = await runSigma(['index', tree, '--json'], { home });
  if (code !== 0) throw new Error(`not indexed: ${stderr}`);
  broker.start();
  for (const each of [manager, pgc, executor, critic]) {
    each.start();
    await serving(each);
  }
  await revised();
  await refused();
  configured(false);
  await critic.stop();
  critic.start();
  await nobody();
} catch (error) {
  const said = all.map(({ name, output }) => `${name}: ${output.slice(-1_500)}`).join('\n');
  claims.push(claim('the campaign went through', false, `${error.stack}\n${said}`));
} finally {
  for (const each of all) await each.stop();
  model.end();
}
if (!isJson) for (const story of stories) console.log(`\n${story}`);
process.exitCode = told('tasks with a critic', {
  json: isJson,
  figures: { stories: stories.length, questions: (await model.asked().catch(() => [])).length },
  claims,
});
