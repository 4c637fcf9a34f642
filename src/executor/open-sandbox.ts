import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Config } from '../config/config.js';
import { runGuarded } from './guarded-child.js';
import { wallsOf, type Sandbox } from './sandbox.js';

/** Of what the probe says. */
const outputBytesMax = 4_096;
const probeMs = 10_000;

type Settings = Pick<Config, 'home' | 'bus' | 'listen' | 'identity' | 'executor'>;

/** What programs of this executor are started in; tried out with one that must not find a file. Never throws. */
export async function openSandbox(config: Settings): Promise<Sandbox> {
  if (config.executor.sandbox === 'off') return { kind: 'off' };
  const walls = wallsOf(config, process.getuid?.() ?? 0);
  const detail = await lackOf(walls);
  return detail === '' ? { kind: 'on', ...walls } : { kind: 'missing', detail };
}

/** What keeps walls from being put up here; empty: nothing. */
async function lackOf({
  folders,
  files,
}: {
  folders: readonly string[];
  files: readonly string[];
}): Promise<string> {
  if (process.platform !== 'linux') return `${process.platform} has no namespaces`;
  const hidden = mkdtempSync(path.join(tmpdir(), 'sigma-probe-'));
  try {
    writeFileSync(path.join(hidden, 'seen'), '');
    const end = await runGuarded(
      {
        argv: ['ls', '-A', hidden],
        ...{ cwd: '/', env: { PATH: process.env.PATH ?? '' }, stdin: '' },
        ...{ stdoutMax: outputBytesMax, stderrMax: outputBytesMax },
        walls: { folders: [...folders, hidden], files },
      },
      AbortSignal.timeout(probeMs),
    );
    if (end.isUnwalled) return end.stderr.trim().split('\n').at(-1) ?? 'unshare failed';
    if (end.code !== 0) return `a probe ended with ${end.error || end.stderr.trim() || 'nothing'}`;
    return end.stdout === '' ? '' : 'a covered folder can still be seen';
  } finally {
    rmSync(hidden, { recursive: true, force: true });
  }
}
