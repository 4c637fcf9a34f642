/** Of the agents of others, on our bus: one process, the gateway, speaks for all of them. */
export const foreignRole = 'foreign';
/** What their names begin with, and no other name. */
export const foreignPrefix = `${foreignRole}-`;
/** Name and role of the gateway. */
export const gatewayAgent = 'gateway';
export const gatewayRole = 'gateway';

export function isForeignName(name: string): boolean {
  return name.startsWith(foreignPrefix);
}

/** Name and role of the identity that processes with shards share; shards have names that begin with it. */
export const hostName = 'pgc';

/**
 * Whose keys prove a claim over a network: the gateway's that of a foreign agent; the shared ones of hosts that of a shard which
 * has none of its own; else its own.
 */
export function proverOf({ agent, role }: { agent: string; role: string }): {
  agent: string;
  role: string;
} {
  if (isForeignName(agent) && role === foreignRole)
    return { agent: gatewayAgent, role: gatewayRole };
  if (agent.startsWith(`${hostName}-`) && role === hostName)
    return { agent: hostName, role: hostName };
  return { agent, role };
}
