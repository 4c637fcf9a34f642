import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { BusError } from '../../../src/errors/bus-error.js';

/** What every program gets of the environment of the executor. Secrets are not among it. */
const environmentNames = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
];

/** A folder below the root, whatever links there are. Throws ACTION_REFUSED. */
export async function folderBelow(root: string, cwd: string): Promise<string> {
  const refused = (detail: string): BusError => new BusError('ACTION_REFUSED', { detail });
  const real = await realpath(root).catch(() => undefined);
  if (real === undefined) throw refused(`the root ${root} of the executor is not there`);
  const wanted = await realpath(path.resolve(real, cwd)).catch(() => undefined);
  if (wanted === undefined) throw refused(`there is no folder ${cwd}`);
  const way = path.relative(real, wanted);
  if (way === '..' || way.startsWith(`..${path.sep}`) || path.isAbsolute(way))
    throw refused(`${cwd} lies outside of the root of the executor`);
  if (!(await stat(wanted)).isDirectory()) throw refused(`${cwd} is no folder`);
  return wanted;
}

export function environmentFor(
  own: NodeJS.ProcessEnv,
  allowed: readonly string[],
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = [...environmentNames, ...allowed];
  const inherited = names.flatMap((name): [string, string][] => {
    const value = own[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(inherited), ...given };
}
