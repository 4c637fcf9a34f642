import type { Approval } from '../../../src/attention/approvals.js';
import type { GatesAnswer } from '../../../src/attention/messages.js';
import type { Gate } from '../../../src/attention/shapes.js';
import type { AgentActivity, agentActivity } from '../../../src/operations/agent-activity.js';
import type { Agents, listAgents } from '../../../src/operations/agents.js';
import type { ask, queryLattice } from '../../../src/operations/ask.js';
import type {
  CritiqueShown,
  critiqueHistory,
  History,
  ratify,
  Reviewed,
  showCritique,
} from '../../../src/operations/critique-history.js';
import type { symbol } from '../../../src/operations/explore/symbol.js';
import type {
  approvals,
  GateInWhole,
  inspectGate,
  judgeGate,
  listGates,
} from '../../../src/operations/gates.js';
import type {
  callees,
  callers,
  implementations,
  references,
} from '../../../src/operations/graph.js';
import type {
  deadList,
  deadShow,
  purge,
  requeue,
  ShownMessage,
} from '../../../src/operations/mail/dead.js';
import type { mailboxes, mailboxMessages } from '../../../src/operations/mail/mailboxes.js';
import type { measures } from '../../../src/operations/measures.js';
import type { kill, queueRun } from '../../../src/operations/queue.js';
import type {
  findTasks,
  PromptQueues,
  promptQueues,
  taskHistory,
  TaskHistory,
} from '../../../src/operations/tasks/task-rows.js';
import type {
  taskCancel,
  taskRetry,
  taskUpdate,
} from '../../../src/operations/tasks/task-update.js';
import type { latticePath, topology } from '../../../src/operations/topology.js';
import type { Measures } from '../../../src/pgc/analyse/measures.js';
import type { TreeState } from '../../../src/pgc/plan/tree-state.js';
import type {
  Answer,
  CalleesAnswer,
  CallersAnswer,
  ImplementationsAnswer,
  TopologyAnswer,
} from '../../../src/pgc/shapes.js';
import type { Explored } from '../../../src/render/explored.js';
import type { ReferencesAnswer } from '../../../src/render/sites.js';
import type { RunAnswer, TaskRowsAnswer, TaskView } from '../../../src/task/requests/messages.js';
import type { MailboxView, MessagesAnswer } from '../../../src/wire/messages.js';

/** Of which states of their trees an answer is. */
export interface Dated {
  trees?: TreeState[];
}

/** An operation takes what its own input says, as it is before defaults are put in. */
interface Row<Of extends { input: { _zod: { input: unknown } } }, Value> {
  input: Of['input']['_zod']['input'] & { timeout_seconds?: number };
  value: Value;
}

/** The operations that the page calls, by name. */
export interface Calls {
  ask: Row<typeof ask, Answer & Dated>;
  query_lattice: Row<typeof queryLattice, Answer & Dated>;
  symbol: Row<typeof symbol, Explored & Dated>;
  callers: Row<typeof callers, CallersAnswer>;
  callees: Row<typeof callees, CalleesAnswer>;
  references: Row<typeof references, ReferencesAnswer>;
  implementations: Row<typeof implementations, ImplementationsAnswer>;
  topology: Row<typeof topology, TopologyAnswer>;
  measures: Row<typeof measures, Measures>;
  lattice_path: Row<typeof latticePath, { path: string[] }>;
  list_agents: Row<typeof listAgents, Agents>;
  agent_activity: Row<typeof agentActivity, AgentActivity>;
  mailboxes: Row<typeof mailboxes, { mailboxes: MailboxView[] }>;
  mailbox_messages: Row<typeof mailboxMessages, MessagesAnswer>;
  'dead list': Row<typeof deadList, MessagesAnswer>;
  'dead show': Row<typeof deadShow, { message: ShownMessage }>;
  'dead requeue': Row<typeof requeue, { count: number }>;
  'dead purge': Row<typeof purge, { count: number }>;
  find_tasks: Row<typeof findTasks, TaskRowsAnswer>;
  task_history: Row<typeof taskHistory, TaskHistory>;
  'task update': Row<typeof taskUpdate, TaskView>;
  'task cancel': Row<typeof taskCancel, TaskView>;
  'task retry': Row<typeof taskRetry, TaskView>;
  list_gates: Row<typeof listGates, GatesAnswer>;
  inspect_gate: Row<typeof inspectGate, GateInWhole>;
  judge_gate: Row<typeof judgeGate, Gate>;
  'gate approvals': Row<typeof approvals, { approvals: Approval[] }>;
  prompt_queues: Row<typeof promptQueues, PromptQueues>;
  queue_run: Row<typeof queueRun, RunAnswer>;
  kill: Row<typeof kill, TaskView>;
  critique_history: Row<typeof critiqueHistory, History & Reviewed>;
  show_critique: Row<typeof showCritique, CritiqueShown>;
  'critic ratify': Row<typeof ratify, History>;
}
