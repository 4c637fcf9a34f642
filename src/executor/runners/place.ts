import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { BusError } from '../../errors/bus-error.js';

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

/**
 * What makes another program of a program: where it is found, what is loaded into it or run by it. A task may not set
 * them beside its arguments, where a judge of the arguments does not see it; `env NAME=value program` says it openly.
 */
const forbidden = new RegExp(
  `^(?:${[
    ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'ENV', 'IFS', 'PS4', 'SHELLOPTS', 'BASHOPTS'],
    ...[
      'BASH_.*',
      'ZDOTDIR',
      'CDPATH',
      'PAGER',
      'MANPAGER',
      'EDITOR',
      'VISUAL',
      'BROWSER',
      'LESSOPEN',
    ],
    ...['LD_.*', 'DYLD_.*', 'GLIBC_.*', 'GCONV_PATH', 'LOCPATH', 'NLSPATH', 'MALLOC_.*'],
    ...[
      'NODE_.*',
      'NPM_.*',
      'PYTHON.*',
      'PERL.*',
      'RUBY.*',
      'GEM_.*',
      'BUNDLE_.*',
      'LUA_.*',
      'PHP.*',
    ],
    ...[
      'JAVA_.*',
      '_JAVA_OPTIONS',
      'JDK_.*',
      'CLASSPATH',
      'MAVEN_OPTS',
      'GRADLE_OPTS',
      'DOTNET_.*',
    ],
    ...[
      'GIT_.*',
      'SSH_.*',
      'MAKEFLAGS',
      'GNUMAKEFLAGS',
      'MAKEFILES',
      'CARGO.*',
      'RUSTC.*',
      'RUSTFLAGS',
    ],
    ...['GO(?:FLAGS|ROOT|PATH|ENV|PROXY|TOOLCHAIN)', 'XDG_.*', 'SIGMA_.*'],
  ].join('|')})$`,
  'i',
);

/** A folder below the root, links resolved. Throws ACTION_REFUSED. */
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

/** Throws ACTION_REFUSED, which names the variable that a task may not set. */
export function checkedEnvironment(
  given: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const names = Object.keys(given);
  const wrong = names.find((name) => !/^[A-Za-z_]\w*$/.test(name) || forbidden.test(name));
  if (wrong !== undefined)
    throw new BusError('ACTION_REFUSED', { detail: `a task may not set the variable ${wrong}` });
  return given;
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
