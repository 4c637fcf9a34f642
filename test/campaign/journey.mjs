// A whole journey on a real repository, this one, with a language model (a server of our own that says what the prompt tells
// it): an orchestrator reads a document, pushes three tasks, delegates one with grounding, passes a gate and delivers.
// Everything is said by `sigma`; what is printed last is `sigma task story`.
//
//   npm run campaign:journey -- [--json]
//
// Exits with 1 when a claim does not hold.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { printCommand } from '../../dist/src/prompt/grammar/print.js';
import { temporaryFolder } from '../bench/kernel/process.mjs';
import { until } from './agent.mjs';
import { claim } from './claims.mjs';
import { Child } from './processes.mjs';
import { modelServer } from './queues/model.mjs';
import { calls, prompt, receive } from './queues/prompts.mjs';
import { numbersFrom, told } from './report.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const sigma = path.join(root, 'services/cli/sigma.mjs');
const upMsMax = 240_000;
const runMsMax = 240_000;
const gateMsMax = 120_000;

const { json } = numbersFrom('campaign:journey', {});
const home = temporaryFolder('sigma-journey');
const tree = path.join(temporaryFolder('sigma-journey-tree'), 'sigma-bus');
const env = { ...process.env, SIGMA_HOME: home, SIGMA_BUS: '' };

spawnSync('git', ['clone', '-q', '--no-hardlinks', root, tree]);
mkdirSync(path.join(tree, 'build/old'), { recursive: true });
writeFileSync(path.join(tree, 'build/old/left-over'), 'x');
const model = await modelServer();
writeFileSync(
  path.join(home, 'config.json'),
  JSON.stringify({
    model: model.config,
    executor: { root: tree },
  }),
);
const up = new Child('up', () =>
  spawn(process.execPath, [sigma, 'up', tree, '--shards', '4'], {
    ...{ env, cwd: tree, stdio: ['ignore', 'pipe', 'pipe'] },
  }),
);
up.start();
await until(() => /^ready /m.test(up.output), upMsMax, 200);

const file = path.join(tree, 'journey.md');
writeFileSync(file, orchestrator());
const run = spawn(process.execPath, [sigma, 'run', file, '--name', 'journey', '--wait', '--json'], {
  ...{ env, cwd: tree, stdio: ['ignore', 'pipe', 'pipe'] },
});
let printed = '';
run.stdout.on('data', (chunk) => (printed += chunk));
let complained = '';
run.stderr.on('data', (chunk) => (complained += chunk));
const ended = once(run, 'exit');
const gate = await until(() => said(['gate', 'list']).gates?.[0], gateMsMax, 500).catch(() => null);
const stoodStill = existsSync(path.join(tree, 'build/old/left-over'));
const approved = gate && said(['gate', 'approve', gate.id]);
const [status] = await Promise.race([ended, wait(runMsMax, ['late'], { ref: false })]);
const view = parsed(printed) ?? {};
const story = view.id ? spoken(['task', 'story', view.id]) : '';
const queued = said(['queue']).rows ?? [];
const left = said(['inbox']).messages ?? [];
const children = view.id ? (said(['task', 'list', '--parent', view.id]).tasks ?? []) : [];
if (!json) process.stdout.write(`${story}\n`);
process.exitCode = told('a whole journey', {
  json,
  figures: { gate: gate?.id },
  claims: claimed(),
});
await up.stop();
model.end();
process.exit();

function orchestrator() {
  const asks = (question) =>
    prompt('Find out, and say what you found.', [
      calls(['ask', { question }]),
      { text: 'What the index says: $last' },
    ]);
  const questions = {
    frames: 'How is a frame checked for corruption?',
    mail: 'How does a message become a dead letter?',
    gates: 'What makes an action risky?',
  };
  const pushes = Object.entries(questions).map(([name, question]) =>
    printCommand({ command: 'push', name, model: '', timeoutMs: 0, prompt: asks(question) }),
  );
  const grounded = {
    task: 'Name every caller of encodeFrame.',
    kind: 'question',
    grounding: { strategy: 'pgc_first', query_hints: ['Who calls encodeFrame?'] },
  };
  const cleaning = {
    task: 'Remove the old build.',
    runner: 'command',
    action: { argv: ['rm', '-rf', 'build/old'] },
  };
  const content = prompt('Report on this code base by the document above.', [
    calls(receive(), receive(), receive()),
    calls(['delegate', grounded], receive()),
    calls(['delegate', cleaning], receive()),
    { text: 'Delivered.\n$all' },
  ]);
  const follow = { command: 'push', name: 'follow-up', model: '', timeoutMs: 0, prompt: 'Again.' };
  return ['/read README.md', ...pushes, '/run', content, printCommand(follow)].join('\n');
}

function claimed() {
  const result = view.response?.result ?? '';
  const isIn = (word) => result.includes(word) || story.includes(word);
  return [
    claim(
      'the run ended well',
      status === 0 && view.state === 'completed',
      `${status} ${view.state} ${complained.slice(-400)}`,
    ),
    claim('the document was read', story.includes('README.md'), story.slice(0, 400)),
    claim(
      'three tasks were pushed, and all of them done',
      children.filter(({ task, state }) => task.runner === 'prompt' && state === 'completed')
        .length === 3,
      JSON.stringify(children.map(({ id, state }) => [id, state])),
    ),
    claim(
      'each of their results came once',
      ['frames', 'mail', 'gates'].every(
        (name) => [...result.matchAll(new RegExp(`"name": ?"${name}"`, 'g'))].length === 1,
      ),
      result.slice(0, 2_000),
    ),
    claim(
      'a grounded task was delegated and accepted',
      children.some(
        ({ task, state, reviews }) =>
          task.grounding !== null && state === 'completed' && reviews.length > 0,
      ),
      'no review',
    ),
    claim(
      'nothing was removed before the judgement',
      stoodStill && gate !== null,
      `gate ${gate?.id}`,
    ),
    claim(
      'what was approved was done',
      approved?.judgement === 'approve' && !existsSync(path.join(tree, 'build/old')),
      JSON.stringify(approved),
    ),
    claim(
      'what is to be done after it stands in the queue of the operator',
      queued.some(({ name, status: its }) => name === 'follow-up' && its === 'queued'),
      JSON.stringify(queued),
    ),
    claim(
      'whoever followed it finds no second copy of its result',
      left.length === 0,
      JSON.stringify(left),
    ),
    claim(
      'the story tells of all of it',
      ['journey', 'frames', 'mail', 'gates', 'encodeFrame', 'approve', 'rm', 'Delivered.'].every(
        isIn,
      ) && /approve/.test(story),
      story.slice(0, 2_000),
    ),
  ];
}

/** What `sigma … --json` prints. */
function said(args) {
  const { stdout } = spawnSync(process.execPath, [sigma, ...args, '--json'], { env, cwd: tree });
  return parsed(stdout.toString()) ?? {};
}

function spoken(args) {
  return spawnSync(process.execPath, [sigma, ...args], { env, cwd: tree }).stdout.toString();
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
