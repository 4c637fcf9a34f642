import type { Operation } from './operation.js';

// Each operation has an input of its own, which it checks itself.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyOperation = Operation<any>;

export interface Registered {
  /** First words of its commands: they are loaded when one of them is wanted. */
  commands: string;
  load: () => Promise<AnyOperation[]>;
}

async function allDated(...operations: AnyOperation[]): Promise<AnyOperation[]> {
  const { dated } = await import('./dated.js');
  return operations.map((each) => dated(each));
}

/** All operations that stand alike on the command line and among the tools of models. A new one is a file and a row. */
export const registry: readonly Registered[] = [
  {
    commands: 'agents',
    load: async () => [(await import('./agents.js')).listAgents],
  },
  {
    commands: '',
    load: async () => {
      const { agentActivity } = await import('./agent-activity.js');
      const { mailboxes, mailboxMessages } = await import('./mail/mailboxes.js');
      const { findTasks, promptQueues, taskHistory } = await import('./tasks/task-rows.js');
      return [agentActivity, mailboxes, mailboxMessages, findTasks, taskHistory, promptQueues];
    },
  },
  {
    commands: 'ask query lattice',
    load: async () => {
      const { ask, queryAgent, queryLattice } = await import('./ask.js');
      return allDated(queryAgent, queryLattice, ask);
    },
  },
  {
    commands: 'explore symbol',
    load: async () => {
      const { explore } = await import('./explore/explore.js');
      const { symbol } = await import('./explore/symbol.js');
      return allDated(explore, symbol);
    },
  },
  {
    commands: 'lattice',
    load: async () => {
      const { topology, latticePath } = await import('./topology.js');
      return [topology, latticePath];
    },
  },
  {
    commands: 'locate',
    load: async () => allDated((await import('./analysis.js')).locate),
  },
  {
    commands: 'callers references callees implementations trace',
    load: async () => {
      const { callers, references, callees, implementations, trace } = await import('./graph.js');
      return allDated(callers, references, callees, implementations, trace);
    },
  },
  {
    commands: 'algebra blast-radius security patterns',
    load: async () => {
      const { algebra, blastRadius, patterns, securityBlastRadius } = await import('./analysis.js');
      return allDated(blastRadius, securityBlastRadius, patterns, algebra);
    },
  },
  {
    commands: 'measures',
    load: async () => [(await import('./measures.js')).measures],
  },
  {
    commands: 'verify',
    load: async () => [(await import('./verify.js')).verifyCitations],
  },
  {
    commands: 'queue kill',
    load: async () => {
      const { queue, queueRun, kill } = await import('./queue.js');
      return [queue, queueRun, kill];
    },
  },
  {
    commands: 'gate',
    load: async () => {
      const { approvals, inspectGate, judgeGate, listGates, missed, showGate } =
        await import('./gates.js');
      return [listGates, showGate, inspectGate, judgeGate, approvals, missed];
    },
  },
  {
    commands: 'attend',
    load: async () => [(await import('./attend.js')).attend],
  },
  {
    commands: 'critic',
    load: async () => {
      const { critique } = await import('./critique.js');
      const { critiqueHistory, ratify, showCritique } = await import('./critique-history.js');
      return [critique, critiqueHistory, ratify, showCritique];
    },
  },
  {
    commands: '',
    load: async () => (await import('./mail/mailbox.js')).mailbox,
  },
  {
    commands: 'delegate task',
    load: async () => (await import('./tasks/tasks.js')).taskOperations,
  },
  {
    commands: 'run push',
    load: async () => (await import('./prompts.js')).promptOperations,
  },
  {
    commands: 'send receive check inbox',
    load: async () => {
      const { send, receive, check, inbox } = await import('./mail/mail.js');
      return [inbox, send, receive, check];
    },
  },
  {
    commands: 'dead',
    load: async () => (await import('./mail/dead.js')).deadLetters,
  },
];
