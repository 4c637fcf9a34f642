// The units under a live systemd, as an operator installs them: the package, the steps of deploy/README.md, and then what a unit
// promises. In a machine of its own (machine.mjs): nothing of this one is changed.
//
//   npm run campaign:systemd -- [--json]
//
// Takes three minutes. Needs root, systemd-nspawn and what npm needs to install the package. Exits with 1 when a claim does not hold,
// with 2 where something is missing, which it names.
import { copyFileSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { run, temporaryFolder } from '../../bench/kernel/process.mjs';
import { claim } from '../claims.mjs';
import { numbersFrom, told } from '../report.mjs';
import { lacking, Machine } from './machine.mjs';
import { Units } from './units.mjs';

const repository = path.resolve(import.meta.dirname, '../../..');
const sources = path.join(repository, 'deploy/systemd');
const [bus, manager, executor, critic] = ['bus', 'manager', 'executor', 'critic'].map(
  (each) => `sigma-${each}.service`,
);
const [pgc, watch] = ['pgc', 'watch'].map((each) => `sigma-${each}@srv-tree.service`);
const units = [bus, manager, executor, critic, pgc, watch];
/** Has no work without a bus on NATS. */
const gateway = 'sigma-gateway.service';
const allUnits = [...units, gateway];
const home = '/var/lib/sigma-bus';
/** For this campaign alone: with the minute of the units it would take ten. */
const watchdogS = 3;
/** Longer than a unit takes to start again after a crash. */
const restartedMs = 3_000;
const freshMsMax = 30_000;
/** Programs of tasks get namespaces of their own, which the executor has to make. */
const exposureMax = { others: 0.9, executor: 1.6 };
const watchedForMinute = '1min';
const priorityOf = { error: '3', warn: '4', info: '6', debug: '7' };
/** On SIGUSR2 the event loop stands still, and the process lives on. */
const hanging = 'process.on("SIGUSR2", () => { for (;;); });\n';

const options = numbersFrom('campaign:systemd', {});
const missing = lacking();
if (missing.length > 0) {
  process.stderr.write(`campaign:systemd needs ${missing.join(', and ')}\n`);
  process.exit(2);
}
process.umask(0o022);
const claims = [];
const figures = {};
const work = temporaryFolder('sigma-systemd');
const tree = path.join(work, 'tree');
mkdirSync(tree);
writeTree('tea', 'pour_tea', 'boil_water');
const machine = await Machine.boot({
  shown: { '/usr/local': await installed(), '/usr/bin/node': realpathSync(process.execPath) },
  writable: { '/srv/tree': tree, '/srv/systemd': copied() },
});
const its = new Units(machine);
const version = /systemd \d+ \([^)]*\)/.exec(await machine.said('systemctl', '--version'))?.[0];
figures.systemd = `${version}, ${await its.control('is-system-running').catch(() => 'degraded')}`;

await installUnits();
await startAlone();
await startAll();
await answer('pour_tea', 'tea.c', 'once all are started');
await runProgram();
await follow();
await kill();
await rate();
await refuseSetting();
await openHttp();
await backUp();
await hang();
await stop();
await boot();
await readJournal();
machine.end();
process.exitCode = told('units under a live systemd', { ...options, figures, claims });

/** As `npm install --global` puts it there; a folder to be shown as /usr/local. */
async function installed() {
  const prefix = path.join(work, 'local');
  const npm = async (...args) => {
    const { code, stdout, stderr } = await run('npm', args, {
      timeoutMs: 300_000,
      cwd: repository,
    });
    if (code !== 0) throw new Error(`npm ${args[0]} ended with ${code}: ${stderr}`);
    return stdout.trim();
  };
  const packing = ['pack', '--ignore-scripts', '--silent', '--pack-destination', work];
  const tarball = path.join(work, await npm(...packing));
  await npm('install', '--global', '--prefix', prefix, '--no-audit', '--no-fund', tarball);
  return prefix;
}

/** Where the machine can read them, whoever may read this repository. */
function copied() {
  const folder = path.join(work, 'systemd');
  mkdirSync(folder);
  for (const file of ['sigma-bus.sysusers', 'sigma.target', 'sigma-bus.service.d/http.conf'])
    copyFileSync(path.join(sources, file), path.join(folder, path.basename(file)));
  for (const unit of allUnits) {
    const file = unit.replace('@srv-tree', '@');
    copyFileSync(path.join(sources, file), path.join(folder, file));
  }
  return folder;
}

/** A function that calls another one. */
function writeTree(file, name, called) {
  const text = `int ${called}(void) { return 1; }\n\nint ${name}(void)\n{\n\treturn ${called}();\n}\n`;
  writeFileSync(path.join(tree, `${file}.c`), text);
}

async function installUnits() {
  const from = '/srv/systemd';
  await shell(`install -D -m 0644 ${from}/sigma-bus.sysusers /etc/sysusers.d/sigma-bus.conf`);
  await shell('systemd-sysusers');
  await shell(`install -m 0644 ${from}/*.service ${from}/sigma.target /etc/systemd/system/`);
  await write('/etc/sigma-bus/executor.env', 'SIGMA_EXECUTOR_OPTIONS=--root /srv/work\n');
  await shell('install -d -o sigma /srv/work');
  await dropIn(executor, 'root', '[Service]\nReadWritePaths=/srv/work\n');
  const { stdout } = await machine.run('systemd-analyze', 'verify', ...allUnits);
  hold('systemd finds nothing wrong in the units', stdout === '', stdout);
}

/** Ready means that it can be asked: without a broker, a manager runs and is not. */
async function startAlone() {
  await its.control('start', '--no-block', '--job-mode=ignore-dependencies', manager);
  await wait(restartedMs);
  const { ActiveState: state, MainPID: pid } = await its.show(manager, 'ActiveState', 'MainPID');
  const isWaiting = state === 'activating' && pid !== '0';
  await its.control('start', bus);
  const { MainPID: later } = await its.until(manager, 'ready', (it) => it.ActiveState === 'active');
  hold('a manager is ready with the broker, not before', isWaiting && later === pid, state);
  await its.control('restart', manager);
}

async function startAll() {
  for (const unit of units) await its.control('enable', '--now', unit);
  const ready = await Promise.all(units.map(async (unit) => round(await its.readyMs(unit))));
  figures['ready after, s'] = `${units.map(short).join(', ')}: ${ready.join(', ')}`;
  await holdForAll('every unit is active when `systemctl start` returns', ({ ActiveState }) =>
    ActiveState === 'active' ? '' : ActiveState,
  );
  await holdForAll('systemd watches over every unit', ({ WatchdogUSec }) =>
    WatchdogUSec === watchedForMinute ? '' : WatchdogUSec,
  );
}

async function answer(name, file, when) {
  const { code, stdout, stderr } = await sigma('ask', `Where is ${name} defined?`);
  const isFound = code === 0 && stdout.includes(`] ${file}:`);
  hold(`a question is answered ${when}`, isFound, stderr + stdout);
}

/** Programs of tasks start, write below their root, and see nothing of the store and the keys. */
async function runProgram() {
  const ran = async (...argv) => {
    const action = { argv, idempotency_key: argv[0] };
    const task = { task: 'Run a program', runner: 'command', criticality: 'C1', action };
    await write('/srv/work/task.json', JSON.stringify(task));
    return sigma('delegate', '/srv/work/task.json', '--wait', '--json');
  };
  const listed = await ran('ls', '-A', home, '/run/sigma-bus');
  const isListed = listed.code === 0 && listed.stdout.includes(`${home}:`);
  const isCovered = isListed && !/keys|manager\\n|bus\.sock/.test(listed.stdout);
  hold('a program of a task does not see the keys', isCovered, listed.stderr + listed.stdout);
  const { code, stdout, stderr } = await ran('cp', 'task.json', 'copy.json');
  const found = await machine.run('ls', '/srv/work/copy.json');
  hold('it writes below its root', code === 0 && found.code === 0, stderr + stdout);
}

async function follow() {
  writeTree('milk', 'add_milk', 'open_can');
  const startedMs = Date.now();
  let isKnown = false;
  while (!isKnown && Date.now() - startedMs < freshMsMax)
    isKnown = (await sigma('callers', 'open_can')).stdout.includes('add_milk');
  figures['edit to answer, s'] = round(Date.now() - startedMs);
  hold('the index follows its tree', isKnown, 'the new function is not known');
  await its.control('stop', watch);
  writeTree('sugar', 'add_sugar', 'take_spoon');
  await its.control('reload', pgc);
  await wait(restartedMs);
  const { stdout } = await sigma('callers', 'take_spoon');
  hold('`systemctl reload` refreshes the index', stdout.includes('add_sugar'), stdout);
  await its.control('start', watch);
}

/** As the machine does when memory runs out. */
async function kill() {
  const back = [];
  for (const unit of units) back.push((await its.replaced(unit, 'SIGKILL')).ms);
  figures['after SIGKILL, s'] = `${units.map(short).join(', ')}: ${back.map(round).join(', ')}`;
  await answer('pour_tea', 'tea.c', 'after each was killed');
}

async function rate() {
  const rated = [];
  for (const unit of allUnits) rated.push(await its.exposure(unit));
  figures['exposure'] = `${allUnits.map(short).join(', ')}: ${rated.join(', ')}`;
  const isWithin = rated.every(
    (each, at) => each <= (allUnits[at] === executor ? exposureMax.executor : exposureMax.others),
  );
  hold('no unit is more exposed than it has to be', isWithin, rated);
}

/** A wrong setting is said once, with its code, and not tried again. */
async function refuseSetting() {
  await dropIn(critic, 'wrong', '[Service]\nEnvironment=SIGMA_LOG=loud\n');
  await its.control('restart', critic).catch(() => undefined);
  await wait(restartedMs);
  const state = await its.show(critic, 'ActiveState', 'ExecMainStatus', 'NRestarts');
  const isLeft = state.ActiveState === 'failed' && state.ExecMainStatus === '2';
  hold('a wrong setting ends a unit for good', isLeft, JSON.stringify(state));
  const said = await its.journal('--priority=err', 'SIGMA_SERVICE=critic', '_TRANSPORT=stdout');
  const codes = said.map(({ MESSAGE }) => messageOf(MESSAGE)?.code);
  hold('the journal holds its code as an error', codes.join() === 'CONFIG_INVALID', codes);
  await shell(`rm /etc/systemd/system/${critic}.d/wrong.conf`);
  await its.control('daemon-reload');
  await its.control('restart', critic);
}

async function openHttp() {
  const folder = `/etc/systemd/system/${bus}.d`;
  await shell(`install -D -m 0644 /srv/systemd/http.conf ${folder}/http.conf`);
  await its.control('daemon-reload');
  await its.control('restart', bus);
  const get = 'fetch("http://127.0.0.1:9464/healthz").then((it) => console.log(it.status))';
  const { stdout, stderr } = await machine.run('node', '-e', get);
  hold('the drop-in for HTTP tells of health', stdout.trim() === '200', stdout + stderr);
}

async function backUp() {
  const { code, stderr } = await sigma('bus', 'backup', `${home}/backup`);
  hold('the broker writes a backup', code === 0, stderr);
}

/** Stopped, and with an event loop that does not turn: both are found, and no process that is merely idle. */
async function hang() {
  await write('/etc/sigma-bus/hang.mjs', hanging);
  const text = `[Service]\nWatchdogSec=${watchdogS}\nEnvironment=NODE_OPTIONS=--import=/etc/sigma-bus/hang.mjs\n`;
  for (const unit of units) await dropIn(unit, 'hang', text);
  await its.control('restart', ...units);
  await wait(4 * watchdogS * 1_000);
  await holdForAll('an idle process is left alone', ({ NRestarts }) =>
    NRestarts === '0' ? '' : NRestarts,
  );
  const back = [];
  for (const signal of ['SIGSTOP', 'SIGUSR2'])
    for (const unit of units) back.push((await its.replaced(unit, signal)).ms);
  figures[`after a hang (${watchdogS} s), s`] =
    `${round(Math.min(...back))} to ${round(Math.max(...back))}`;
  const found = await its.journal('_PID=1', '--grep=Watchdog timeout');
  const hung = units.map((unit) => found.filter(({ UNIT }) => UNIT === unit).length);
  hold(
    'each hang was found by the watchdog',
    hung.every((count) => count === 2),
    hung,
  );
  await answer('pour_tea', 'tea.c', 'after each hung');
  for (const unit of units) await shell(`rm /etc/systemd/system/${unit}.d/hang.conf`);
  await its.control('daemon-reload');
  await its.control('restart', ...units);
}

/** The broker last: until then, others can end what they have begun. */
async function stop() {
  const startedMs = Date.now();
  await its.control('stop', 'sigma.target');
  for (const unit of units) await its.until(unit, 'its end', (it) => it.ActiveState === 'inactive');
  figures['stop of all, s'] = round(Date.now() - startedMs);
  await holdForAll('every unit ends in order', ({ Result, ExecMainStatus }) =>
    Result === 'success' && ExecMainStatus === '0' ? '' : `${Result} ${ExecMainStatus}`,
  );
  const ended = [];
  const exited = 'ExecMainExitTimestampMonotonic';
  for (const unit of units) ended.push((await its.show(unit, exited))[exited]);
  // The watcher talks to no broker.
  const [broker, ...others] = ended.slice(0, -1).map(Number);
  const isLast = others.every((each) => each < broker);
  hold('the broker ends last', isLast, ended);
}

/** All at once and without an index, as a new machine starts. */
async function boot() {
  await shell(`rm -r ${home}/pgc`);
  await its.control('reset-failed');
  await its.control('start', 'multi-user.target');
  for (const unit of units) await its.until(unit, 'ready', (it) => it.ActiveState === 'active');
  await holdForAll('all start together at once', ({ NRestarts }) =>
    NRestarts === '0' ? '' : `${NRestarts} restarts`,
  );
  await answer('add_sugar', 'sugar.c', 'after a start of all');
}

/** Each line of a process: one JSON document, with its priority and the fields of its unit beside it. */
async function readJournal() {
  const lines = await its.journal('_TRANSPORT=stdout');
  const own = lines.filter(({ _SYSTEMD_UNIT: unit }) => unit?.startsWith('sigma-'));
  const wrong = own.filter(({ MESSAGE, PRIORITY, SIGMA_SERVICE }) => {
    const said = messageOf(MESSAGE);
    return said === undefined || priorityOf[said.level] !== PRIORITY || !SIGMA_SERVICE;
  });
  const counts = Object.entries(priorityOf).map(([level, priority]) => {
    const { length } = own.filter(({ PRIORITY }) => PRIORITY === priority);
    return `${level} ${length}`;
  });
  figures['lines in the journal'] = counts.join(', ');
  const example = JSON.stringify(wrong[0]);
  hold('each line in the journal has its fields', own.length > 0 && wrong.length === 0, example);
}

function messageOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sigma(...args) {
  const where = ['--home', home, '--bus', 'ipc:///run/sigma-bus/bus.sock'];
  return machine.run('runuser', '-u', 'sigma', '--', 'sigma', ...args, ...where);
}

function shell(line) {
  return machine.said('sh', '-euc', line);
}

function write(file, text) {
  return machine.said('sh', '-euc', 'mkdir -p "${1%/*}"; printf %s "$2" > "$1"', 'sh', file, text);
}

async function dropIn(unit, name, text) {
  await write(`/etc/systemd/system/${unit}.d/${name}.conf`, text);
  await its.control('daemon-reload');
}

function hold(name, holds, detail) {
  const made = claim(name, holds, detail);
  claims.push(made);
  if (!options.json) process.stderr.write(`${holds ? 'holds ' : 'FAILED'}  ${name}\n`);
}

/** `problemOf`: '' where it is well. */
async function holdForAll(name, problemOf) {
  const problems = [];
  const properties = ['ActiveState', 'NRestarts', 'Result', 'ExecMainStatus', 'WatchdogUSec'];
  for (const unit of units) {
    const problem = problemOf(await its.show(unit, ...properties));
    if (problem !== '') problems.push(`${unit}: ${problem}`);
  }
  hold(name, problems.length === 0, problems.join('; '));
}

function short(unit) {
  return unit.replace(/^sigma-/, '').replace(/(@.*)?\.service$/, '');
}

function round(ms) {
  return (ms / 1_000).toFixed(1);
}
