import { z } from 'zod';
import { line, table } from '../render/terminal.js';
import type { AgentView } from '../wire/messages.js';
import { offsetInput } from './shapes.js';
import { listing, looks, type Operation, type Reply } from './operation.js';

export interface ListedAgent {
  id: string;
  alias: string;
  role: string;
  project: string;
  scope: string[];
  state: string;
  last_seen_ms: number;
  load: number;
  model: string;
  overlays: Record<string, { state: string; items: number }>;
  index_version: string;
  capabilities: string[];
  protocol_versions: string[];
}

export interface Agents {
  you: string;
  agents: FlatAgent[];
}

/** As it registered, with what the broker knows of it. */
export type FlatAgent = AgentView['record'] & Omit<AgentView, 'record'>;

const input = z.strictObject({
  role: z.string().max(96).optional().describe('Only this role; shards of code are `pgc`.'),
  project: z.string().max(200).optional().describe('Only this project.'),
  path: z.string().max(4_096).optional().describe('Only agents whose scope may hold this path.'),
  offset: offsetInput,
});

/** `list_agents`: who is there, and who knows what. */
export const listAgents: Operation<typeof input> = {
  name: 'list_agents',
  title: 'List agents',
  description:
    'Who is on the bus: every registered agent with its project, the paths it knows (scope), its overlays and whether it can be reached. Begin here: an agent that owns a piece of code has indexed it and answers in milliseconds.',
  input,
  output: z.looseObject({
    you: z.string().describe('This agent: where messages for you are kept.'),
    agents: z.array(
      z.looseObject({
        id: z.string(),
        alias: z.string(),
        role: z.string(),
        project: z.string(),
        scope: z.array(z.string()),
        state: z.string(),
      }),
    ),
  }),
  annotations: looks,
  doing: 'asking the broker',
  cli: {
    command: 'agents',
    help: 'list all registered agents, online or not',
    arguments: [],
    flags: {
      role: { flag: '--role <role>', help: 'only this role' },
      project: { flag: '--project <name>', help: 'only this project' },
      path: { flag: '--path <path>', help: 'only agents whose scope may hold this path' },
    },
    asks: 'bus',
  },
  async run({ role, project, path, offset }, { bus }): Promise<Reply<Agents>> {
    const client = await bus.client();
    const views = await client.agents({ ...(role && { role }), ...(project && { project }) });
    const flat = views.map(({ record, ...its }): FlatAgent => ({ ...record, ...its }));
    const all = path === undefined ? flat : nearest(flat, path);
    const value: Agents = { you: client.identity.agent, agents: all.slice(offset) };
    return {
      ...listing<Agents>(
        value,
        ['agents'],
        ({ you, agents }) => [line`You are ${you}.`, ...agents.map(lineOf)].join('\n'),
        {
          rest: (shown) =>
            `Call again with offset ${offset + shown}, or name a role, project or path.`,
          total: all.length,
        },
      ),
      screen: ({ agents }) => renderAgents(agents),
      structure: ({ you, agents }) => ({ you, agents: agents.map(listed) }),
    };
  },
};

export function listed(agent: FlatAgent): ListedAgent {
  const { id, alias, role, project, scope, model, capabilities, protocol_versions } = agent;
  const { state, last_seen_ms, load } = agent;
  const overlays = Object.entries(agent.overlays);
  return {
    ...{ id, alias, role, project, scope, state, last_seen_ms, load, model },
    overlays: Object.fromEntries(
      overlays.map(([name, its]) => [name, { state: its.state, items: its.items }]),
    ),
    index_version: overlays[0]?.[1].version ?? '',
    ...{ capabilities, protocol_versions },
  };
}

/** Those that may know the path, whose scope names it most closely first. */
function nearest(agents: readonly FlatAgent[], path: string): FlatAgent[] {
  return agents
    .map((agent) => ({
      agent,
      near: Math.max(0, ...agent.scope.map((each) => shared(each, path))),
    }))
    .filter(({ near }) => near > 0)
    .sort((one, other) => other.near - one.near)
    .map(({ agent }) => agent);
}

/** How much of the path a scope names, which is a folder or a file: one of them must lie in the other. 0: neither does. */
function shared(scope: string, path: string): number {
  const one = slashed(scope);
  const other = slashed(path);
  return other.startsWith(one) || one.startsWith(other) ? Math.min(one.length, other.length) : 0;
}

function slashed(path: string): string {
  const bare = path.replace(/^\.?\/|\/?\.?$/g, '');
  return bare === '' ? '/' : `/${bare}/`;
}

function lineOf({ alias, id, role, state, project, scope, overlays }: FlatAgent): string {
  const name = alias === '' || alias === id ? id : `${alias} (${id})`;
  const parts = [`${role}, ${state}`, project && `project ${project}`];
  const known = scope.length > 0 ? `knows ${scope.join(', ')}` : '';
  const built = Object.keys(overlays).join(' ');
  const its = [...parts, known, built].filter((each) => each !== '').join(' · ');
  return line`${name}: ${its}`;
}

function renderAgents(agents: readonly FlatAgent[]): string {
  if (agents.length === 0) return 'No agent has registered yet.';
  const rows = agents.map(({ state, alias, role, project, overlays, id }) => [
    ...[state, alias, role, project],
    Object.entries(overlays)
      .map(([name, overlay]) => `${name} ${overlay.state} ${overlay.items}`)
      .join(', '),
    id,
  ]);
  return table([['STATE', 'ALIAS', 'ROLE', 'PROJECT', 'OVERLAYS', 'ID'], ...rows]);
}
