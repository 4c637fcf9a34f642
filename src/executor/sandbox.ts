import { existsSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../config/config.js';
import { BusError } from '../errors/bus-error.js';

/**
 * What a program of a task must not see: what the executor is trusted by (store, keys, configuration), the sockets of the
 * bus, and the services of its user's session, through which another program could be started outside.
 */
export interface Walls {
  /** Absolute, links resolved; none lies in another. */
  folders: readonly string[];
  files: readonly string[];
}

export type Sandbox =
  | ({ kind: 'on' } & Walls)
  /** By the settings of the operator. */
  | { kind: 'off' }
  /** This machine cannot make one: no program is run. */
  | { kind: 'missing'; detail: string };

/** Where its own tools are looked for; what programs get is another matter. */
export const toolPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Runs as process 1 of its namespaces: so that all that the program starts ends with it, and orphans are waited for. Takes
 * the number of folders, the folders, the number of files, the files, and the command. Nothing of it is text that was made
 * of a path. A fresh /proc cannot be mounted where parts of the old one are covered (in a container, or a unit with
 * ProtectKernelTunables=): the old one shows process ids of outside, and refuses all that is worth having of them.
 */
const script = `
n=$1; shift
while [ "$n" -gt 0 ]; do
  mount -t tmpfs -o ro,mode=0755,size=4k,nr_inodes=2 tmpfs "$1" || exit 125
  shift; n=$((n-1))
done
n=$1; shift
while [ "$n" -gt 0 ]; do
  mount --bind /dev/null "$1" || exit 125
  shift; n=$((n-1))
done
mount -t proc proc /proc 2>/dev/null
"$@"
exit $?
`;

/**
 * The same command behind walls: namespaces of its own for users, mounts and processes, and no capability in them to take
 * the walls down. A process of another user namespace may not trace its parent, nor read its environment or its root; of
 * another process namespace, it cannot even name it to end it.
 */
export function walled(command: readonly string[], { folders, files }: Walls): string[] {
  return [
    ...['unshare', '--user', '--map-current-user', '--keep-caps', '--mount'],
    ...['--pid', '--fork', '--kill-child', '--'],
    ...['sh', '-c', script, 'sandbox'],
    ...[String(folders.length), ...folders, String(files.length), ...files],
    ...['setpriv', '--no-new-privs', '--inh-caps=-all', '--ambient-caps=-all'],
    ...['--bounding-set=-all', '--', ...command],
  ];
}

/** Undefined: the operator wants none. Throws SANDBOX_UNAVAILABLE. */
export function wallsIn(sandbox: Sandbox): Walls | undefined {
  if (sandbox.kind === 'missing')
    throw new BusError('SANDBOX_UNAVAILABLE', { detail: sandbox.detail });
  return sandbox.kind === 'on' ? sandbox : undefined;
}

/** Of those that are there: what is not there cannot be covered. */
export function present({ folders, files }: Walls): Walls {
  return { folders: folders.filter(isFolder), files: files.filter((each) => existsSync(each)) };
}

/** `uid`: of this process. */
export function wallsOf(
  { home, bus, listen, identity }: Pick<Config, 'home' | 'bus' | 'listen' | 'identity'>,
  uid: number,
): Walls {
  const sockets = [bus, ...listen].filter((each) => each.startsWith('ipc://'));
  const all = [
    home,
    ...sockets.map((each) => path.dirname(each.slice('ipc://'.length))),
    `/run/user/${uid}`,
    // Through a terminal of the same user a program could type what a person would.
    `/tmp/tmux-${uid}`,
    '/run/screen',
    ...(identity === undefined || !isFolder(identity) ? [] : [identity]),
  ].map(resolved);
  const folders = all.filter(
    (each, at) =>
      all.indexOf(each) === at && !all.some((other) => other !== each && isBelow(each, other)),
  );
  const files = identity === undefined || isFolder(identity) ? [] : [resolved(identity)];
  return { folders, files: files.filter((each) => !folders.some((its) => isBelow(each, its))) };
}

/** Throws SANDBOX_ROOT: programs would stand in what they must not see. */
export function assertOutside(root: string, { folders }: Walls): void {
  const its = resolved(root);
  const folder = folders.find((each) => its === each || isBelow(its, each));
  if (folder !== undefined) throw new BusError('SANDBOX_ROOT', { root, folder });
}

function isBelow(inner: string, outer: string): boolean {
  return inner.startsWith(outer.endsWith(path.sep) ? outer : `${outer}${path.sep}`);
}

function isFolder(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** As far as it is there: a home, or a socket's folder, may be made later. */
function resolved(file: string): string {
  const absolute = path.resolve(file);
  try {
    return realpathSync(absolute);
  } catch {
    const above = path.dirname(absolute);
    return above === absolute ? absolute : path.join(resolved(above), path.basename(absolute));
  }
}
