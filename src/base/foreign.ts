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

/** Whose keys prove a claim over a network: the gateway's that of a foreign agent, else its own. */
export function proverOf({ agent, role }: { agent: string; role: string }): {
  agent: string;
  role: string;
} {
  const isForeign = isForeignName(agent) && role === foreignRole;
  return isForeign ? { agent: gatewayAgent, role: gatewayRole } : { agent, role };
}
