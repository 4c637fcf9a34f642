import { statSync } from 'node:fs';
import type { Clock } from '../base/clock.js';
import { proverOf } from '../base/prover.js';
import { noTrace, type Trace } from '../base/trace.js';
import { asBusError } from '../errors/bus-error.js';
import {
  agentsFolder,
  agentsWithKeys,
  identitiesMax,
  readAgentKeys,
  type AgentKeys,
} from './agent-keys.js';
import { isProvenRole, readNameKey, readRoleSecret } from './keys.js';

/** A claimed identity, and whether it came over the network. */
export interface Claim {
  agent: string;
  role: string;
  isRemote: boolean;
}

/** none: the folder of the socket is proof enough. A secret: it must be shown. refused: nothing would prove it. */
export type ProofNeeded = 'none' | Buffer | 'refused';

/**
 * A change within this time after a look may carry the time of that look: file systems keep time in
 * ticks of some milliseconds, or of a second.
 */
const mtimeDoubtMs = 1_500;

/** The keys of agents in a running broker; changes by `sigma keys` take effect at once. */
export class KeyRing {
  readonly #home: string;
  readonly #clock: Clock;
  readonly #trace: Trace;
  #byAgent = new Map<string, AgentKeys>();
  #curveKeys = new Set<string>();
  /** The folder's change that was read, in nanoseconds; undefined: look again. */
  #seen: bigint | undefined;

  constructor(home: string, clock: Clock, trace: Trace = noTrace) {
    this.#home = home;
    this.#clock = clock;
    this.#trace = trace;
  }

  /** Whether the owner of this CURVE key (Z85) may connect. Throws STORE_UNAVAILABLE. */
  isAllowed(curvePublic: string): boolean {
    this.#look();
    return this.#curveKeys.has(curvePublic);
  }

  /** What proves the claim. Never throws: keys that cannot be read prove nothing. */
  proofFor({ agent, role, isRemote }: Claim): ProofNeeded {
    try {
      if (isRemote) return this.#proofOfAgent(agent, role);
      return isProvenRole(role) ? (readRoleSecret(this.#home, role) ?? 'refused') : 'none';
    } catch (error) {
      this.#trace('error', 'keys cannot be read', { agent, detail: asBusError(error).message });
      return 'refused';
    }
  }

  /** The key that a process of this home has for the name; undefined where there is no secret to make it of. */
  keyOfName(agent: string): Buffer | undefined {
    return readNameKey(this.#home, agent);
  }

  #proofOfAgent(agent: string, role: string): ProofNeeded {
    this.#look();
    const own = this.#byAgent.get(agent);
    const prover = own === undefined ? proverOf({ agent, role }) : { agent, role };
    const keys = this.#byAgent.get(prover.agent);
    return keys?.role === prover.role ? Buffer.from(keys.secret, 'hex') : 'refused';
  }

  /** A folder's time changes with every file that is made, replaced or removed in it. */
  #look(): void {
    const stat = statSync(agentsFolder(this.#home), { bigint: true, throwIfNoEntry: false });
    const changed = stat?.mtimeNs ?? 0n;
    if (changed === this.#seen) return;
    const ageMs = this.#clock.nowMs() - Number(changed / 1_000_000n);
    this.#read();
    this.#seen = ageMs > mtimeDoubtMs ? changed : undefined;
  }

  #read(): void {
    const byAgent = new Map<string, AgentKeys>();
    for (const agent of agentsWithKeys(this.#home).slice(0, identitiesMax)) {
      try {
        byAgent.set(agent, readAgentKeys(this.#home, agent));
      } catch (error) {
        // A damaged file locks out its own agent only.
        const { code, message } = asBusError(error);
        // Revoked between the list and the look.
        if (code !== 'UNKNOWN_IDENTITY')
          this.#trace('error', 'keys left out', { agent, detail: message });
      }
    }
    this.#byAgent = byAgent;
    this.#curveKeys = new Set(
      [...byAgent.values()].flatMap((each) => ('curve_public' in each ? [each.curve_public] : [])),
    );
  }
}
