import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Logger } from '../../src/observe/log.js';
import { version } from '../version.js';
import type { Bus } from './bus.js';
import { discoverThenDelegate, instructions } from './guidance.js';
import { addResources } from './resources.js';
import { addTool } from './tool.js';
import { listAgents } from '../../src/operations/agents.js';
import { blastRadius, locate, securityBlastRadius } from '../../src/operations/analysis.js';
import { attend } from './tools/attend.js';
import { critique } from './tools/critique.js';
import { critiqueHistory } from './tools/critique-history.js';
import { ask, queryAgent, queryLattice } from '../../src/operations/ask.js';
import { judgeGate, listGates } from './tools/gates.js';
import { callees, callers, trace } from '../../src/operations/graph.js';
import { check, inbox, receive, send } from './tools/inbox.js';
import { kill, queue, queueRun } from '../../src/operations/queue.js';
import { push, run } from './tools/prompts.js';
import { listPendingMessages, markMessageRead, sendAgentMessage } from './tools/mail.js';
import { delegateTask, sigmaTaskUpdate, taskStatus } from './tools/tasks.js';
import { verifyCitations } from '../../src/operations/verify.js';

const goalCharsMax = 20_000;

/** What one client talks to. Cheap: over HTTP there may be one for each request; all share the bus. */
export function newServer(parts: { bus: Bus; log: Logger }): McpServer {
  const server = new McpServer({ name: 'sigma', title: 'Sigma Bus', version }, { instructions });
  addTool(server, listAgents, parts);
  addTool(server, queryAgent, parts);
  addTool(server, queryLattice, parts);
  addTool(server, ask, parts);
  addTool(server, locate, parts);
  addTool(server, callers, parts);
  addTool(server, callees, parts);
  addTool(server, trace, parts);
  addTool(server, blastRadius, parts);
  addTool(server, securityBlastRadius, parts);
  addTool(server, verifyCitations, parts);
  addTool(server, sendAgentMessage, parts);
  addTool(server, listPendingMessages, parts);
  addTool(server, markMessageRead, parts);
  addTool(server, delegateTask, parts);
  addTool(server, taskStatus, parts);
  addTool(server, sigmaTaskUpdate, parts);
  addTool(server, run, parts);
  addTool(server, push, parts);
  addTool(server, queue, parts);
  addTool(server, queueRun, parts);
  addTool(server, inbox, parts);
  addTool(server, send, parts);
  addTool(server, receive, parts);
  addTool(server, check, parts);
  addTool(server, kill, parts);
  addTool(server, listGates, parts);
  addTool(server, judgeGate, parts);
  addTool(server, attend, parts);
  addTool(server, critique, parts);
  addTool(server, critiqueHistory, parts);
  addResources(server, parts.bus);
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
