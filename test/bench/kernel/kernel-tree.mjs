// The source to measure on, Debian's linux-source-6.1, and what it is measured with; apt fetches what is missing.
import { existsSync } from 'node:fs';
import { run } from './process.mjs';

const release = 'linux-source-6.1';
const archive = `/usr/src/${release}.tar.xz`;
const aptMsMax = 900_000;

/** Debian's archive of the kernel; fetched when it is missing. */
export async function sourceArchive() {
  if (!existsSync(archive)) await install(release);
  return archive;
}

/** Installs cscope when it is missing. Its version. */
export async function cscopeVersion() {
  const version = async () => (await run('cscope', ['-V'], { timeoutMs: 10_000 })).stderr.trim();
  try {
    return await version();
  } catch {
    await install('cscope');
    return version();
  }
}

/** The version of the Debian package, empty for another tree. */
export async function packageVersion(name) {
  try {
    const shown = await run('dpkg-query', ['-W', '-f', '${Version}', name], { timeoutMs: 10_000 });
    return shown.code === 0 ? shown.stdout.trim() : '';
  } catch {
    return '';
  }
}

export async function install(name) {
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const apt = async (...args) => {
    const [command, ...rest] = [...asRoot, 'apt-get', ...args];
    return must(command, rest, aptMsMax);
  };
  process.stderr.write(`installing ${name} with apt\n`);
  const arguments_ = ['install', '-y', '--no-install-recommends', name];
  try {
    await apt(...arguments_);
  } catch {
    await apt('update');
    await apt(...arguments_);
  }
}

export async function must(command, args, timeoutMs) {
  const result = await run(command, args, {
    timeoutMs,
    env: { DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (result.code !== 0)
    throw new Error(`${command} ${args[0]} failed: ${result.stderr.slice(-500)}`);
}
