import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { z } from 'zod';
import { isForeignName } from '../base/prover.js';
import { isName } from '../base/ids.js';
import { lazily, type Zod } from '../base/lazy-schema.js';
import { BusError } from '../errors/bus-error.js';
import { asText, curveKey, hasField, hexSecret, keysFolder, newSecret, parsed } from './keys.js';
import { nkeyPublic } from './nkey.js';
import { readPrivate, removePrivate, writePrivate } from './private-file.js';

/** One more is refused IDENTITIES_FULL; the broker reads all of them when one has changed. */
export const identitiesMax = 1_024;

const suffix = '.json';

const common = (z: Zod) => ({
  agent: z.string().refine(isName, 'is no name'),
  role: z.string().refine(isName, 'is no name'),
  /** Hex; proves the agent in its greeting. Apart from the other key, which proves only that it may connect. */
  secret: hexSecret(z),
  created: z.string(),
});
const curveShape = lazily((z) => z.strictObject({ ...common(z), curve_public: curveKey(z) }));
const natsShape = lazily((z) =>
  z.strictObject({
    ...common(z),
    nats_public: nkeyPublic(z),
    /** Name of the bus; on the same servers there may be others. */
    nats_bus: z.string().refine(isName, 'is no name'),
  }),
);
const agentKeysShape = (value: unknown): z.ZodType<AgentKeys> =>
  hasField(value, 'nats_public') ? natsShape() : curveShape();

export type NatsAgentKeys = Readonly<z.infer<ReturnType<typeof natsShape>>>;

/** What the broker keeps of an agent of another machine: not the secret of its key, which only the agent has. */
export type AgentKeys = Readonly<z.infer<ReturnType<typeof curveShape>>> | NatsAgentKeys;

/** What the broker knows it by when it connects over tcp, or over NATS. */
export type PublicHalf = { curve_public: string } | Pick<NatsAgentKeys, 'nats_public' | 'nats_bus'>;

export function agentsFolder(home: string): string {
  return path.join(keysFolder(home), 'agents');
}

/** Throws INVALID_NAME, so that no name leads out of the folder. */
function agentFile(home: string, agent: string): string {
  checkName(agent, 'agent id');
  return path.join(agentsFolder(home), agent + suffix);
}

/** Throws INVALID_NAME, UNAUTHORISED. */
export function newAgentKeys(
  { agent, role, nowMs }: { agent: string; role: string; nowMs: number },
  half: PublicHalf,
): AgentKeys {
  checkName(agent, 'agent id');
  checkName(role, 'role');
  if (isForeignName(agent))
    throw new BusError('UNAUTHORISED', { agent, role, why: 'the gateway proves such names' });
  return { agent, role, ...half, secret: newSecret(), created: new Date(nowMs).toISOString() };
}

/**
 * Adds keys of an agent. `replace`: replaces the ones it has.
 * Throws IDENTITY_EXISTS, IDENTITIES_FULL, STORE_UNAVAILABLE.
 */
export function storeAgentKeys(home: string, keys: AgentKeys, options: { replace: boolean }): void {
  const { agent } = keys;
  const others = agentsWithKeys(home).filter((each) => each !== agent);
  if (others.length >= identitiesMax)
    throw new BusError('IDENTITIES_FULL', { limit: identitiesMax });
  if (!writePrivate(agentFile(home, agent), asText(keys), options))
    throw new BusError('IDENTITY_EXISTS', { agent });
}

/** Throws INVALID_NAME, UNKNOWN_IDENTITY, KEY_FILE_INVALID. */
export function readAgentKeys(home: string, agent: string): AgentKeys {
  const file = agentFile(home, agent);
  const text = readPrivate(file);
  if (text === undefined) throw new BusError('UNKNOWN_IDENTITY', { agent });
  const keys = parsed(file, text, agentKeysShape);
  if (keys.agent !== agent)
    throw new BusError('KEY_FILE_INVALID', { path: file, detail: `it is of ${keys.agent}` });
  return keys;
}

/** Refused from its next connection on. Throws INVALID_NAME, UNKNOWN_IDENTITY, STORE_UNAVAILABLE. */
export function revokeAgentKeys(home: string, agent: string): void {
  if (!removePrivate(agentFile(home, agent))) throw new BusError('UNKNOWN_IDENTITY', { agent });
}

/** Names in order; files of other names are none of ours. Throws STORE_UNAVAILABLE. */
export function agentsWithKeys(home: string): string[] {
  const folder = agentsFolder(home);
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return [];
    const detail = error instanceof Error ? error.message : String(error);
    throw new BusError('STORE_UNAVAILABLE', { path: folder, detail }, { cause: error });
  }
  return names
    .filter((name) => name.endsWith(suffix))
    .map((name) => name.slice(0, -suffix.length))
    .filter(isName)
    .sort();
}

function checkName(name: string, what: string): void {
  if (!isName(name)) throw new BusError('INVALID_NAME', { name: name.slice(0, 120), what });
}
