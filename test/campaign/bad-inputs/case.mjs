// One bad input: a tree and a home of its own, the commands that were run over them, and what must hold.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { run, runSigma, temporaryFolder } from '../../bench/kernel/process.mjs';
import { claim } from '../claims.mjs';

/** What is good in every tree, and must be found whatever else is there. */
const sentinel = `/* Counts the sentinels that stand at the gate. */
int sentinel_count(int gate)
{
	return gate + 1;
}

int gate_open(void)
{
	return sentinel_count(3);
}
`;
const program = path.resolve(import.meta.dirname, '../../../services/cli/sigma.mjs');
const question = 'what counts the sentinels at the gate?';
const commandMsMax = 180_000;
const shownLinesMax = 14;
const shownCharsMax = 220;
const who = ['-c', 'user.name=campaign', '-c', 'user.email=campaign@example.org'];

export class Case {
  /** `{ command, code, output, wallMs, peakRssBytes }`, in the order of running. */
  steps = [];
  claims = [];
  /** `{ input, exit, end, ms, peakRssBytes }` of what is one of many, see answers.mjs. */
  rows = [];
  /** Set when the machine does not permit what the case is about. */
  skipped = '';

  constructor(name) {
    this.name = name;
    this.folder = realpathSync(temporaryFolder('sigma-bad'));
    this.root = path.join(this.folder, 'tree');
    this.home = path.join(this.folder, 'home');
    this.write({ 'src/sentinel.c': sentinel });
  }

  /** Files of the tree, by path; a value is text or bytes. */
  write(files) {
    for (const [file, content] of Object.entries(files)) {
      mkdirSync(path.dirname(this.at(file)), { recursive: true });
      writeFileSync(this.at(file), content);
    }
  }

  at(file) {
    return path.join(this.root, file);
  }

  git(...args) {
    return this.gitIn(this.root, ...args);
  }

  gitIn(folder, ...args) {
    const options = { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] };
    return execFileSync('git', [...who, '-c', 'protocol.file.allow=always', ...args], options);
  }

  commitAll(message = 'all', folder = this.root) {
    this.gitIn(folder, 'init', '-q', '-b', 'main');
    this.gitIn(folder, 'add', '-A');
    this.gitIn(folder, 'commit', '-qm', message);
  }

  claim(name, holds, detail = '') {
    this.claims.push(claim(name, holds, detail));
  }

  /** Runs `sigma` as a user does and keeps what it printed. */
  async sigma(...args) {
    const ran = await runSigma(args, { home: this.home, timeoutMs: commandMsMax });
    return this.ran(['sigma', ...args], ran);
  }

  /** Keeps what a command printed that was run in another way. */
  ran(words, { code, stdout, stderr, wallMs, peakRssBytes }) {
    const command = this.#masked(words.join(' '));
    const output = shortened(this.#masked(`${stdout}${stderr}`));
    this.steps.push({ command, code, output, wallMs, peakRssBytes });
    return { code, output: `${stdout}${stderr}`, stdout, stderr, wallMs, peakRssBytes };
  }

  /** As another user, if this one may be that; where not even Node can be run so, the case is skipped. */
  async as(uid, args) {
    const isOther = process.getuid() === 0;
    if (isOther) execFileSync('chown', ['-R', `${uid}:${uid}`, this.folder]);
    const drop = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
    const [command, ...words] = [...(isOther ? drop : []), process.execPath, program];
    const running = { timeoutMs: commandMsMax, cwd: this.folder, env: this.environment() };
    const can = await run(command, [...words, '--version'], running).catch((error) => error);
    if (can.code !== 0) {
      this.skipped = `the program cannot be run as user ${uid}: ${can.stderr ?? can.message}`;
      return undefined;
    }
    return this.ran(['sigma', ...args], await run(command, [...words, ...args], running));
  }

  /** What follows Node on a command line. */
  program(words) {
    return [program, ...words];
  }

  environment() {
    return { SIGMA_HOME: this.home, SIGMA_BUS: '', SIGMA_LOG: 'error' };
  }

  index(...more) {
    return this.sigma('index', this.root, ...more);
  }

  /** The run ends well, and what is good is found, cited truly, and whole on disk. */
  async indexesTheRest(...more) {
    const ran = await this.index('--left-out', ...more);
    this.claim('the run ends with 0', ran.code === 0, ran.output);
    await this.answers('everything else');
    return ran;
  }

  /** The run ends with this code of the catalogue and nothing else. */
  coded({ code, output }, error, exit = 1) {
    this.claim(`it ends with ${error}`, code === exit && output.includes(`(${error})`), output);
  }

  async answers(what, root = this.root) {
    const { stdout } = await this.sigma('callers', 'sentinel_count', '--repo', root);
    this.claim(`${what} is answered from`, /sentinel\.c:9\s+gate_open/.test(stdout), stdout);
    const timeoutMs = commandMsMax;
    const asking = ['ask', question, '--repo', root, '--json'];
    const asked = await runSigma(asking, { home: this.home, timeoutMs });
    const verifying = ['verify', '--repo', root];
    const verified = await runSigma(verifying, { home: this.home, timeoutMs, input: asked.stdout });
    this.ran(['sigma', ...verifying, 'ANSWER'], verified);
    const rows = verified.stdout.trim().split('\n');
    const isTrue = verified.code === 0 && rows.every((row) => row.startsWith('valid'));
    this.claim(`what is cited of ${what} is true`, isTrue, verified.stdout + verified.stderr);
    const checked = await this.sigma('index', root, '--check');
    this.claim(`the index of ${what} is whole`, checked.code === 0, checked.output);
  }

  /** Everything of it on disk; some cases leave what only `rm` takes away. */
  remove() {
    execFileSync('chmod', ['-R', 'u+rwX', this.folder]);
    execFileSync('rm', ['-rf', this.folder]);
  }

  /** The folder that holds the index of the tree. */
  get place() {
    const below = path.join(this.home, 'pgc');
    const [name] = readdirSync(below).filter((each) => each.startsWith('tree-'));
    return path.join(below, name);
  }

  /** What is served, as names that hold the digest of their content. */
  served() {
    const names = readdirSync(path.join(this.place, 'segments'));
    return names.filter((name) => !name.endsWith('.tmp')).sort();
  }

  #masked(text) {
    return text.replaceAll(this.root, 'REPO').replaceAll(this.home, 'HOME');
  }
}

/** The beginning and the end of what was printed, control characters made visible. */
function shortened(text) {
  const lines = text
    .trimEnd()
    .split('\n')
    // oxlint-disable-next-line no-control-regex
    .map((line) => line.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '?').trimEnd())
    .map((line) => (line.length > shownCharsMax ? `${line.slice(0, shownCharsMax)}…` : line));
  if (lines.length <= shownLinesMax) return lines.join('\n');
  const half = shownLinesMax / 2;
  return [
    ...lines.slice(0, half),
    `… ${lines.length - shownLinesMax} lines …`,
    ...lines.slice(-half),
  ].join('\n');
}
