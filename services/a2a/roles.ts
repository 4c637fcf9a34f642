import type { AgentSkill } from '@a2a-js/sdk';
import type { ListedAgent } from '../../src/operations/agents.js';
import { registry, type AnyOperation } from '../../src/operations/registry.js';
import { noMail } from '../../src/wire/messages.js';

/** What a message to an agent is, by its role. */
export interface Use {
  description: string;
  /** Absent: it takes no messages. */
  skill?: Pick<AgentSkill, 'id' | 'name' | 'description' | 'tags' | 'examples'>;
  /** Answered at once by this operation; absent: the message becomes a task. */
  operation?: AnyOperation;
  /** The arguments that its words are; the others are in its data. */
  argumentsOf?: (agent: string, words: string) => object;
}

const all = (await Promise.all(registry.map(({ load }) => load()))).flat();

/** Throws where an operation was renamed. */
function named(name: string): AnyOperation {
  const found = all.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no operation ${name}`);
  return found;
}

export const listAgents = named('list_agents');

const uses: Readonly<Record<string, Use>> = {
  pgc: {
    description:
      'Knows a part of a code base by its index. A message is a question; the answer shows the lines that prove it.',
    skill: {
      ...{ id: 'question', name: 'Questions about code' },
      description:
        'Text: the question. Data: `top_k`, `roles`, `grounding`, `engine`, `max_tokens`, `timeout_seconds`.',
      tags: ['code', 'search', 'citations'],
      examples: ['Where are requests routed?', 'Who calls parseHeader?'],
    },
    operation: named('query_agent'),
    argumentsOf: (agent, question) => ({ agent, question }),
  },
  manager: {
    description:
      'Has work done by the workers of this bus, and checks what they bring against the code. A message is a task.',
    skill: {
      ...{ id: 'task', name: 'Tasks' },
      description:
        'Text: the work in words. Data: what else a task has, as `sigma delegate --schema` prints it.',
      tags: ['task', 'delegation', 'code'],
      examples: ['What breaks if parseHeader returns null?'],
    },
  },
  executor: {
    description: 'A worker. A message is a task for it alone, which the manager checks.',
    skill: {
      ...{ id: 'task', name: 'Tasks of this worker' },
      description: 'As the manager takes them.',
      ...{ tags: ['task', 'worker'], examples: [] },
    },
  },
  critic: {
    description: 'Reviews a text: its claims about code are looked up, and it gets a score.',
    skill: {
      ...{ id: 'review', name: 'Reviews' },
      description:
        'Text: what is to be reviewed. Data: `path`, `modes`, `criteria`, `criticality`, `iteration`, `threshold`.',
      ...{ tags: ['review'], examples: [] },
    },
    operation: named('critique'),
    argumentsOf: (_, text) => ({ path: 'message.md', text }),
  },
};

type UsedAgent = Pick<ListedAgent, 'role'> & Partial<Pick<ListedAgent, 'capabilities'>>;

const mail: Use = {
  description: 'An agent with a mailbox. A message is stored for it until it is read.',
  skill: {
    ...{ id: 'mail', name: 'Mail' },
    description: 'Text: the message. The reply says that it is stored.',
    ...{ tags: ['mail'], examples: [] },
  },
  operation: named('send_agent_message'),
  argumentsOf: (to, message) => ({ to, message }),
};

export function useOf({ role, capabilities = [] }: UsedAgent): Use {
  const { skill: _, ...refused } = { ...mail, description: 'Takes no messages.' };
  return uses[role] ?? (capabilities.includes(noMail) ? refused : mail);
}
