import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Logger } from '../../src/observe/log.js';
import { version } from '../version.js';
import type { AnyOperation } from '../../src/operations/registry.js';
import type { Bus } from '../bus.js';
import { discoverThenDelegate, instructions } from './guidance.js';
import { addResources } from './resources.js';
import { addTool } from './tool.js';

const goalCharsMax = 20_000;

/** What a server offers its clients. */
export interface Offer {
  bus: Bus;
  log: Logger;
  tools: readonly AnyOperation[];
  /** Answers as data, too, beside the same in text: that costs half more. */
  isStructured: boolean;
}

/** What one client talks to. Cheap: over HTTP there may be one for each request; all share the bus. */
export function newServer(offer: Offer): McpServer {
  const server = new McpServer({ name: 'sigma', title: 'Sigma Bus', version }, { instructions });
  for (const each of offer.tools) addTool(server, each, offer);
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
