import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { z } from 'zod';
import { isName } from '../base/ids.js';
import { lazily } from '../base/lazy-schema.js';
import { BusError } from '../errors/bus-error.js';
import { asText, curveKey, hexSecret, keysFolder, newSecret, parsed } from './keys.js';
import { readPrivate, removePrivate, writePrivate } from './private-file.js';

/** One more is refused IDENTITIES_FULL; the broker reads all of them when one has changed. */
export const identitiesMax = 1_024;

const suffix = '.json';

const agentKeysShape = lazily((z) =>
  z.strictObject({
    agent: z.string().refine(isName, 'is no name'),
    role: z.string().refine(isName, 'is no name'),
    curve_public: curveKey(z),
    /** Hex; proves the agent in its greeting. Apart from the CURVE key, which proves only that it may connect. */
    secret: hexSecret(z),
    created: z.string(),
  }),
);

/** What the broker keeps of an agent that may come over tcp: not its CURVE secret, which only the agent has. */
export type AgentKeys = Readonly<z.infer<ReturnType<typeof agentKeysShape>>>;

export function agentsFolder(home: string): string {
  return path.join(keysFolder(home), 'agents');
}

/** Throws INVALID_NAME, so that no name leads out of the folder. */
function agentFile(home: string, agent: string): string {
  checkName(agent, 'agent id');
  return path.join(agentsFolder(home), agent + suffix);
}

/** Throws INVALID_NAME. */
export function newAgentKeys(wanted: {
  agent: string;
  role: string;
  curvePublic: string;
  nowMs: number;
}): AgentKeys {
  checkName(wanted.agent, 'agent id');
  checkName(wanted.role, 'role');
  return {
    agent: wanted.agent,
    role: wanted.role,
    curve_public: wanted.curvePublic,
    secret: newSecret(),
    created: new Date(wanted.nowMs).toISOString(),
  };
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
  const keys = parsed(file, text, agentKeysShape());
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
