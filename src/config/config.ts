import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import type { z } from 'zod';
import { parseLoopback } from '../base/loopback.js';
import { lazily, type Zod } from '../base/lazy-schema.js';
import { BusError } from '../errors/bus-error.js';
import { inOurWords, objectionIn } from '../errors/objection.js';
import { isFolder, readIdentity } from './identity.js';
import { permissionsSchema } from './permissions.js';

const levels = ['silent', 'error', 'warn', 'info', 'debug'] as const;

/** With the bus itself, the maximum of a listener set. */
const listenMax = 9;

const endpointUrl = (z: Zod) =>
  z
    .string()
    .max(2_000)
    .refine(isSafeUrl, 'it must begin with https://, or with http:// and a loopback host');
const offOrLoopback = (z: Zod) =>
  z.string().refine(isOffOrLoopback, 'it must be off, or a loopback host with a port');
/** The environment variable that holds a key; the key itself is never in a file. */
const keyVariable = (z: Zod) =>
  z.string().regex(/^[A-Za-z_]\w{0,99}$/, 'it must be the name of an environment variable');

/** What an executor may do besides answering from the PGC. Default: nothing. */
const executorSchema = (z: Zod) =>
  z.strictObject({
    /** Programs run in this folder and below it, and nowhere else; without one none is run. */
    root: z.string().min(1).optional(),
    /** Prompts read files in this folder and below it; without one, below `root`. */
    reads: z.string().min(1).optional(),
    /** Runners to offer; by default all that are possible. */
    runners: z
      .array(z.enum(['answer', 'command', 'model', 'agent', 'prompt']))
      .min(1)
      .readonly()
      .optional(),
    /** Tasks at once. */
    slots: z.number().int().min(1).max(64).optional(),
    /** Prompts at once, for each depth: a parent waits for its children. */
    promptSlots: z.number().int().min(1).max(64).optional(),
    /** The program and arguments of an agent, which reads its prompt from stdin. */
    agent: z.array(z.string()).min(1).max(64).readonly().optional(),
    /** The agent knows the attention protocol and needs no instructions to stop. */
    agentAttends: z.boolean().optional(),
    /** `off`: programs can read the keys of the executor. */
    sandbox: z.enum(['on', 'off']).optional(),
    /** Names of further environment variables for programs, besides PATH, HOME and the like. */
    environment: z
      .array(z.string().regex(/^[A-Za-z_]\w{0,99}$/))
      .max(64)
      .readonly()
      .optional(),
  });

/** How a person is told that a gate waits, besides the topic. */
const notifySchema = (z: Zod) =>
  z.strictObject({
    /** A program and its arguments, which reads the gate as JSON from standard input. */
    command: z.array(z.string().min(1).max(4_096)).min(1).max(64).readonly().optional(),
    /** Gets the same JSON by POST. */
    webhook: z
      .string()
      .max(2_000)
      .refine(isSafeHook, 'it must begin with https://, or with http:// and a loopback host')
      .optional(),
    /** The environment variable with the secret that signs what the webhook gets. */
    secretEnv: keyVariable(z).optional(),
  });

/** Limits of pushing prompts. */
const promptSchema = (z: Zod) =>
  z.strictObject({
    /** Levels below one that was not pushed by another. */
    depthMax: z.number().int().min(0).max(16).optional(),
    /** Open tasks in the queue of one agent. */
    queueMax: z.number().int().min(1).max(10_000).optional(),
    /** Tasks below one that was not pushed by another, ever. */
    treeMax: z.number().int().min(1).max(10_000).optional(),
  });

const criticSchema = (z: Zod) =>
  z.strictObject({
    /** Results of tasks are reviewed before they count, from this criticality on; a task may ask for it besides. */
    reviewFrom: z.enum(['off', 'C2', 'C3', 'C4']).optional(),
    /** Escalation rules by path, besides those of the product; by default `escalation.yaml` of the home. */
    escalation: z.string().min(1).optional(),
    /** Reviews at once. */
    concurrency: z.number().int().min(1).max(16).optional(),
    /** Waiting reviews. */
    waiting: z.number().int().min(0).max(256).optional(),
    /** Finished reviews that are kept. */
    finished: z.number().int().min(1).max(10_000).optional(),
    /** Default threshold and iterations of a review. */
    threshold: z.number().min(0).max(1).optional(),
    iterationsMax: z.number().int().min(1).max(64).optional(),
    /** Loopback address for metrics and health of a critic. */
    http: offOrLoopback(z).optional(),
  });

/** The console for browsers of other machines; absent: of this one alone. Paths are of the home, or absolute. */
const consoleSchema = (z: Zod) =>
  z.strictObject({
    /** Where it listens; `0.0.0.0`: at all addresses of this machine. */
    address: z.string().refine((text) => isIP(text) > 0, 'it must be an IP address'),
    port: z.number().int().min(1).max(65_535).optional(),
    /** PEM: the certificate, then those of its authorities. */
    certificate: z.string().min(1),
    /** Its key, of mode 0600. */
    key: z.string().min(1),
    /** By which browsers reach it, where the certificate has a pattern alone or several names. */
    name: z.string().min(1).max(253).optional(),
  });

/** An endpoint that answers `POST {url}/chat/completions` as OpenAI's does. */
const modelSchema = (z: Zod) =>
  z.strictObject({
    url: endpointUrl(z),
    model: z.string().min(1).max(200),
    keyEnv: keyVariable(z).default('SIGMA_MODEL_KEY'),
    /** Until an answer begins, of each attempt. */
    requestMs: z.number().int().min(100).max(3_600_000).optional(),
    /** Between two parts of an answer that has begun. */
    silenceMs: z.number().int().min(100).max(3_600_000).optional(),
    /** Of a prompt that does not say. */
    tokensPerTask: z.number().int().min(1).max(100_000_000).optional(),
  });

/** Unknown keys are refused: a misspelt setting must not be ignored in silence. */
const shape = (z: Zod) =>
  z.strictObject({
    /** Folder of all state. */
    home: z.string().min(1),
    /** Where the broker listens, and where clients look for it: `ipc:///path`; with keys `tcp://host:port`, or `tls://host:port` (NATS). */
    bus: z.string().min(1),
    /** Where the broker listens besides; topics of `tcp://host:port` are at the next port. */
    listen: z.array(z.string().min(1)).max(listenMax).readonly(),
    /** Over tcp and NATS: the identity file of this client, or a folder with one an agent, `<agent>.json`. */
    identity: z.string().min(1).optional(),
    /** The name of the user in judgements; by default the user of the system. */
    person: z.string().min(1).max(96).optional(),
    log: z.enum(levels),
    heartbeatMs: z.number().int().min(100).max(30_000),
    drainMs: z.number().int().min(0).max(60_000),
    /** Loopback address for metrics and health, for example `127.0.0.1:9464`. */
    http: offOrLoopback(z),
    /** The same for the manager and its tasks. */
    managerHttp: offOrLoopback(z),
    /** What is written of each message between agents. */
    audit: z.enum(['off', 'metadata', 'bodies']),
    auditBytesMax: z
      .number()
      .int()
      .min(64 * 1024)
      .max(4 * 1024 * 1024 * 1024),
    auditFilesMax: z.number().int().min(1).max(1_000),
    executor: executorSchema(z),
    /** The operator's policy of risky actions, by default `attention.yaml` of the home; and how persons are told of gates. */
    attention: z
      .strictObject({
        policy: z.string().min(1).optional(),
        notify: notifySchema(z).optional(),
      })
      .optional(),
    prompt: promptSchema(z).optional(),
    mcp: z
      .strictObject({
        /** Sets of tools that are offered; by default the core. */
        tools: z.array(z.string().min(1)).min(1).max(16).readonly().optional(),
        /** Answers as data besides the text. */
        structure: z.boolean().optional(),
      })
      .optional(),
    critic: criticSchema(z).optional(),
    console: consoleSchema(z).optional(),
    /** The language model for questions about code and the runners `model` and `prompt`; absent: none. */
    model: modelSchema(z).optional(),
    /** Rights and rates by role: send, offer, publish, administer. */
    permissions: permissionsSchema(z),
  });

const schema = lazily((z) =>
  shape(z).superRefine(({ executor, model }, context) => {
    const named = executor.environment?.find((name) => name === model?.keyEnv);
    if (named === undefined) return;
    const message = `${named} holds the key of the language model: programs of tasks must not get it`;
    context.addIssue({ code: 'custom', message, path: ['executor', 'environment'] });
  }),
);

export type Config = Readonly<z.infer<ReturnType<typeof schema>>>;

type Env = Readonly<Record<string, string | undefined>>;

/** The socket may not be longer than this, with room for the topics suffix. */
const busPathBytesMax = 96;

/**
 * Defaults, then `<home>/config.json`, then the environment (SIGMA_HOME, SIGMA_BUS, SIGMA_IDENTITY,
 * SIGMA_LOG, SIGMA_HTTP, SIGMA_MANAGER_HTTP, SIGMA_MODEL_BASE_URL, SIGMA_MODEL), then flags; the result is frozen.
 * Without a bus address, the identity file gives it.
 * Throws CONFIG_INVALID, KEY_FILE_INVALID.
 */
export function loadConfig(env: Env, flags: Partial<Config> = {}): Config {
  if (flags.home === '') throw new BusError('CONFIG_INVALID', { detail: 'home is empty' });
  const home = path.resolve(flags.home ?? nonEmpty(env.SIGMA_HOME) ?? defaultHome(env));
  const identity = nonEmpty(env.SIGMA_IDENTITY);
  const given = {
    ...fromFile(home),
    ...defined({ bus: nonEmpty(env.SIGMA_BUS), log: nonEmpty(env.SIGMA_LOG) }),
    ...defined({ http: nonEmpty(env.SIGMA_HTTP) }),
    ...defined({ managerHttp: nonEmpty(env.SIGMA_MANAGER_HTTP) }),
    ...defined({ identity: identity === undefined ? undefined : path.resolve(identity) }),
    ...defined({ bus: flags.bus, log: flags.log }),
  };
  const merged: Record<string, unknown> = {
    home,
    log: 'info',
    listen: [],
    heartbeatMs: 1_000,
    drainMs: 5_000,
    http: 'off',
    managerHttp: 'off',
    audit: 'metadata',
    auditBytesMax: 64 * 1024 * 1024,
    auditFilesMax: 8,
    permissions: {},
    executor: {},
    ...given,
  };
  merged.model = modelIn(env, merged.model);
  merged.bus ??= busOf(merged.identity) ?? defaultBus(home);
  if (isPlain(merged, Object.keys(given))) {
    const { model: _, ...plain } = merged;
    return Object.freeze(plain as Config);
  }
  const parsed = schema().safeParse(merged, inOurWords);
  if (!parsed.success) throw new BusError('CONFIG_INVALID', { detail: objectionIn(parsed.error) });
  return Object.freeze(parsed.data);
}

/** Whether only the most common settings are present. They need no check by zod, which is slow to load. */
function isPlain(merged: Record<string, unknown>, given: readonly string[]): boolean {
  const { bus, log, model } = merged;
  return (
    given.every((key) => key === 'bus' || key === 'log') &&
    typeof bus === 'string' &&
    bus !== '' &&
    (levels as readonly unknown[]).includes(log) &&
    model === undefined
  );
}

/** Each variable overrides its own field; other fields of the file stay. */
function modelIn(env: Env, ofFile: unknown): unknown {
  const its = { url: nonEmpty(env.SIGMA_MODEL_BASE_URL), model: nonEmpty(env.SIGMA_MODEL) };
  if (its.url === undefined && its.model === undefined) return ofFile;
  return { ...(typeof ofFile === 'object' ? ofFile : {}), ...defined(its) };
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

function busOf(identity: unknown): string | undefined {
  if (typeof identity !== 'string' || isFolder(identity)) return undefined;
  return nonEmpty(readIdentity(identity).bus);
}

function fromFile(home: string): Record<string, unknown> {
  const file = path.join(home, 'config.json');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return {};
    throw new BusError('CONFIG_INVALID', { detail: `${file} cannot be read` }, { cause: error });
  }
  try {
    const value: unknown = JSON.parse(text);
    // The file lies in the home: it cannot say where that is.
    if (
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      !('home' in value)
    ) {
      const settings = value as Record<string, unknown>;
      const { identity } = settings;
      return typeof identity === 'string' && identity !== ''
        ? { ...settings, identity: path.resolve(home, identity) }
        : settings;
    }
  } catch (error) {
    throw new BusError('CONFIG_INVALID', { detail: `${file} is not JSON` }, { cause: error });
  }
  throw new BusError('CONFIG_INVALID', {
    detail: `${file} is not a JSON object of settings other than home`,
  });
}

function isOffOrLoopback(text: string): boolean {
  return text === 'off' || (parseLoopback(text)?.port ?? 0) > 0;
}

/** The endpoint gets source code and a key. */
function isSafeUrl(text: string): boolean {
  return isSafeHook(text) && new URL(text).search === '';
}

/** A webhook often has a token in its address. */
function isSafeHook(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host, username, password, hash } = new URL(text);
  if (username + password + hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && parseLoopback(host) !== undefined);
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

function defined(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
