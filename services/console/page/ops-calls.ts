import type { Approval } from '../../../src/attention/approvals.js';
import type { GatesAnswer } from '../../../src/attention/messages.js';
import type { Gate } from '../../../src/attention/shapes.js';
import type { AgentActivity, agentActivity } from '../../../src/operations/agent-activity.js';
import type { Agents, listAgents } from '../../../src/operations/agents.js';
import type {
  CritiqueShown,
  critiqueHistory,
  History,
  ratify,
  Reviewed,
  showCritique,
} from '../../../src/operations/critique-history.js';
import type {
  approvals,
  GateInWhole,
  inspectGate,
  judgeGate,
  listGates,
} from '../../../src/operations/gates.js';
import type {
  deadList,
  deadShow,
  purge,
  requeue,
  ShownMessage,
} from '../../../src/operations/mail/dead.js';
import type { mailboxes, mailboxMessages } from '../../../src/operations/mail/mailboxes.js';
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
import type { RunAnswer, TaskRowsAnswer, TaskView } from '../../../src/task/requests/messages.js';
import type { MailboxView, MessagesAnswer } from '../../../src/wire/messages.js';

/** An operation takes what its own input says, as it is before defaults are put in. */
export interface Row<Of extends { input: { _zod: { input: unknown } } }, Value> {
  input: Of['input']['_zod']['input'];
  value: Value;
}

/** The operations by which the bus is looked after. */
export interface OpsCalls {
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
