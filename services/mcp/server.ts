import { McpServer, type McpRequestContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { version } from '../version.js';
import { discoverThenDelegate, instructions } from './guidance.js';
import { addResources } from './resources.js';
import { addTools, type Offer } from './tool.js';

const goalCharsMax = 20_000;

/** Not told: a client asks anew. */
const unchanging = { listChanged: false };
const capabilities = { tools: unchanging, prompts: unchanging, resources: unchanging };

/** What one client talks to. Cheap: over HTTP there may be one for each request; all share the bus. */
export function newServer(offer: Offer, era: McpRequestContext['era']): McpServer {
  const its = { name: 'sigma', title: 'Sigma Bus', version };
  const server = new McpServer(its, { instructions, capabilities });
  addTools(server, offer);
  // Clients of 2025 know tasks of another kind.
  if (era === 'modern') offer.calls.serveOn(server);
  addResources(server, offer.bus);
  server.registerPrompt(
    'discover-then-delegate',
    {
      title: 'Discover, then delegate',
      description: 'How to reach a goal with the agents that know the code, instead of reading it.',
      argsSchema: z.object({ goal: z.string().min(1).max(goalCharsMax).describe('What to do.') }),
    },
    ({ goal }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: discoverThenDelegate(goal) } }],
    }),
  );
  return server;
}
