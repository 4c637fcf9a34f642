import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { BusError } from '../errors/bus-error.js';

const levels = ['silent', 'error', 'warn', 'info', 'debug'] as const;

/** Unknown keys are refused: a misspelt setting must not be ignored in silence. */
const schema = z.strictObject({
  /** Folder of all state. */
  home: z.string().min(1),
  /** Where the broker listens. */
  bus: z.string().min(1),
  log: z.enum(levels),
  heartbeatMs: z.number().int().min(100).max(30_000),
  drainMs: z.number().int().min(0).max(60_000),
});

export type Config = Readonly<z.infer<typeof schema>>;

type Env = Readonly<Record<string, string | undefined>>;

/** The socket may not be longer than this, with room for the topics suffix. */
const busPathBytesMax = 96;

/**
 * Defaults, then `<home>/config.json`, then the environment (SIGMA_HOME, SIGMA_BUS, SIGMA_LOG), then
 * flags; the result is frozen. Throws CONFIG_INVALID.
 */
export function loadConfig(env: Env, flags: Partial<Config> = {}): Config {
  if (flags.home === '') throw new BusError('CONFIG_INVALID', { detail: 'home is empty' });
  const home = path.resolve(flags.home ?? nonEmpty(env.SIGMA_HOME) ?? defaultHome(env));
  const merged = {
    home,
    bus: defaultBus(home),
    log: 'info',
    heartbeatMs: 1_000,
    drainMs: 5_000,
    ...fromFile(path.join(home, 'config.json')),
    ...defined({ bus: nonEmpty(env.SIGMA_BUS), log: nonEmpty(env.SIGMA_LOG) }),
    ...defined({ bus: flags.bus, log: flags.log }),
  };
  const parsed = schema.safeParse(merged);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const where = issue?.path.join('.') ?? '';
    throw new BusError('CONFIG_INVALID', {
      detail: `${where}${where && ': '}${issue?.message ?? ''}`,
    });
  }
  return Object.freeze(parsed.data);
}

/** Below `$XDG_STATE_HOME`, or `~/.local/state` without it. */
function defaultHome(env: Env): string {
  return path.join(
    nonEmpty(env.XDG_STATE_HOME) ?? path.join(homedir(), '.local/state'),
    'sigma-bus',
  );
}

/** A function of the home alone, so that every command finds the broker; short enough for a socket. */
function defaultBus(home: string): string {
  const inHome = path.join(home, 'run/bus.sock');
  if (Buffer.byteLength(inHome) <= busPathBytesMax) return `ipc://${inHome}`;
  const digest = createHash('sha256').update(home).digest('hex').slice(0, 12);
  const user = process.getuid?.() ?? 0;
  return `ipc://${path.join(tmpdir(), `sigma-${user}-${digest}`, 'bus.sock')}`;
}

function fromFile(file: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (
      (error as { code?: string }).code === 'ENOENT' ||
      (error as { code?: string }).code === 'ENOTDIR'
    )
      return {};
    throw new BusError('CONFIG_INVALID', { detail: `${file} cannot be read` }, { cause: error });
  }
  try {
    const value: unknown = JSON.parse(text);
    // The file lies in the home: it cannot say where that is.
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && !('home' in value))
      return value as Record<string, unknown>;
  } catch (error) {
    throw new BusError('CONFIG_INVALID', { detail: `${file} is not JSON` }, { cause: error });
  }
  throw new BusError('CONFIG_INVALID', {
    detail: `${file} is not a JSON object of settings other than home`,
  });
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

function defined(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
