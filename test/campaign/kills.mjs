// SIGKILL at random moments of a refresh: what is served is whole and of one state, and the next run ends where an undisturbed one ends.
//
//   npm run campaign:kills -- --repo DIR [--points N] [--seed N]
//
// Two homes of one copy of the tree. After each change the one is refreshed undisturbed, which also tells how long that takes; the
// other is killed up to five times, checked and asked after each, and then finished: at a moment by chance of that time, or by
// chance shortly after a phase has begun. In the end both must say the same, row by row. Of a small tree (20 000 lines) 100 points take some fifteen minutes. Exits with 1 when one fails.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, watch } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { setTimeout as wait } from 'node:timers/promises';
import { askOnce, stateOf } from '../bench/fresh/asking.mjs';
import { callFrom, editable } from '../bench/fresh/marks.mjs';
import { filesOf, indexed, privateTree } from '../bench/fresh/private-tree.mjs';
import { runSigma, temporaryFolder } from '../bench/kernel/process.mjs';
import { chance } from '../bench/lookup/random.mjs';
import { placeOf } from '../bench/lookup/product.mjs';
import { outputOf } from '../oracle/sources.mjs';
import { edited } from './edits/edit.mjs';
import { compared } from './fresh/content.mjs';

const sigma = path.resolve(import.meta.dirname, '../../services/cli/sigma.mjs');
const killsMax = 5;
/** Every other kill comes up to so long after the first file of a phase has changed, so that the short phases are met, too. */
const phases = [/^facts/, /^segments/, /\.bound|^cards/, /^stamps|^left-out/, /^plan/, /^manifest/];
const afterPhaseMsMax = 150;
const editsMax = 12;
const markedFiles = 3;
const toldMax = 10;
/** A commit moves HEAD, so that the history is read again; one change in so many. */
const commitEvery = 4;

const { values: options } = parseArgs({
  options: {
    repo: { type: 'string' },
    points: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
  },
});
if (options.repo === undefined) throw new Error('--repo is wanted');
const points = Number(options.points);
const random = chance(Number(options.seed));
const work = temporaryFolder('kills');
const { root, home } = await privateTree({ repo: path.resolve(options.repo), work });
const straight = { root, home: path.join(work, 'straight') };
const killed = { root, home };
const isGit = existsSync(path.join(root, '.git'));
if (isGit)
  for (const key of ['user.email', 'user.name'])
    await outputOf('git', ['config', key, 'campaign@localhost'], root);
await indexed(straight);
await indexed(killed);

const met = {};
const wrong = [];
let done = 0;
for (let round = 1; done < points; round += 1) {
  const change = changed(round);
  if (isGit && round % commitEvery === 0) {
    await outputOf('git', ['add', '-A'], root);
    await outputOf('git', ['commit', '-q', '-m', `round ${round}`], root);
  }
  const { wallMs } = await indexed(straight);
  let wanted = 'old';
  for (let kill = 0; kill < killsMax && done < points; kill += 1) {
    const moment =
      random(2) === 0
        ? { afterMs: random(Math.ceil(wallMs)) }
        : { begun: phases[random(phases.length)], afterMs: random(afterPhaseMsMax) };
    const phase = await killedRun(moment);
    if (phase === undefined) break;
    done += 1;
    met[phase] = (met[phase] ?? 0) + 1;
    if (phase === 'after the swap') wanted = 'new';
    const problem = await problemOf(change, wanted);
    if (problem !== '')
      note(
        `round ${round}, killed ${moment.begun ?? ''} + ${moment.afterMs} ms, ${phase}: ${problem}`,
      );
  }
  await finish(round, change);
}
for (const [phase, count] of Object.entries(met)) say(`${count} killed ${phase}`);
say(`${points - wrong.length} of ${points}`);
process.exitCode = wrong.length === 0 ? 0 : 1;

/** Some edits, and a call of a new name in three files: all of them are seen or none is. */
function changed(round) {
  for (let made = 0; made < 1 + random(editsMax);)
    if (edited(root, random) !== undefined) made += 1;
  const name = `zorkmid${[...String(round)].map((digit) => 'abcdefghij'[digit]).join('')}`;
  const { length: count } = callFrom(root, editable(root, round), markedFiles, name);
  return { calls: name, count };
}

/** How far it had come, as its files tell; undefined: it ended before. */
async function killedRun({ begun, afterMs }) {
  const before = filesOf(home);
  const { manifest, folder } = placeOf(root, home);
  const served = readFileSync(manifest, 'utf8');
  const stop = new AbortController();
  const phase = begun === undefined ? Promise.resolve() : begunIn(folder, begun, stop.signal);
  const child = spawn(process.execPath, [sigma, 'index', root, '--json'], {
    env: { ...process.env, SIGMA_HOME: home, SIGMA_LOG: 'error' },
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('close', (_, signal) => resolve(signal)));
  await Promise.race([ended, phase.then(() => wait(afterMs))]);
  child.kill('SIGKILL');
  stop.abort();
  if ((await ended) !== 'SIGKILL') return undefined;
  if (readFileSync(manifest, 'utf8') !== served) return 'after the swap';
  const made = [...filesOf(home)].filter(([file, { size }]) => before.get(file)?.size !== size);
  const has = (pattern) => made.some(([file]) => pattern.test(file));
  if (has(/\.bound$/)) return 'after binding';
  if (has(/\/segments\//)) return 'while shards were written';
  if (has(/\/facts\/.*\.(?:log|ldb)$/)) return 'while files were read';
  return made.length > 0 ? 'while files were listed' : 'at the start';
}

/** Resolves when a file whose path in the folder of the index is such changes. */
function begunIn(folder, begun, signal) {
  return new Promise((resolve) => {
    watch(folder, { recursive: true, signal }, (_, file) => {
      if (file !== null && begun.test(file)) resolve();
    });
  });
}

/** Of what is served after a kill; empty: nothing. */
async function problemOf(change, wanted) {
  const { json, stdout, stderr } = await runSigma(['index', root, '--check', '--json'], { home });
  if (json?.is_sound !== true) return `the index is not sound: ${(stdout || stderr).slice(-300)}`;
  const state = await stateOf(change, askOnce(killed)).catch((error) => error.message);
  return state === wanted ? '' : `the answer is ${state}, not ${wanted}`;
}

async function finish(round, change) {
  const problem = await indexed(killed).then(
    () => '',
    (error) => error.message,
  );
  if (problem !== '') return note(`round ${round}: the next run fails: ${problem}`);
  const state = await stateOf(change, askOnce(killed));
  if (state !== 'new') note(`round ${round}: finished, but the answer is ${state}`);
  const { json } = await runSigma(['index', root, '--check', '--json'], { home });
  if (json?.is_sound !== true || json.strays.length > 0)
    note(`round ${round}: finished, but ${JSON.stringify(json?.strays)} are left`);
  const temporary = readdirSync(placeOf(root, home).folder, { recursive: true });
  const left = temporary.filter((file) => file.endsWith('.tmp'));
  if (left.length > 0) note(`round ${round}: finished, but ${left} are left`);
  const { kinds, examples } = await compared(root, home, straight.home);
  const unlike = Object.entries(kinds).filter(([, its]) => its.unlike > 0);
  if (unlike.length === 0) return undefined;
  note(`round ${round}: ${unlike.map(([kind, its]) => `${its.unlike} ${kind}`).join(', ')} differ`);
  for (const each of examples.slice(0, toldMax)) say(`    ${JSON.stringify(each).slice(0, 600)}`);
  return undefined;
}

function note(text) {
  wrong.push(text);
  say(text);
}

function say(text) {
  process.stdout.write(`${text}\n`);
}
