import { createHash, timingSafeEqual } from 'node:crypto';
import { BoundedMap } from '../../base/bounded-map.js';
import { foreignRole, isForeignName } from '../../base/prover.js';
import type { Registry } from '../registry.js';
import { reserved } from './permission-rules.js';
import type { Sessions } from './sessions.js';

export const nameKeyBytes = { min: 16, max: 64 } as const;

/** Of who came over the network: no key has this digest, so no process of this machine takes such a name. */
const network = 'network';

/** What is kept of a key; empty: there is none, and the name is bound to nothing. */
export function bindingOf(key: Uint8Array, isRemote: boolean): string {
  if (isRemote) return network;
  return key.length === 0 ? '' : createHash('sha256').update(key).digest('hex');
}

/** Which agents have shown the key that processes of the broker's home have for their names. */
export class HomeNames {
  readonly #bindings: BoundedMap<string, string>;

  constructor(
    readonly keyOfName: ((agent: string) => Buffer | undefined) | undefined,
    agentsMax: number,
  ) {
    this.#bindings = new BoundedMap(agentsMax);
  }

  isOfHome(agent: string, binding: string): boolean {
    let own = this.#bindings.get(agent);
    if (own === undefined) {
      const key = this.keyOfName?.(agent);
      own = key === undefined ? '' : bindingOf(key, false);
      this.#bindings.set(agent, own);
    }
    return own !== '' && binding === own;
  }
}

export interface Claimed {
  agent: string;
  role: string;
  key: Uint8Array;
}

interface NameParts {
  sessions: Sessions;
  registry: Registry;
  /** The key that a process of the broker's home has for the name. */
  keyOfName: (agent: string) => Buffer | undefined;
  isProvenRole: (role: string) => boolean;
  isHostedRole: (role: string) => boolean;
}

/**
 * Why the claim may not have its name; undefined: it may. A name belongs to the role that registered it: otherwise a role without proof
 * could take the name of one that must prove itself, while that one is away. Of those without proof it belongs to the holder of its key.
 * `isProved`: the claim is proven otherwise, or will be before anything is given to it.
 */
export function objectionToName(
  { agent, role, key }: Claimed,
  isProved: boolean,
  parts: NameParts,
): string | undefined {
  const { sessions, registry } = parts;
  // An agent named like a proven role could be mistaken for it.
  if (role !== agent && parts.isProvenRole(agent))
    return `the name ${agent} is kept for the role ${agent}`;
  if (isForeignName(agent) && !(isProved && role === foreignRole))
    return `names that begin like ${agent} are kept for agents of others, which come by way of the gateway`;
  const live = sessions.liveOf(agent);
  const owner = live?.role ?? registry.record(agent)?.role;
  if (owner !== undefined && owner !== role)
    return `the name ${agent} belongs to an agent of the role ${owner}`;
  // Who is given an identity, or a proven role, was trusted with the name.
  if (isProved) return undefined;
  if (
    owner === undefined &&
    registry.withAlias(agent).some((id) => registry.record(id)?.role !== role)
  )
    return `${agent} is the alias of an agent of another role`;
  const own = parts.keyOfName(agent);
  // The operator of this home decides who has which name here.
  if (own !== undefined && isSame(own, key)) return undefined;
  const isKept = (reserved.names as readonly string[]).includes(agent) || parts.isHostedRole(role);
  if (own !== undefined && isKept)
    return `the name ${agent} is kept for processes of the SIGMA_HOME of the broker`;
  const bound = live === undefined || live.binding === '' ? registry.binding(agent) : live.binding;
  if (bound === '' || bound === bindingOf(key, false)) return undefined;
  return key.length === 0
    ? `the name ${agent} is bound to the key of its holder, and none was shown`
    : `the name ${agent} is bound to another key`;
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
