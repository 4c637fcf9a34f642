// A machine that a live systemd runs, in namespaces and a control group of its own over this machine's files, which stay as they
// are: what it writes lies in memory. It has no network, and ends with this process.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { run, temporaryFolder } from '../../bench/kernel/process.mjs';

const bootMsMax = 60_000;
const pollMs = 100;
const endPollsMax = 100;
const commandMsMax = 120_000;
const consoleCharsMax = 64 * 1024;
const groupName = `sigma-campaign-${process.pid}`;

/** What this machine lacks for another one, in words; empty: nothing. */
export function lacking() {
  const found = (program) =>
    (process.env.PATH ?? '').split(':').some((folder) => existsSync(path.join(folder, program)));
  return [
    process.platform === 'linux' || 'Linux',
    process.getuid?.() === 0 || 'root',
    found('systemd-nspawn') || 'systemd-nspawn (Debian: systemd-container)',
    found('nsenter') || 'nsenter (util-linux)',
    found('unshare') || 'unshare (util-linux)',
    found('npm') || 'npm',
    ['/lib/systemd/systemd', '/usr/lib/systemd/systemd'].some(existsSync) || 'systemd itself',
    controlGroups().length > 0 || 'a mounted cgroup2 file system',
    /\boverlay$/m.test(text('/proc/filesystems')) || 'overlayfs',
  ].filter((each) => each !== true);
}

/** In a mount namespace of its own, with which all of it goes. As $0 a folder, then the control group to join, or ''. */
const overRoot = `
[ -z "$1" ] || echo $$ > "$1/cgroup.procs"
shift
mount -t tmpfs -o mode=0755 tmpfs "$0"
mkdir "$0/written" "$0/work" "$0/root"
mount -t overlay -o "lowerdir=/,upperdir=$0/written,workdir=$0/work" overlay "$0/root"
exec systemd-nspawn --directory="$0/root" "$@"
`;

export class Machine {
  #nspawn;
  #leader;
  #group;
  #console = '';

  /** `shown`: folders of this machine by their place in the other one. Throws when it does not come up. */
  static async boot({ shown, writable }) {
    const machine = new Machine();
    machine.#start({ shown, writable });
    const untilMs = Date.now() + bootMsMax;
    for (; !(await machine.#isUp()); await wait(pollMs))
      if (Date.now() > untilMs || machine.#nspawn.exitCode !== null)
        throw new Error(`systemd does not come up\n${machine.#console}`);
    return machine;
  }

  #start({ shown, writable }) {
    // Where a systemd runs already, it makes the control group.
    const isHosted = existsSync('/run/systemd/system');
    this.#group = isHosted ? undefined : newGroup();
    const binds = [
      ...Object.entries(shown).map(([at, folder]) => `--bind-ro=${folder}:${at}`),
      ...Object.entries(writable).map(([at, folder]) => `--bind=${folder}:${at}`),
    ];
    const args = [
      ...['--quiet', '--register=no', '--private-network', '--link-journal=no', '--console=pipe'],
      ...[`--machine=${groupName}`, ...(isHosted ? [] : ['--keep-unit'])],
      // None of the units that this machine has enabled.
      ...['--tmpfs=/etc/systemd/system:mode=0755', '--tmpfs=/var/log/journal:mode=0755', ...binds],
      ...['--boot', '--', '--unit=multi-user.target', '--log-target=journal'],
    ];
    const inRoot = ['--mount', 'sh', '-euc', overRoot, temporaryFolder('machine')];
    this.#nspawn = spawn('unshare', [...inRoot, this.#group ?? '', ...args], {
      env: { ...process.env, SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    process.once('exit', () => this.end());
    for (const stream of [this.#nspawn.stdout, this.#nspawn.stderr])
      stream.on('data', (chunk) => {
        this.#console = (this.#console + chunk).slice(-consoleCharsMax);
      });
  }

  async #isUp() {
    this.#leader ??= leaderBelow(this.#nspawn.pid);
    if (this.#leader === undefined) return false;
    const { stdout } = await this.run('systemctl', 'is-system-running').catch(() => ({}));
    // Degraded: a unit of the distribution failed, which the caller may ask for.
    return /^(running|degraded)/.test(stdout ?? '');
  }

  /** A command in it, as root: `{ code, stdout, stderr, wallMs }`. */
  run(...command) {
    const into = [`--target=${this.#leader}`, '--all', '--root', '--wd'];
    const env = { SYSTEMD_COLORS: '0', SYSTEMD_PAGER: '', LC_ALL: 'C.UTF-8', PATH: systemPath };
    return run('nsenter', [...into, ...command], { timeoutMs: commandMsMax, env });
  }

  /** Its output, trimmed. Throws what it said when it fails. */
  async said(...command) {
    const { code, stdout, stderr } = await this.run(...command);
    if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${stderr}${stdout}`);
    return stdout.trim();
  }

  /** Its process 1 ends, and all others with it. */
  end() {
    try {
      if (this.#leader !== undefined) process.kill(this.#leader, 'SIGKILL');
      this.#nspawn.kill('SIGKILL');
    } catch {
      // Gone already.
    }
    this.#leader = undefined;
    if (this.#group !== undefined) removeGroups();
    this.#group = undefined;
  }
}

const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** nspawn has one child: process 1 of the other machine. */
function leaderBelow(pid) {
  const [child] = text(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean);
  return child !== undefined && text(`/proc/${child}/comm`) === 'systemd\n'
    ? Number(child)
    : undefined;
}

/** Where control groups of systemd are: cgroup2 first, and beside it the named hierarchy of cgroup1, which nspawn keeps in step. */
function controlGroups() {
  const mounts = text('/proc/self/mounts')
    .split('\n')
    .map((line) => line.split(' '));
  const those = (isThat) => mounts.filter(isThat).map(([, at]) => at);
  const [first] = those(([, , type]) => type === 'cgroup2');
  const named = those(([, , type, how]) => type === 'cgroup' && /\bname=systemd\b/.test(how));
  return first === undefined ? [] : [first, ...named];
}

function newGroup() {
  const group = path.join(controlGroups()[0], groupName);
  mkdirSync(group);
  return group;
}

/** From their leaves; the last process may take a moment to leave. */
function removeGroups() {
  for (const group of controlGroups().map((each) => path.join(each, groupName)))
    for (let at = 0; at < endPollsMax && existsSync(group); at += 1) {
      try {
        for (const folder of foldersBelow(group)) rmdirSync(folder);
      } catch {
        execFileSync('sleep', ['0.1']);
      }
    }
}

function foldersBelow(folder) {
  const inner = readdirSync(folder, { withFileTypes: true }).filter((each) => each.isDirectory());
  return [...inner.flatMap(({ name }) => foldersBelow(path.join(folder, name))), folder];
}

function text(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
